"""The accountable pass: a question and its asker -> a sealed record, then an answer.

Start with :mod:`citewell.answering.answering`; the other modules are its parts.
"""
