"""Passages -> draft: the embedded extractive writer, and any language model held to evidence first."""

from citewell.generation.extractive import ExtractiveGenerator
from citewell.generation.writer import LanguageModelWriter

__all__ = ["ExtractiveGenerator", "LanguageModelWriter"]
