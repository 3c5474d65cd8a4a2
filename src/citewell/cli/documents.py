"""``citewell documents``: list, show, withdraw and share documents."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from citewell.cli.commands import CommandResult, command, group
from citewell.cli.printing import facts, format_columns, say
from citewell.core.errors import UsageError
from citewell.core.records import Document, Supersession
from citewell.core.vocabulary import incomplete_words
from citewell.documents.outcomes import THREAD
from citewell.knowledge.home import KnowledgeBase

DocumentId = Annotated[
    str, typer.Argument(metavar="ID", help="The document id, as `documents list` prints it.")
]
User = Annotated[str, typer.Option(metavar="U", help="Your name, for the record.")]

documents = group("documents", "List, show, withdraw and share documents.")


@command(documents, "list")
def list_(kb: KnowledgeBase) -> CommandResult:
    """List the newest version of each document."""
    entries = kb.documents()
    if not entries:
        return CommandResult(
            {"documents": []}, lambda: say("No documents yet. Add some with `citewell ingest PATH`.")
        )
    rows = [
        (e.document_id, e.state, str(e.pages or ""), e.version[:19], e.ingested_at[:19], e.title[:60])
        for e in entries
    ]
    head = ("id", "state", "pages", "version", "ingested", "title")
    return CommandResult({"documents": entries}, lambda: format_columns([head, *rows]))


@command(documents)
def show(kb: KnowledgeBase, id: DocumentId, version: str = "") -> CommandResult:
    """Show one document: its metadata, and its text as citations refer to it.

    --version: An older version. [default: the newest]
    """
    document = kb.document(id, version)
    tags = {tag for tag in document.tags if tag.startswith(THREAD)}
    thread = [e.document_id for e in kb.documents() if tags.intersection(e.tags)] if tags else []
    return CommandResult(document, lambda: _print(document, len(kb.versions(id)), thread, kb.superseded(id)))


@command(documents)
def withdraw(kb: KnowledgeBase, id: DocumentId, reason: str = "withdrawn by hand", user: User = "") -> None:
    """Stop retrieving a document. It stays readable as evidence for past answers.

    --reason: Why, for the record.
    """
    kb.withdraw(id, reason=reason, user=user)
    say(f"Withdrew {id}. To restore it, run `citewell ingest FILE --id {shlex.quote(id)}`.")


@command(documents)
def share(
    kb: KnowledgeBase, id: DocumentId, acl: list[str] | None = None, everybody: bool = False, user: User = ""
) -> None:
    """Set who may see a document from now on, including in past answers.

    --acl GROUP: A group that may see it; repeatable.
    --everybody: Remove every restriction.
    """
    if bool(acl) == everybody:
        raise UsageError("no access list was given", hint="give --acl GROUP or --everybody")
    kb.share(id, acl or (), user=user)
    say(f"{id} is now visible to {', '.join(acl) if acl else 'everybody'}")


_FOUND = (
    *("title", "author", "language", "published_at", "effective_at", "expires_at", "signed_at"),
    "edition",
)


def _told(one: Supersession) -> str:
    """What is superseded, when and by what, on one line."""
    what = " ".join(one.section) or "all of it"
    begins = f" from {one.from_date}" if one.from_date else ""
    ends = f" before {one.until}" if one.until else ""
    return f"{what}{begins}{ends} ({one.standing.value}{f': {one.by}' if one.by else ''})"


def _print(document: Document, versions: int, thread: list[str], superseded: Sequence[Supersession]) -> None:
    facts(
        {
            "id": document.document_id,
            "version": document.version,
            "versions": str(versions),
            "reader": document.reader,
            "source": document.uri,
            **{
                name: f"{found.value} ({'a guess, ' * found.guess}{found.origin})"
                for name in _FOUND
                if (found := getattr(document, name)) is not None
            },
            "not in force": "; ".join(map(_told, superseded)),
            "pages": str(len(document.pages) or ""),
            "incomplete": incomplete_words(document),
            "groups": ", ".join(document.acl),
            "tags": ", ".join(document.tags),
            "thread": ", ".join(thread),
            **dict(document.headers),
        }
    )
    for note in document.notes:
        say(f"note: {note}")
    say()
    say(document.text)
