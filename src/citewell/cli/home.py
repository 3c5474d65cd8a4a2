"""The home a command works on: ``--home`` before or after the subcommand, ``CITEWELL_HOME``, ``.citewell``.

In: the command's context. Out: an open KnowledgeBase, closed when the command ends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import typer

from citewell.core.errors import CitewellError
from citewell.knowledge import opening
from citewell.knowledge.assembly import Assembly, load_config
from citewell.knowledge.home import KnowledgeBase

DEFAULT = ".citewell"


class Closing(Protocol):
    def close(self) -> Any: ...


Closed = TypeVar("Closed", bound=Closing)


def home_of(context: typer.Context, home: str | None) -> Path:
    """The first one given: after the subcommand, before it, in the environment, or the default."""
    given = home or context.find_root().params.get("home") or os.environ.get("CITEWELL_HOME")
    return Path(given or DEFAULT)


def must_be_there(home: Path) -> None:
    """Raises CitewellError with the remedy if the home does not exist or is a file."""
    if not home.exists():
        raise CitewellError(f"no knowledge base at {home}", hint="create one with `citewell ingest PATH`")
    if not home.is_dir():
        raise CitewellError(f"the home {home} is a file, not a folder", hint="name a folder with --home")


class Home(NamedTuple):
    """The home folder that a command works on; it need not exist."""

    context: typer.Context
    path: Path

    def open(self, *, make: bool = False, said: Mapping[str, str] | None = None) -> KnowledgeBase:
        """Opens the home, which must exist unless ``make`` is set; ``said`` overrides environment variables.
        Raises CitewellError with the remedy."""
        if self.path.exists() or not make:
            must_be_there(self.path)
        return self.closing(opening.open(self.path, config=load_config(self.path, said)))

    def closing(self, part: Closed) -> Closed:
        self.context.call_on_close(part.close)
        return part

    def parts(self) -> Assembly:
        """Its parts as configured, even if there is no home yet."""
        return Assembly(self.path, load_config(self.path))
