"""``citewell eval draft | import``: case files made from documents, or from other tools' data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.commands import command
from citewell.cli.eval_run import evaluation
from citewell.cli.home import Home
from citewell.cli.printing import ERROR, aside, escaped
from citewell.core.errors import UsageError

FORMATS = ("ragas", "deepeval")


@command(evaluation)
def draft(
    home: Home,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files and folders, as for `ingest`.")
    ],
    out: Path | None = None,
    n: Annotated[int, typer.Option(min=1)] = 50,
    seed: int = 0,
) -> int:
    """Draft answerable and unanswerable cases from documents, for a person to review.

    --n: The maximum number of cases.
    """
    import msgspec

    from citewell.core.errors import DocumentError
    from citewell.documents.files import FileFailure, walk
    from citewell.documents.worker import ParsingWorker
    from citewell.evaluation.cases import write_cases
    from citewell.evaluation.drafting import draft_cases
    from citewell.knowledge.assembly import load_config

    documents, failed = [], False
    with ParsingWorker(load_config(home.path).documents) as worker:
        for source in walk(paths):
            try:
                if isinstance(source, FileFailure):
                    raise source.error
                documents.append(worker.read(source.place, document_id=source.document_id))
            except DocumentError as error:
                aside(f"{source.path}: {error}")
                failed = True
    cases = draft_cases(documents, n=n, seed=seed)
    if not cases:
        raise UsageError(
            f"no questions could be drafted from {len(documents)} documents",
            hint='give documents with tables or "label: value" lines, or write cases by hand',
        )
    if out:
        write_cases(cases, out)
    else:
        for case in cases:
            print(escaped(msgspec.json.encode(case).decode()))
    kinds = Counter(case.tags[0] for case in cases)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    aside(f"{len(cases)} drafts from {len(documents)} documents ({told}), not yet reviewed")
    return ERROR if failed else 0


@command(evaluation, "import")
def read(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=", ".join(FORMATS))],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The file to import.")],
    out: Path,
    answers: Path | None = None,
) -> None:
    """Import cases, with answers if there are any, from another tool's data.

    --out FILE: Where to write the cases.
    --answers FILE: Where to write its answers, for `eval run --answers`.
    """
    import msgspec

    from citewell.evaluation.cases import read_format, write_cases, write_file

    found = read_format(form, path)
    if answers is not None:
        if not found.answers:
            raise UsageError(f"{path} contains no answers", hint="leave --answers out")
        write_file(answers, b"".join(msgspec.json.encode(line) + b"\n" for line in found.answers))
    write_cases(found.cases, out)
    aside(f"{len(found.cases)} cases, {len(found.answers)} answers")
    if found.answers and answers is None:
        aside("note: the answers were not written; add --answers FILE to write them")
