"""``citewell review``: the queue, its patterns, and the decisions that turn a failure into a case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.answers import print_claims
from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import aside, columns, counted, say, say_json
from citewell.core.errors import UsageError

if TYPE_CHECKING:
    from citewell.core.records import CaseSpan
    from citewell.knowledge.feedback.queue import QueueItem
    from citewell.knowledge.home import KnowledgeBase

Id = Annotated[str, typer.Argument(metavar="ID", help="The record id.")]
Reviewer = Annotated[str, typer.Option("--reviewer", metavar="U", help="Who decides, for the record.")]
Reader = Annotated[str, typer.Option("--reader", metavar="U", help="Your name, for the record.")]
State = Annotated[str, typer.Option("--state", help="open, accepted, dismissed or all.")]
Since = Annotated[str, typer.Option("--since", metavar="WHEN", help="30d, 12h, or a date.")]

group = typer.Typer(
    help="Review answers that may have gone wrong.", invoke_without_command=True, rich_markup_mode=None
)


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="review")


@group.callback()
def review(
    context: typer.Context,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write accepted cases to FILE, each once.")
    ] = None,
    detect: Annotated[
        bool, typer.Option("--detect", help="Look for answers that nobody has engaged with.")
    ] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Review answers that may have gone wrong. Without a command, lists the queue."""
    if context.invoked_subcommand:
        return None
    if detect:
        found = open_home(context, home).review.detect()
        if json:
            return say_json({"signals": found})
        return say(f"Found {counted(len(found), 'answer')} that nobody has engaged with.")
    if to is None:
        return list_(context, json=json, home=home)
    written = open_home(context, home).review.write(to)
    if json:
        return say_json(written)
    say(f"{to}: added {counted(written.added, 'case')}, {written.already} already there")
    if written.changed:
        say(f"Updated {counted(written.changed, 'case')} because the decision has changed.")
    if written.removed:
        say(f"Removed {counted(written.removed, 'case')}: dismissed since, or the asker was erased.")
    return None


@group.command("list")
def list_(
    context: typer.Context,
    state: State = "open",
    cause: Annotated[str, typer.Option(help="thumbs_down, relevance_gate_failed, ...")] = "",
    topic: Annotated[str, typer.Option(help="A topic as `review groups --by topic` names it.")] = "",
    document: Annotated[str, typer.Option(metavar="D", help="Only answers that rest on this document.")] = "",
    since: Since = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Items per page.")] = 50,
    cursor: Annotated[str, typer.Option(help="The cursor that the previous page printed.")] = "",
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """List the answers to review, newest first."""
    knowledge_base = open_home(context, home)
    page = knowledge_base.review.queue(
        state=state,
        cause=cause,
        topic=topic,
        document=document,
        since=_moment(knowledge_base, since),
        limit=limit,
        cursor=cursor,
        reader=reader,
    )
    if json:
        return say_json(page)
    if not page.items:
        return say("Nothing to review.")
    head = ("id", "time", "state", "stage", "causes", "question")
    columns([head, *map(_line, page.items)])
    if page.next:
        say(f"{page.total} in total. More with --cursor {page.next}")
    if not page.complete:
        aside("note: older answers were not examined; narrow the range with --since")
    return None


@group.command()
def groups(
    context: typer.Context,
    by: Annotated[str, typer.Option(help="cause, topic or document.")] = "cause",
    state: State = "open",
    since: Since = "",
    reader: Reader = "",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Group the answers to review by cause, topic or document, with counts."""
    knowledge_base = open_home(context, home)
    found = knowledge_base.review.groups(
        by=by, state=state, since=_moment(knowledge_base, since), reader=reader
    )
    if json:
        return say_json({"groups": found})
    if not found:
        return say("Nothing to review.")
    columns(
        [
            ("n", by, "stages", "newest"),
            *((str(g.n), g.name, _counts(g.stages), g.requests[0]) for g in found),
        ]
    )
    return None


@group.command()
def show(
    context: typer.Context, id: Id, reader: Reader = "", json: JsonOption = False, home: HomeOption = None
) -> None:
    """Show one answer: what it said, the feedback on it, and what was decided."""
    shown = open_home(context, home).review.show(id, reader=reader)
    if json:
        return say_json(shown)
    item, record = shown.item, shown.record
    facts = {
        "record": item.request_id,
        "state": item.state,
        "causes": ", ".join(item.causes),
        "stage": item.stage,
        "question": item.question,
        "decision": item.decision,
        "missing": "; ".join(record.missing),
        "documents": ", ".join(item.documents),
        "reviewer": item.reviewer,
        "reason": item.reason,
    }
    columns([(f"{name}:", value) for name, value in facts.items() if value])
    for one in item.signals:
        about = f" on claim {one.claim}" if one.claim else ""
        meta = "".join(f" {name}={value}" for name, value in one.meta.items())
        say(f"    {one.timestamp[:19]} {one.signal.value}{about} (by {one.user or one.found_by}){meta}")
    say("\nshown:")
    say(record.shown_response)
    say()
    print_claims(record.claims)
    if shown.case is not None:
        say("case:")
        say_json(shown.case)
    return None


@group.command()
def accept(
    context: typer.Context,
    id: Id,
    reviewer: Reviewer,
    question: Annotated[str, typer.Option(help="The question reworded, if it does not stand alone.")] = "",
    expected: Annotated[str, typer.Option(help="The right answer.")] = "",
    span: Annotated[
        list[str] | None,
        typer.Option(metavar="DOC=WORDS", help="The words that support the right answer; repeatable."),
    ] = None,
    abstain: Annotated[
        str, typer.Option(metavar="REASON", help="The documents cannot answer; say why.")
    ] = "",
    tag: Annotated[
        list[str] | None, typer.Option(metavar="T", help="A label for the case; repeatable.")
    ] = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Turn the answer into a case. The spans it cited count as right unless others are given."""
    case = open_home(context, home).review.accept(
        id,
        reviewer=reviewer,
        question=question,
        expected=expected,
        spans=[_span(words) for words in span or []],
        abstain=abstain,
        tags=tag or (),
    )
    if json:
        return say_json(case)
    say(f"Accepted {case.id} as a case: {len(case.spans)} spans{', abstains' if case.abstain else ''}")
    return say("Write it to a case file with `citewell review --to FILE`.")


@group.command()
def dismiss(
    context: typer.Context,
    id: Id,
    reviewer: Reviewer,
    reason: Annotated[str, typer.Option(help="Why it is dismissed.")],
    home: HomeOption = None,
) -> None:
    """Remove the answer from the queue, with a reason."""
    open_home(context, home).review.dismiss(id, reviewer=reviewer, reason=reason)
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
    causes = ", ".join(item.causes)
    return (item.request_id, item.timestamp[:19], item.state, item.stage or "?", causes, item.question[:60])


def _counts(counted: dict[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counted.items())
