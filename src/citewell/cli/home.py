"""Which home a command works on: ``--home`` before or after the subcommand, ``CITEWELL_HOME``, ``.citewell``.

In: the command's context. Out: an open KnowledgeBase, closed when the command ends.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol, TypeVar

import typer

from citewell.core.errors import CitewellError
from citewell.knowledge import opening
from citewell.knowledge.assembly import load_config
from citewell.knowledge.home import KnowledgeBase

DEFAULT = ".citewell"


class Closing(Protocol):
    def close(self) -> Any: ...


Closed = TypeVar("Closed", bound=Closing)

HomeOption = Annotated[
    str | None,
    typer.Option(
        "--home", metavar="DIR", help="The home folder; also set by CITEWELL_HOME. [default: .citewell]"
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def home_of(context: typer.Context, home: str | None) -> Path:
    """The first one given: after the subcommand, before it, in the environment, or the default."""
    given = home or context.find_root().params.get("home") or os.environ.get("CITEWELL_HOME")
    return Path(given or DEFAULT)


def must_be_there(home: Path) -> None:
    """Raises CitewellError with the remedy."""
    if not home.exists():
        raise CitewellError(f"no knowledge base at {home}", hint="create one with `citewell ingest PATH`")
    if not home.is_dir():
        raise CitewellError(f"the home {home} is a file, not a folder", hint="name a folder with --home")


def open_home(context: typer.Context, home: str | None, *, make: bool = False) -> KnowledgeBase:
    """As :meth:`Home.open`, for a command's own option ``home``."""
    return Home(context, home_of(context, home)).open(make=make)


class Home(NamedTuple):
    """The folder of the home that a command works on; it need not be there."""

    context: typer.Context
    path: Path

    def open(self, *, make: bool = False, said: Mapping[str, str] | None = None) -> KnowledgeBase:
        """The home, which must exist unless ``make`` is set, with ``said`` over the environment's variables.
        Raises CitewellError with the remedy."""
        if self.path.exists() or not make:
            must_be_there(self.path)
        return self.closing(opening.open(self.path, config=load_config(self.path, said)))

    def closing(self, part: Closed) -> Closed:
        """``part``, closed when the command ends."""
        self.context.call_on_close(part.close)
        return part
