"""``citewell documents``: list, show, withdraw and share documents."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import columns, say, say_json
from citewell.core.errors import UsageError

Id = Annotated[str, typer.Argument(metavar="ID", help="The document id, as `documents list` prints it.")]

group = typer.Typer(
    help="List, show, withdraw and share documents.", no_args_is_help=True, rich_markup_mode=None
)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="documents")


@group.command("list")
def list_(context: typer.Context, json: JsonOption = False, home: HomeOption = None) -> None:
    """List the newest version of each document."""
    entries = open_home(context, home).documents()
    if json:
        return say_json({"documents": entries})
    if not entries:
        return say("No documents yet. Add some with `citewell ingest PATH`.")
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
    version: Annotated[str, typer.Option(help="An older version. [default: the newest]")] = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Show one document: its metadata, and its text as citations refer to it."""
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
    user: Annotated[str, typer.Option(metavar="U", help="Your name, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Stop retrieving a document. It stays readable as evidence for past answers."""
    open_home(context, home).withdraw(id, reason=reason, user=user)
    say(f"Withdrew {id}. To restore it, run `citewell ingest FILE --id {shlex.quote(id)}`.")


@group.command()
def share(
    context: typer.Context,
    id: Id,
    acl: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="A group that may see it; repeatable.")
    ] = None,
    everybody: Annotated[bool, typer.Option("--everybody", help="Remove every restriction.")] = False,
    user: Annotated[str, typer.Option(metavar="U", help="Your name, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Set who may see a document from now on, including in past answers."""
    if bool(acl) == everybody:
        raise UsageError("nothing says who may see it", hint="give --acl GROUP or --everybody")
    open_home(context, home).share(id, acl or (), user=user)
    say(f"{id} is now visible to {', '.join(acl) if acl else 'everybody'}")
