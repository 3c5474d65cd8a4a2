"""Files of any format -> documents: ``ParsingWorker`` for files, ``read_bytes`` inside it."""

from citewell.documents.files import FileFailure, SourceFile, walk
from citewell.documents.reading import READERS, read_bytes
from citewell.documents.text import caller_document
from citewell.documents.worker import ParsingWorker

__all__ = ["READERS", "FileFailure", "ParsingWorker", "SourceFile", "caller_document", "read_bytes", "walk"]
