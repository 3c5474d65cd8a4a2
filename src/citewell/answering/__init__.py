"""The accountable pass: a question and who asks it -> a sealed record, then an answer.

:mod:`citewell.answering.answering` is the page to read; the other modules are its parts.
"""
