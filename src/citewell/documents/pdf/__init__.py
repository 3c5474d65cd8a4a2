"""PDF files: :func:`read_pdf`."""

from citewell.documents.pdf.reader import read_pdf

__all__ = ["read_pdf"]
