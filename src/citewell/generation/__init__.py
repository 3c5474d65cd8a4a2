"""Passages -> draft: the embedded extractive writer, or any language model made to give evidence first."""

from citewell.generation.extractive import ExtractiveGenerator
from citewell.generation.writer import LanguageModelWriter

__all__ = ["ExtractiveGenerator", "LanguageModelWriter"]
