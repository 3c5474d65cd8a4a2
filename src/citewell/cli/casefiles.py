"""``citewell eval draft | import``: case files made from documents, or from other people's data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.commands import command, evaluation
from citewell.cli.home import Home
from citewell.cli.printing import ERROR, aside, escaped
from citewell.core.errors import UsageError

_FORMATS = ("beir", "financebench", "alce", "ragas", "deepeval")
Count = Annotated[int, typer.Option("--n", min=1, help="The maximum number of cases.")]
Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders, as for `ingest`.")]


@command(evaluation)
def draft(home: Home, paths: Paths, out: Path | None = None, n: Count = 50, seed: int = 0) -> int:
    """Draft cases from documents (answerable ones, unanswerable twins, near misses) for a person to
    review."""
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
                documents.append(worker.read(source.path, document_id=source.document_id))
            except DocumentError as error:
                aside(f"{source.path}: {error}")
                failed = True
    cases = draft_cases(documents, n=n, seed=seed)
    if not cases:
        raise UsageError(
            f"no questions could be drafted from {len(documents)} documents",
            hint="give documents with plain sentences or tables, or write cases by hand",
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
    home: Home,
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=", ".join(_FORMATS))],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The data set's file or folder.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write the cases.")],
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write its answers, for `eval run --answers`."),
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for its documents, ready to ingest.")
    ] = None,
    document_id: Annotated[
        str,
        typer.Option(metavar="TEMPLATE", help="How your home names its documents, such as 'pdfs/{}.pdf'."),
    ] = "",
) -> None:
    """Import cases, and answers if there are any, from a data set in another format."""
    import msgspec

    from citewell.evaluation.cases import write_cases, write_file
    from citewell.evaluation.importing import read_format

    template = document_id or (f"{documents.resolve().name}/{{}}.txt" if documents else "")
    found = read_format(form, path, document=template, texts=_texts(home))
    if documents is not None and not found.documents:
        raise UsageError(f"{form} contains no documents", hint="leave --documents out")
    if answers is not None and not found.answers:
        raise UsageError(f"{path} contains no answers", hint="leave --answers out")
    if documents is not None:
        _write_documents(documents, found.documents)
    write_cases(found.cases, out)
    if answers is not None:
        write_file(answers, b"".join(msgspec.json.encode(line) + b"\n" for line in found.answers))
    located = sum(bool(case.spans) for case in found.cases)
    aside(
        f"{len(found.cases)} cases ({located} with spans), {len(found.answers)} answers,"
        f" {len(found.documents)} documents"
    )
    for note in found.notes:
        aside(f"note: {note}")
    if found.answers and answers is None:
        aside("note: the answers were not written; add --answers FILE to write them")


def _texts(home: Home) -> Callable[[str], str | None]:
    """Documents of the home, if there is one: quotes have to match its wording exactly."""
    from citewell.core.errors import CitewellError

    if not home.path.is_dir():
        return lambda name: None
    kb = home.open()
    known = {entry.document_id for entry in kb.documents()}

    def text(name: str) -> str | None:
        if name not in known:
            return None
        try:
            return kb.document(name).text
        except CitewellError:
            return None

    return text


def _write_documents(folder: Path, documents: dict[str, str]) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty", hint="name a new folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in documents.items():
            (folder / Path(name).name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be written ({error.strerror})",
            hint="check that the folder exists and is writable",
        ) from error
