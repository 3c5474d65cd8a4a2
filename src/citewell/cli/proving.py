"""``citewell audit checkpoint | prove | export``: what others need to check the log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from citewell.audit.log import Growth
from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import ERROR, aside, say, say_json
from citewell.core.errors import UsageError


def register(group: typer.Typer) -> None:
    for command in (checkpoint, prove, export):
        group.command()(command)


def checkpoint(
    context: typer.Context,
    publish: Annotated[
        bool, typer.Option("--publish", help="Also send it to the configured witnesses.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """Print the newest signed checkpoint. Keep it where the log's owner cannot change it."""
    knowledge_base = open_home(context, home)
    say(knowledge_base.log.checkpoint().removesuffix("\n"))
    failed = False
    for one in knowledge_base.log.publish() if publish else ():
        aside(f"{one.witness}: {one.error or f'received the checkpoint of {one.size} entries'}")
        failed = failed or bool(one.error)
    if failed:
        raise typer.Exit(ERROR)


def prove(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="[ID]", help="The record id that `ask` printed.")] = "",
    since: Annotated[
        Path | None,
        typer.Option("--since", metavar="FILE", help="Prove that the log only grew since this checkpoint."),
    ] = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Prove that a record is in the log or, with --since, that the log only grew. Prints the hashes up to the
    root and the checkpoint."""
    if bool(id) == (since is not None):
        raise UsageError(
            "there must be exactly one thing to prove", hint="give a record id, or a checkpoint with --since"
        )
    log = open_home(context, home).log
    proof = log.prove(id) if since is None else log.prove_growth(_kept(since))
    if json:
        return say_json(proof)
    if isinstance(proof, Growth):
        say(f"the first {proof.old_size} of {proof.size} entries are those of the checkpoint:")
    else:
        say(f"leaf {proof.index} of {proof.size}: {proof.leaf}")
    for digest in proof.hashes:
        say(digest)
    say()
    say(proof.checkpoint.removesuffix("\n"))
    return None


def export(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A new folder, or that of an earlier export.")
    ],
    reader: Annotated[str, typer.Option("--reader", metavar="U", help="Your name, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Write the log in a standard file format (C2SP tlog-tiles). `python -m citewell.audit FOLDER` checks the
    files."""
    size = open_home(context, home).audit.export(folder, reader=reader)
    say(f"{size} entries in {folder}")


def _kept(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}", hint="name the file in which you kept the checkpoint") from error
