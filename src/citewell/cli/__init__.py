"""The command line: thin commands over a :class:`citewell.knowledge.home.KnowledgeBase`."""

from citewell.cli.program import app, main

__all__ = ["app", "main"]
