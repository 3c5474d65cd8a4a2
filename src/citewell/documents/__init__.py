"""Files of any format become searchable, citable evidence: bytes -> Document -> chunks -> evidence and index.

Start with :mod:`citewell.documents.ingesting`; ``reading`` holds the table of readers.
"""
