"""``citewell eval draft | import``: case files made from documents, or from other people's data sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.home import HomeOption, home_of
from citewell.cli.printing import ERROR, OK, aside, escaped
from citewell.errors import UsageError

Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Where the cases go; else standard output.")]


def register(group: typer.Typer) -> None:
    group.command("draft")(draft)


def draft(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders, as for ingest.")],
    out: Out = None,
    n: Annotated[int, typer.Option("--n", min=1, help="How many cases at most.")] = 50,
    seed: Annotated[int, typer.Option(help="Another seed draws others.")] = 0,
    home: HomeOption = None,
) -> None:
    """Draft cases from documents: answerable ones, unanswerable twins, near misses. A person reviews them."""
    import msgspec

    from citewell.assembly import load_config
    from citewell.documents.files import FileFailure, walk
    from citewell.documents.worker import ParsingWorker
    from citewell.errors import DocumentError
    from citewell.evaluation.cases import write_cases
    from citewell.evaluation.drafting import draft_cases

    documents, code = [], OK
    with ParsingWorker(load_config(home_of(context, home)).documents) as worker:
        for source in walk(paths):
            try:
                if isinstance(source, FileFailure):
                    raise source.error
                documents.append(worker.read(source.path, document_id=source.document_id))
            except DocumentError as error:
                aside(f"{source.path}: {error}")
                code = ERROR
    cases = draft_cases(documents, n=n, seed=seed)
    if not cases:
        raise UsageError(
            f"no question could be read off {len(documents)} documents",
            hint="give documents with plain sentences or tables, or write cases by hand",
        )
    if out:
        write_cases(cases, out)
    else:
        for case in cases:
            print(escaped(msgspec.json.encode(case).decode()))
    kinds = Counter(case.tags[0] for case in cases)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    aside(f"{len(cases)} drafts from {len(documents)} documents ({told}), none of them reviewed")
    if code:
        raise typer.Exit(code)
