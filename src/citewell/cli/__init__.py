"""The command line: thin commands over a :class:`citewell.knowledge.home.KnowledgeBase`."""

from citewell.cli.commands import app
from citewell.cli.program import main

__all__ = ["app", "main"]
