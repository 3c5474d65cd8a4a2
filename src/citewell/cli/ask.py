"""``citewell ask`` and ``citewell search``."""

from __future__ import annotations

import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.answers import print_answer, print_event
from citewell.cli.home import Home, HomeOption, JsonOption, home_of, open_home
from citewell.cli.ingest import progress_bar, tell, tell_notes
from citewell.cli.printing import code_of_answer, say, say_json
from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    from citewell.knowledge.home import KnowledgeBase

Group = Annotated[
    list[str] | None, typer.Option(metavar="G", help="A group the asker belongs to; repeatable.")
]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, max=10, help="Passages to pass on. [default: 5]")]
PoolSize = Annotated[
    int | None, typer.Option("--pool", min=1, max=1000, help="Candidates to rank. [default: 50]")
]
OnlyDocument = Annotated[str | None, typer.Option(metavar="D", help="Search only this document.")]
Since = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Search only documents published since DATE, such as 2026-11-21."),
]
Tag = Annotated[str | None, typer.Option(metavar="T", help="Search only documents with this label.")]


def register(app: typer.Typer) -> None:
    app.command("ask")(ask)
    app.command("search")(search)


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    user: Annotated[str, typer.Option(metavar="U", help="Who is asking, for the record.")] = "",
    group: Group = None,
    session: Annotated[
        str, typer.Option(metavar="S", help="The conversation this question belongs to.")
    ] = "",
    top_k: TopK = None,
    pool: PoolSize = None,
    runs: Annotated[int, typer.Option(min=1, max=20, help="How many drafts to compare for consistency.")] = 1,
    document: OnlyDocument = None,
    since: Since = None,
    tag: Tag = None,
    model: Annotated[
        str,
        typer.Option(metavar="M", help="The model to write with: ollama/llama3.2, openai/NAME, ..."),
    ] = "",
    over: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Ingest PATH into a temporary store and ask that; repeatable."),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream", help="Show claims as they are written; with --json, print one event per line."
        ),
    ] = False,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Ask a question. Exit codes: 0 answered, 3 answered in part, 4 abstained, 5 a claim failed its check."""
    with tempfile.TemporaryDirectory(prefix="citewell-over-") as folder:
        said = {"CITEWELL_GENERATOR": _line_of(model)} if model else {}
        if over:
            knowledge_base = _throw_away(context, home, Path(folder), over, said)
        else:
            knowledge_base = Home(context, home_of(context, home)).open(said=said)
        with suppress(Exception):  # raised again by the question, and then it is sealed
            knowledge_base.warm()
        tell = (say_json if json else print_event) if stream else None
        answer = knowledge_base.ask(
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
            tell=tell,
        )
        if json:
            if not stream:
                say_json(answer)
        else:
            print_answer(answer)
            if over:
                say("store   temporary; it and the record have been deleted")
        knowledge_base.close()
    if code := code_of_answer(answer):
        raise typer.Exit(code)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY")],
    group: Group = None,
    top_k: TopK = None,
    pool: PoolSize = None,
    document: OnlyDocument = None,
    since: Since = None,
    tag: Tag = None,
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Show the passages found for a query, before the threshold is applied, each marked relevant or not."""
    passages = open_home(context, home).search(
        query, groups=group or (), top_k=top_k, pool=pool, document=document, since=since, tag=tag
    )
    if json:
        return say_json({"passages": passages})
    if not passages:
        return say("No passages found.")
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
    return None


def _line_of(model: str) -> str:
    """A model as the configuration names it: ``ollama:llama3.2`` of ``ollama/llama3.2``."""
    return re.sub(r"^(\w+)/", r"\1:", model)


def _throw_away(
    context: typer.Context, home: str | None, folder: Path, over: list[Path], said: dict[str, str]
) -> KnowledgeBase:
    """Opens a temporary store with the home's configuration; it is deleted once the answer is printed."""
    from citewell.documents.outcomes import ADDED
    from citewell.knowledge.assembly import load_config
    from citewell.knowledge.opening import open as open_knowledge_base

    knowledge_base = open_knowledge_base(folder, config=load_config(home_of(context, home), said))
    with progress_bar() as progress:
        report = knowledge_base.ingest(*over, progress=progress)
    tell(report, quiet=True)
    tell_notes(report)
    if not any(outcome.status == ADDED for outcome in report.files):
        raise CitewellError("no document could be read", hint="name other files with --over")
    return knowledge_base
