"""Question -> passages."""

from citewell.retrieval.filters import Filters
from citewell.retrieval.retriever import Retrieved, Retriever

__all__ = ["Filters", "Retrieved", "Retriever"]
