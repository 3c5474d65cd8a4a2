"""``citewell feedback``: feedback on an answer from the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.cli.commands import Found, Id, app, command
from citewell.cli.printing import say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase


@command(app)
def feedback(
    kb: KnowledgeBase,
    id: Id,
    signal: Annotated[
        str, typer.Argument(metavar="SIGNAL", help="thumbs_down, thumbs_up, citation_opened, copied, ...")
    ],
    claim: Annotated[int | None, typer.Option(min=1)] = None,
    user: str = "",
    meta: list[str] | None = None,
) -> Found:
    """Give feedback on an answer. It is sealed in the log; negative feedback puts the answer in the review
    queue.

    --claim N: The claim it is about. [default: the whole answer]
    --user U: Who gives the feedback, for the record.
    --meta K=V: A detail, such as because=...; repeatable.
    """
    said = kb.feedback(id, signal, user=user, claim=claim, meta=_pairs(meta or []))
    stage = f", failing stage: {said.stage}" if said.stage else ""
    return Found(said, lambda: say(f"{said.feedback_id}: {said.signal.value} on {said.request_id}{stage}"))


def _pairs(words: list[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise UsageError(
                f"--meta {word!r} has no =",
                hint='write NAME=VALUE, such as --meta "because=the year is wrong"',
            )
        if name in pairs:
            raise UsageError(f"--meta {name} is given twice", hint="give each name only once")
        pairs[name] = value
    return pairs
