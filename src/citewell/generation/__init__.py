"""Passages -> draft: the embedded extractive writer."""

from citewell.generation.extractive import ExtractiveGenerator

__all__ = ["ExtractiveGenerator"]
