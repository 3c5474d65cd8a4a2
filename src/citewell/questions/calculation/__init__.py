"""Calculations that a question asks for: line items and their cells, formulae, and the arithmetic.

Start reading at ``statements``. Outside this folder, only ``questions.calculator`` uses it.
"""
