"""``citewell documents``: what is in, one of them, taking one out of retrieval, and who may see it."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import columns, say, say_json
from citewell.core.errors import UsageError

Id = Annotated[str, typer.Argument(metavar="ID", help="The document id, as `documents list` prints it.")]

group = typer.Typer(help="The documents of the knowledge base.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="documents")


@group.command("list")
def list_(context: typer.Context, json: JsonOption = False, home: HomeOption = None) -> None:
    """The newest version of each document."""
    entries = open_home(context, home).documents()
    if json:
        return say_json({"documents": entries})
    if not entries:
        return say("no documents: add some with `citewell ingest PATH`")
    head = ("id", "state", "pages", "version", "ingested", "title")
    columns(
        [head]
        + [
            (e.document_id, e.state, str(e.pages or ""), e.version[:19], e.ingested_at[:19], e.title[:60])
            for e in entries
        ]
    )
    return None


@group.command()
def show(
    context: typer.Context,
    id: Id,
    version: Annotated[str, typer.Option(help="An older version; the newest when not given.")] = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """One document: what is known about it, and its text as it is cited."""
    knowledge_base = open_home(context, home)
    document = knowledge_base.document(id, version)
    if json:
        return say_json(document)
    facts = {
        "id": document.document_id,
        "version": document.version,
        "versions": str(len(knowledge_base.versions(id))),
        "reader": document.reader,
        "source": document.uri,
        **{
            name: f"{found.value} ({found.origin})"
            for name in ("title", "author", "language", "published_at")
            if (found := getattr(document, name)) is not None
        },
        "pages": str(len(document.pages) or ""),
        "groups": ", ".join(document.acl),
        "tags": ", ".join(document.tags),
        "notes": "; ".join(document.notes),
    }
    columns([(f"{name}:", value) for name, value in facts.items() if value])
    say()
    say(document.text)
    return None


@group.command()
def withdraw(
    context: typer.Context,
    id: Id,
    reason: Annotated[str, typer.Option(help="Why, for the record.")] = "withdrawn by hand",
    user: Annotated[str, typer.Option(metavar="U", help="Who, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Retrieve a document no more. It stays readable as evidence of past answers."""
    open_home(context, home).withdraw(id, reason=reason, user=user)
    say(f"withdrawn: {id}; `citewell ingest FILE --id {shlex.quote(id)}` restores it")


@group.command()
def share(
    context: typer.Context,
    id: Id,
    acl: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="Who may see it; may be given again.")
    ] = None,
    everybody: Annotated[bool, typer.Option("--everybody", help="Lift every restriction.")] = False,
    user: Annotated[str, typer.Option(metavar="U", help="Who, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Say who may see a document from now on, in answers given before as well."""
    if bool(acl) == everybody:
        raise UsageError("who may see it?", hint="name groups with --acl, or say --everybody")
    open_home(context, home).share(id, acl or (), user=user)
    say(f"{id} may be seen by {', '.join(acl) if acl else 'everybody'}")
