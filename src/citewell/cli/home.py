"""Which home a command works on: ``--home`` before or after the subcommand, ``CITEWELL_HOME``, ``.citewell``.

In: the command's context. Out: an open KnowledgeBase, closed when the command ends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    from citewell.knowledge.home import KnowledgeBase

DEFAULT = ".citewell"

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


def open_home(context: typer.Context, home: str | None, *, make: bool = False) -> KnowledgeBase:
    """Opens the home, which must exist unless ``make`` is set. Raises CitewellError with the remedy."""
    from citewell.knowledge.opening import open as open_knowledge_base

    path = home_of(context, home)
    if not make and not path.exists():
        raise CitewellError(f"no knowledge base at {path}", hint="create one with `citewell ingest PATH`")
    if path.exists() and not path.is_dir():
        raise CitewellError(f"the home {path} is a file, not a folder", hint="name a folder with --home")
    knowledge_base = open_knowledge_base(path)
    context.call_on_close(knowledge_base.close)
    return knowledge_base
