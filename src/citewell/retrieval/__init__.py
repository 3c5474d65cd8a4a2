"""Retrieval: question -> passages."""

from citewell.retrieval.retriever import Retrieved, Retriever
from citewell.retrieval.wording import Filters

__all__ = ["Filters", "Retrieved", "Retriever"]
