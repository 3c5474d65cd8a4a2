"""``citewell audit key ...``: the log's signing key, and the backup of all its keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.home import HomeOption, open_home
from citewell.cli.printing import aside, say
from citewell.core.errors import UsageError

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the backup.")]

group = typer.Typer(help="Manage the log's keys.", no_args_is_help=True, rich_markup_mode=None)


@group.command()
def new(
    context: typer.Context,
    lost: Annotated[
        bool, typer.Option("--lost", help="The old signing key is lost for good; replace it.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Create the signing key before the first entry does; with --lost, replace a lost one."""
    knowledge_base = open_home(context, home)
    keys = knowledge_base.log.keys
    if lost:
        say(knowledge_base.log.replace_lost_key(reason))
        aside(
            "publish this key: it signs all checkpoints from now on, and the old key has not vouched for it"
        )
    elif keys.can_sign():
        raise UsageError(
            f"there is already a signing key in {keys.folder}",
            hint="replace it with `citewell audit key rotate`",
        )
    else:
        knowledge_base.log.checkpoint()
        say(keys.published())


@group.command()
def publish(context: typer.Context, home: HomeOption = None) -> None:
    """Print the public keys, oldest first. Others need them to check the log."""
    knowledge_base = open_home(context, home)
    knowledge_base.log.checkpoint()
    say(knowledge_base.log.published_keys())


@group.command()
def rotate(
    context: typer.Context,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Replace the signing key. The old key signs the change, and the log records it."""
    say(open_home(context, home).log.rotate_key(reason))
    aside("publish this key, and back up the keys again")


@group.command()
def backup(context: typer.Context, folder: Folder, home: HomeOption = None) -> None:
    """Copy every key into a new folder. Keep it apart from the log."""
    knowledge_base = open_home(context, home)
    knowledge_base.log.checkpoint()
    knowledge_base.log.keys.back_up(folder)
    say(
        f"Copied the keys to {folder}."
        " Anyone who has them can sign in the log's name and read what people asked."
    )


@group.command()
def restore(context: typer.Context, folder: Folder, home: HomeOption = None) -> None:
    """Restore missing keys from a backup. People who were erased since then stay erased."""
    whole = open_home(context, home).log.restore_keys(folder)
    say("Restored the keys.")
    if not whole:
        aside(
            "Only the people's keys were restored: this backup is older than the last change of the"
            " signing key."
            " Restore a newer backup as well, or record that the key is lost: `citewell audit key new --lost`"
        )
