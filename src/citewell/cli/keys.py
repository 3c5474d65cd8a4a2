"""``citewell audit key ...``: the log's signing key, and the backup of all its keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.home import HomeOption, open_home
from citewell.cli.printing import aside, say
from citewell.core.errors import UsageError

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the copy is.")]

group = typer.Typer(help="The log's keys.", no_args_is_help=True, rich_markup_mode=None)


@group.command()
def new(
    context: typer.Context,
    lost: Annotated[bool, typer.Option("--lost", help="The old signing key is gone for good.")] = False,
    reason: Annotated[str, typer.Option(help="For the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Make the signing key before the first entry does; with --lost, put a new one in its place."""
    knowledge_base = open_home(context, home)
    keys = knowledge_base.log.keys
    if lost:
        say(knowledge_base.log.replace_lost_key(reason))
        aside("publish this key: checkpoints from here on are signed by it, and the old key did not say so")
    elif keys.can_sign():
        raise UsageError(f"there is a signing key in {keys.folder}", hint="`audit key rotate` replaces it")
    else:
        knowledge_base.log.checkpoint()
        say(keys.published())


@group.command()
def publish(context: typer.Context, home: HomeOption = None) -> None:
    """Print the public keys, oldest first: what others check the log with."""
    knowledge_base = open_home(context, home)
    knowledge_base.log.checkpoint()
    say(knowledge_base.log.published_keys())


@group.command()
def rotate(
    context: typer.Context,
    reason: Annotated[str, typer.Option(help="For the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Hand over to a new signing key; the old one signs that, and the log holds it."""
    say(open_home(context, home).log.rotate_key(reason))
    aside("publish this key, and make a new backup of the keys")


@group.command()
def backup(context: typer.Context, folder: Folder, home: HomeOption = None) -> None:
    """Copy every key into a new folder; keep it apart from the log."""
    knowledge_base = open_home(context, home)
    knowledge_base.log.checkpoint()
    knowledge_base.log.keys.back_up(folder)
    say(f"copied to {folder}: whoever has it can sign in the log's name and read what people asked")


@group.command()
def restore(context: typer.Context, folder: Folder, home: HomeOption = None) -> None:
    """Bring missing keys back from their copy; people who were erased since stay erased."""
    whole = open_home(context, home).log.restore_keys(folder)
    say("restored")
    if not whole:
        aside(
            "the people only: this copy is older than the last change of the signing key; restore a newer one"
            " too, or record that the key is lost: `citewell audit key new --lost`"
        )
