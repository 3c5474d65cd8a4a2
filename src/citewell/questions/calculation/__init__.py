"""What a question asks to be worked out: formulae, the rows they stand on, and the arithmetic.

``formulae`` is the page to read: a question becomes a tree (``formula_reading``, ``named``, ``labelled``)
whose leaves ``operands`` finds in cells; ``amounts`` and ``expressions`` calculate. The writer and
the checker stand on it.
"""
