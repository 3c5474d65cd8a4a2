"""What a question asks to be worked out: line items and their cells, formulae, and the arithmetic.

``statements`` is the page to read. Nothing outside this folder names it, but ``questions.calculator``.
"""
