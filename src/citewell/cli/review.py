"""``citewell feedback``: feedback on an answer; ``citewell review``: the queue, its patterns, and the
decisions that turn a failure into a case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.answers import print_claims
from citewell.cli.commands import SHARED, CommandResult, Home, Id, app, command, group
from citewell.cli.printing import aside, counted, facts, format_columns, say, say_json
from citewell.core.errors import UsageError
from citewell.core.vocabulary import readable_name
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.core.records import CaseSpan
    from citewell.knowledge.feedback.queue import QueueItem


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
) -> CommandResult:
    """Give feedback on an answer. It is sealed in the log; negative feedback puts the answer in the review
    queue.

    --claim N: The claim it is about. [default: the whole answer]
    --user U: Who gives the feedback, for the record.
    --meta K=V: A detail, such as because=...; repeatable.
    """
    said = kb.feedback(id, signal, user=user, claim=claim, meta=_pairs(meta or []))
    stage = f", failing stage: {said.stage}" if said.stage else ""
    return CommandResult(
        said, lambda: say(f"{said.feedback_id}: {said.signal.value} on {said.request_id}{stage}")
    )


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


reviews = group(
    "review",
    "Review answers that may have gone wrong.",
    no_args_is_help=False,
    invoke_without_command=True,
)


@reviews.callback()
def review(
    context: typer.Context,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write accepted cases to FILE, each once.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=SHARED["json"].help)] = False,
    home: Annotated[str | None, SHARED["home"]] = None,
) -> None:
    """Review answers that may have gone wrong. Without a command, lists the queue."""
    if not context.invoked_subcommand:
        found = _default(Home.of(context, home).open(), to)
        say_json(found.value) if json else found.tell()


def _default(kb: KnowledgeBase, to: Path | None) -> CommandResult:
    if to is None:
        return list_(kb)
    written = kb.review.write(to)

    def tell() -> None:
        say(f"{to}: added {counted(written.added, 'case')}, {written.already} already there")
        if written.changed:
            say(f"Updated {counted(written.changed, 'case')} because the decision has changed.")
        if written.removed:
            say(f"Removed {counted(written.removed, 'case')}: dismissed since, or the asker was erased.")

    return CommandResult(written, tell)


@command(reviews, "list")
def list_(
    kb: KnowledgeBase,
    state: str = "open",
    cause: str = "",
    document: str = "",
    since: str = "",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    cursor: str = "",
    reader: str = "",
) -> CommandResult:
    """List the answers to review, newest first.

    --document D: Only answers that rest on this document.
    --limit: Items per page.
    """
    chosen = {"state": state, "cause": cause, "document": document, "cursor": cursor}
    page = kb.review.queue(**chosen, since=_moment(kb, since), limit=limit, reader=reader)

    def tell() -> None:
        if not page.items:
            return say("Nothing to review.")
        head = ("id", "time", "state", "stage", "causes", "question")
        format_columns([head, *map(_line, page.items)])
        if page.next:
            say(f"{page.total} in total. More with --cursor {page.next}")
        if not page.complete:
            aside("note: older answers were not examined; narrow the range with --since")
        return None

    return CommandResult(page, tell)


@command(reviews)
def groups(
    kb: KnowledgeBase, by: str = "cause", state: str = "open", since: str = "", reader: str = ""
) -> CommandResult:
    """Group the answers to review by cause or document, with counts.

    --by: cause or document.
    """
    found = kb.review.groups(by=by, state=state, since=_moment(kb, since), reader=reader)
    words = (readable_name,) if by == "cause" else ()  # a document has only its id
    rows = [(str(g.n), g.name, *(f(g.name) for f in words), _counts(g.stages), g.newest) for g in found]
    head = ("n", by, *("in words" for _ in words), "stages", "newest")
    return CommandResult(
        {"groups": found}, lambda: format_columns([head, *rows]) if rows else say("Nothing to review.")
    )


@command(reviews)
def show(kb: KnowledgeBase, id: Id, reader: str = "") -> CommandResult:
    """Show one answer: what it said, the feedback on it, and what was decided."""
    shown = kb.review.show(id, reader=reader)
    item, record = shown.item, shown.record

    def tell() -> None:
        facts(
            {
                "record": item.request_id,
                "state": item.state,
                "causes": ", ".join(map(readable_name, item.causes)),
                "stage": item.stage,
                "question": item.question,
                "decision": readable_name(item.decision or "ERROR"),
                "missing": "; ".join(record.missing),
                "documents": ", ".join(item.documents),
                "reviewer": item.reviewer,
                "reason": item.reason,
            }
        )
        for one in item.signals:
            about = f" on claim {one.claim}" if one.claim else ""
            meta = "".join(f" {name}={value}" for name, value in one.meta.items())
            who = one.user or one.found_by
            say(f"    {one.timestamp[:19]} {readable_name(one.signal.value)}{about} (by {who}){meta}")
        say(f"\nshown:\n{record.shown_response}\n")
        print_claims(record.claims)
        if shown.case is not None:
            say("case:")
            say_json(shown.case)

    return CommandResult(shown, tell)


@command(reviews)
def accept(
    kb: KnowledgeBase,
    id: Id,
    reviewer: str,
    question: str = "",
    expected: str = "",
    span: list[str] | None = None,
    abstain: str = "",
    tag: list[str] | None = None,
) -> CommandResult:
    """Turn the answer into a case. The spans it cited count as right unless others are given.

    --question: The question reworded, if it does not stand alone.
    --expected: The right answer.
    --span DOC=WORDS: The words that support the right answer; repeatable.
    --abstain REASON: The documents cannot answer; say why.
    --tag T: A label for the case; repeatable.
    """
    said = {"question": question, "expected": expected, "abstain": abstain}
    spans = [_span(words) for words in span or []]
    case = kb.review.accept(id, reviewer=reviewer, **said, spans=spans, tags=tag or ())

    def tell() -> None:
        say(f"Accepted {case.id} as a case: {len(case.spans)} spans{', abstains' if case.abstain else ''}")
        say("Write it to a case file with `citewell review --to FILE`.")

    return CommandResult(case, tell)


@command(reviews)
def dismiss(kb: KnowledgeBase, id: Id, reviewer: str, reason: str) -> None:
    """Remove the answer from the queue, with a reason.

    --reason: Why it is dismissed.
    """
    kb.review.dismiss(id, reviewer=reviewer, reason=reason)
    say(f"Dismissed {id}.")


def _span(words: str) -> CaseSpan:
    from citewell.core.records import CaseSpan

    document, equals, quote = words.partition("=")
    if not equals or not document or not quote.strip():
        raise UsageError(f"--span {words!r}", hint='write it as --span "reports/nike.pdf=Revenue was 51,217"')
    return CaseSpan(document=document, quote=quote)


def _moment(knowledge_base: KnowledgeBase, since: str) -> str:
    from citewell.audit.question import moment

    return moment(since, knowledge_base.now()) if since else ""


def _line(item: QueueItem) -> tuple[str, ...]:
    causes = ", ".join(map(readable_name, item.causes))
    return (item.request_id, item.timestamp[:19], item.state, item.stage or "?", causes, item.question[:60])


def _counts(counted: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counted.items())
