"""PDF files: :class:`PdfReader`."""

from citewell.documents.pdf.reader import PdfReader

__all__ = ["PdfReader"]
