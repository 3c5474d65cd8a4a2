"""The command line: thin commands over a :class:`citewell.knowledge.KnowledgeBase`."""

from citewell.cli.program import app, main

__all__ = ["app", "main"]
