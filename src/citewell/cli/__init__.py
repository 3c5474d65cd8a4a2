"""The command line: thin commands over :mod:`citewell.assembly`."""

from citewell.cli.program import app, main

__all__ = ["app", "main"]
