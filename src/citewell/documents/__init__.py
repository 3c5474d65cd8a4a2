"""Files of any format become searchable, citable evidence: bytes -> Document -> chunks -> evidence and index.

:mod:`citewell.documents.ingesting` is the page to read; ``reading`` holds the table of readers.
"""
