"""``citewell ask`` and ``citewell search``."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.answers import print_answer, print_event
from citewell.cli.commands import CommandResult, Home, Pool, TopK, Words, app, command
from citewell.cli.ingest import progress_bar, tell, tell_notes
from citewell.cli.printing import code_of_answer, say, say_json
from citewell.core.config import Config
from citewell.core.errors import CitewellError
from citewell.knowledge import opening
from citewell.knowledge.home import KnowledgeBase


@command(app)
def ask(
    home: Home,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    user: str = "",
    group: Words = None,
    session: str = "",
    top_k: TopK = None,
    pool: Pool = None,
    runs: Annotated[int, typer.Option(min=1, max=20)] = 1,
    document: str | None = None,
    since: str | None = None,
    tag: str | None = None,
    model: str = "",
    as_of: str = "",
    over: list[Path] | None = None,
    stream: bool = False,
    json: bool = False,
) -> int:
    """Ask a question. Exit codes: 0 answered, 3 answered in part, 4 abstained, 5 a claim failed its check.

    --user U: Who is asking, for the record.
    --session S: The conversation this question belongs to.
    --runs: How many drafts to compare for consistency.
    --since DATE: Search only documents published since DATE, such as 2026-11-21.
    --model M: The model to write with: ollama/llama3.2, openai/NAME, ...
    --as-of DATE: Answer by what was in force on DATE. [default: today]
    --over PATH: Ingest PATH into a temporary store and ask that; repeatable.
    --stream: Show claims as they are written; with --json, print one event per line.
    """
    with tempfile.TemporaryDirectory(prefix="citewell-over-") as folder:
        said = {"CITEWELL_GENERATOR": _line_of(model)} if model else {}
        config = home.config(said)
        kb = _throw_away(config, Path(folder), over) if over else home.open(config=config)
        with suppress(Exception):  # raised again by the question, and then it is sealed
            kb.warm()
        answer = kb.ask(
            question,
            user=user,
            groups=group or (),
            session_id=session,
            top_k=top_k,
            pool=pool,
            runs=runs,
            document=document,
            since=since,
            tag=tag,
            as_of=as_of,
            tell=(say_json if json else print_event) if stream else None,
        )
        if not json:
            print_answer(answer)
            if over:
                say("store   temporary; it and the record have been deleted")
        elif not stream:
            say_json(answer)
        kb.close()
    return code_of_answer(answer)


@command(app)
def search(
    kb: KnowledgeBase,
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    group: Words = None,
    top_k: TopK = None,
    pool: Pool = None,
    document: str | None = None,
    since: str | None = None,
    tag: str | None = None,
) -> CommandResult:
    """Show the passages found for a query, before the threshold is applied, each marked relevant or not.

    --since DATE: Search only documents published since DATE, such as 2026-11-21.
    """
    passages = kb.search(
        query, groups=group or (), top_k=top_k, pool=pool, document=document, since=since, tag=tag
    )

    def tell() -> None:
        if not passages:
            say("No passages found.")
        for passage in passages:
            chunk = passage.chunk
            page = f", page {chunk.page}" if chunk.page else ""
            mark = "relevant" if passage.relevant else "below the threshold"
            score = "not judged" if passage.relevance is None else f"{passage.relevance:.2f}"
            say(f"{score} {mark}: {chunk.document_id}{page} [{chunk.start_offset}:{chunk.end_offset}]")
            if chunk.section_path:
                say(f"  {' › '.join(chunk.section_path)}")
            say("\n".join(f"  {line}" for line in chunk.content[:600].splitlines()))
            say()

    return CommandResult({"passages": passages}, tell)


def _line_of(model: str) -> str:
    """A model as the configuration names it: ``ollama:llama3.2`` of ``ollama/llama3.2``."""
    return re.sub(r"^(\w+)/", r"\1:", model)


def _throw_away(config: Config, folder: Path, over: list[Path]) -> KnowledgeBase:
    """Opens a temporary store, which is deleted once the answer is printed."""
    from citewell.documents.outcomes import ADDED

    knowledge_base = opening.open(folder, config=config)
    with progress_bar() as bar:
        report = knowledge_base.ingest(*over, progress=bar)
    tell(report, quiet=True)
    tell_notes(report)
    if not any(outcome.status == ADDED for outcome in report.files):
        raise CitewellError("no document could be read", hint="name other files with --over")
    return knowledge_base
