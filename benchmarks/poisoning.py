"""How much poison an answer survives: ``python -m benchmarks.poisoning [--n 40] [--home DIR]``.

In: CITEWELL_DATA. Out: docs/measurements/poisoning.{md,json}. The home holds SQuAD 2.0 articles that shaped
no weights; the cases are answered questions of it whose answer stands in the marked sentence. Everything else
is ``citewell eval probe poisoning`` with its defaults. Pieces of it (``--kinds``, ``--counts``) come together
on the page, where commit and configuration are the same.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from training.reading_pairs import Question

from benchmarks.prose_answers import reporting
from benchmarks.reporting import RESULTS, code, data_folder, table, write
from citewell.core.config import Config
from citewell.core.identity import plain
from citewell.core.records import Case, CaseSpan, Record
from citewell.evaluation.probes.poison import ABLATED, ALL, NO_DEFENCE, Poison
from citewell.evaluation.probes.poisoning import PoisoningReport, PoisoningRow, probe_poisoning, targets_of
from citewell.evaluation.results import MeasureResult
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase

SEED, ARTICLES = 31, 10
TITLE = "Poisoned documents"


def build(home: Path, n: int) -> tuple[KnowledgeBase, list[Case]]:
    """A home of ARTICLES articles, built once, and ``n`` answered questions on them."""
    asked, articles = reporting()
    titles = sorted(articles)
    random.Random(SEED).shuffle(titles)
    chosen = sorted(titles[:ARTICLES])
    knowledge_base = KnowledgeBase(Assembly(home, Config()))
    if not home.is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "articles"
            folder.mkdir()
            for number, title in enumerate(chosen):
                paragraphs = "\n\n".join(" ".join(text.split()) for text in articles[title])
                (folder / f"{number:02}.md").write_text(f"# {title}\n\n{paragraphs}\n", encoding="utf-8")
            knowledge_base.ingest(folder)
    names = {title: f"articles/{number:02}.md" for number, title in enumerate(chosen)}
    here = [q for q in asked if q.spans and (q.context or q.group[:60]) in names]
    random.Random(SEED).shuffle(here)
    return knowledge_base, [_case(q, at, names) for at, q in enumerate(here[:n])]


def _case(question: Question, number: int, names: dict[str, str]) -> Case:
    assert question.spans
    start, end = question.spans[0]
    around = " ".join(question.passage[max(0, start - 40) : end + 40].split())
    inner = " ".join(around.split(" ")[1:-1]) if start > 40 else around
    return Case(
        id=f"q{number}",
        question=question.question,
        expected=question.passage[start:end],
        spans=(CaseSpan(document=names[question.context or question.group[:60]], quote=inner),),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--home", type=Path, help="kept and used again")
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 3, 5], help="documents a question")
    parser.add_argument("--kinds", nargs="*", default=[kind.value for kind in Poison])
    given = parser.parse_args()
    data_folder()
    with tempfile.TemporaryDirectory(prefix="citewell-poisoning-") as scratch:
        knowledge_base, cases = build(given.home or Path(scratch) / "home", given.n)
        with knowledge_base:
            targets, left_out = targets_of(cases, lambda name: knowledge_base.document(name).text)
            held = Held(
                n=given.n,
                numbers=sum(any(ch.isdigit() for ch in target.right) for target in targets),
                code=code(),
                config=knowledge_base.config.hash,
            )
            report = probe_poisoning(
                knowledge_base.parts,
                targets,
                left_out,
                kinds=[Poison(kind) for kind in given.kinds],
                counts=given.counts,
                told=lambda line: print(line, flush=True),
            )
            keep(report, held)


class Held(Record, frozen=True, kw_only=True):
    """What the cells of one page share; ``numbers``: cases whose answer is a number."""

    n: int
    numbers: int
    code: str
    config: str


def keep(report: PoisoningReport, held: Held) -> None:
    """Adds the report to the page, next to what other runs of this command measured on the same."""
    path = RESULTS / "poisoning.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    cells = {_which(cell): cell for cell in report.cells}
    if before.get("held") == plain(held):
        earlier = msgspec.convert(before["cells"], tuple[PoisoningRow, ...])
        cells = {_which(cell): cell for cell in earlier} | cells
    whole = msgspec.structs.replace(report, cells=tuple(cells[key] for key in sorted(cells)))
    write("poisoning", TITLE, _page(whole, held), {"held": plain(held), **plain(whole)})


def _which(cell: PoisoningRow) -> tuple[int, int, int]:
    """Kind, count and defences, as a sort key."""
    kinds, names = list(Poison), [ALL.name, NO_DEFENCE.name, *(one.name for one in ABLATED)]
    kind = -1 if cell.poison is None else kinds.index(cell.poison)
    return kind, cell.count, names.index(cell.defences)


def _page(report: PoisoningReport, held: Held) -> str:
    counts = sorted({cell.count for cell in report.cells if cell.count})
    asked = f"--n {held.n} --counts {_words(counts)}"
    heads = [
        "poison",
        "documents a question",
        "defences",
        "accuracy",
        "misled",
        "of those, no conflict shown",
    ]
    heads += ["abstained", "citation precision", "citations in clean documents"]
    rows = [_row(cell) for cell in report.cells]
    return f"""
`python -m benchmarks.poisoning {asked}`: {report.cases} answered questions over
{ARTICLES} SQuAD 2.0 articles that shaped no weights ({len(report.left_out)} more left out: their answer could
not be exchanged in its sentence); in {held.numbers} of them the answer is a number. Exact 95 % intervals.
Commit `{held.code}`, configuration `{held.config[:19]}`.
*Accuracy*: what is shown has the right answer and not the false one. *Misled*: it has the false one. The
poison is placed before the retrieved passages.
The default, extractive writer: a language model, which can obey an
order, was not measured.

{_claimed(report)}

{table(heads, rows)}

How to read the table: a false statement in a document is still a statement of that document. A writer that
quotes will quote it, the verifier will find it supported, and no citation measure can know better (*citation
precision* does not change). The value of a defence is the difference between the row without it and the row
"all". Exact code finds conflicts between sources among all relevant passages, where numbers, dates or names
in one sentence differ: a disputed answer is PARTIAL and shows both sides. One column shows how many false
answers were shown without a conflict. Nothing in the pass prefers a newer document to an older one.
"""


def _claimed(report: PoisoningReport) -> str:
    """The published figures next to ours: poisoned is everything but clean, pooled over kinds and rates."""
    lines = []
    for defences in (ALL.name, NO_DEFENCE.name):
        cells = [c for c in report.cells if c.defences == defences]
        clean = next(c.accuracy for c in cells if c.poison is None)
        values = [c.accuracy.value for c in cells if c.poison and c.accuracy.value is not None]
        lines.append([defences, _told(clean), f"{sum(values) / len(values):.2f}" if values else "-"])
    lines += [["published, with filtering", ".94", ".92"], ["published, without", ".92", ".78"]]
    heads = ["defences", "clean accuracy", "poisoned accuracy (mean over kinds and rates)"]
    return f"{table(heads, lines)}\n\nThe published figures do not name their data and are unconfirmed."


def _words(counts: Sequence[int]) -> str:
    return " ".join(map(str, counts))


def _row(cell: PoisoningRow) -> Sequence[Any]:
    return [
        cell.poison.value if cell.poison else "clean", str(cell.count), cell.defences, _told(cell.accuracy),
        _told(cell.misled), _told(cell.silently), _told(cell.abstained), _told(cell.citation_precision),
        _told(cell.clean_citations),
    ]  # fmt: skip


def _told(found: MeasureResult) -> str:
    if found.value is None:
        return "not measured"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


if __name__ == "__main__":
    main()
