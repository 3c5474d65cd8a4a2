"""Cases and answers out of other people's data sets and tools."""

from citewell.evaluation.importing.formats import FORMATS, read_format
from citewell.evaluation.importing.records import Imported

__all__ = ["FORMATS", "Imported", "read_format"]
