"""How often do citations hold, and how much is answered at all? ``python -m benchmarks.citations [--n 30]``.

In: CITEWELL_DATA; ``--homes DIR`` keeps the homes that are made, ``--filings HOME`` is one that holds the 36
filings of FinanceBench (left out without it). Out: docs/measurements/citations.{md,json}: ALCE's citation
recall and precision, ours on the cited spans, and coverage beside them, of ``citewell eval run`` on the
defaults. Cases are drawn with a seed; nothing is chosen on them.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from training.sources import load

from benchmarks import retrieval_beir
from benchmarks.citation_agreement import selected
from benchmarks.reporting import RESULTS, code, data_folder, table, write
from citewell.core.config import Config
from citewell.core.identity import hash_text
from citewell.core.records import Case, CaseSpan
from citewell.evaluation.results import Run
from citewell.evaluation.running import evaluate_home
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase

SEED, PASSAGES = 43, 150
SHOWN = (
    "coverage", "alce_recall", "alce_precision", "citation_recall", "citation_precision", "hallucination_gap",
    "broken_citation_rate", "relevant_in_top_5", "wrongly_abstained", "wrongly_answered",
    "right_when_answered",
)  # fmt: skip
Texts = Mapping[str, tuple[str, str]]
"""Name -> (title, text)."""


def clapnq(n: int) -> tuple[Texts, list[Case]]:
    """Every passage of the set; ``n`` questions that their passage answers, with the sentences that people
    selected, and a third as many that it does not answer."""
    rows = load("qa/clapnq.dev")
    random.Random(SEED).shuffle(rows)
    texts = {_named(row): (row["meta"]["title"], row["context"]) for row in rows}
    could = [row for row in rows if row["answerable"] and selected(row)][:n]
    could_not = [row for row in rows if not row["answerable"]][: n // 3]
    cases = [
        Case(
            id=row["id"],
            question=row["question"],
            spans=tuple(
                CaseSpan(document=f"texts/{_named(row)}.md", quote=" ".join(sentence.split()))
                for sentence in (row["meta"]["sentences"][place] for place in selected(row))
            ),
        )
        for row in could
    ]
    return texts, cases + [
        Case(id=row["id"], question=row["question"], abstain="not in its passage") for row in could_not
    ]


def _named(row: Mapping[str, Any]) -> str:
    return hash_text(row["context"])[-12:]


def nq_mini(n: int) -> tuple[Texts, list[Case]]:
    """``n`` queries, their passages, and other passages up to PASSAGES."""
    folder = data_folder() / "retrieval" / "nq_mini"
    corpus, queries, relevant = retrieval_beir.load(folder)
    answers = {
        row["_id"]: row["metadata"]["answers"] for row in retrieval_beir._rows(folder / "queries.jsonl.gz")
    }
    chosen = [query for query in sorted(queries, key=hash_text) if relevant.get(query)][:n]
    needed = {passage for query in chosen for passage in relevant[query] if passage in corpus}
    others = [name for name in sorted(corpus, key=hash_text) if name not in needed]
    kept = [*sorted(needed), *others[: max(0, PASSAGES - len(needed))]]
    return {name: corpus[name] for name in kept}, [
        Case(id=query, question=queries[query], expected=answers[query][0] if answers[query] else "")
        for query in chosen
    ]


def financebench(n: int, held: set[str]) -> list[Case]:
    """Questions about the filings in ``held``."""
    path = data_folder() / "financebench" / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["doc_name"] in held]
    random.Random(SEED).shuffle(rows)
    return [
        Case(id=row["financebench_id"], question=row["question"], expected=row["answer"]) for row in rows[:n]
    ]


FILINGS = "FinanceBench"
SETS: dict[str, Callable[[int], tuple[Texts, list[Case]]]] = {"clapnq": clapnq, "nq_mini": nq_mini}


def measured(home: Path, texts: Texts, cases: Sequence[Case]) -> Run:
    """Evaluates a home of these texts, one document each; an existing home is reused."""
    with KnowledgeBase(Assembly(home, Config())) as knowledge_base:
        if texts and not home.is_dir():
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "texts"
                folder.mkdir()
                for name, (title, text) in texts.items():
                    flat = " ".join(text.split())
                    (folder / f"{name}.md").write_text(f"# {title}\n\n{flat}\n", encoding="utf-8")
                knowledge_base.ingest(folder)
        return evaluate_home(
            knowledge_base,
            cases,
            progress=lambda done, all_, _: print(f"{done}/{all_}", flush=True),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=30, help="questions of a set")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--filings", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="citewell-citations-") as scratch:
        homes = given.homes or Path(scratch)
        homes.mkdir(parents=True, exist_ok=True)
        for name in given.sets:
            texts, cases = SETS[name](given.n)
            keep(name, measured(homes / name, texts, cases), len(cases), len(texts), given.n)
    if given.filings:
        with KnowledgeBase(Assembly(given.filings, Config())) as knowledge_base:
            listed = knowledge_base.documents()
            held = {Path(entry.document_id).stem for entry in listed if entry.state == "indexed"}
        cases = financebench(given.n, held)
        keep(FILINGS, measured(given.filings, {}, cases), len(cases), len(held), given.n)


def keep(name: str, run: Run, questions: int, documents: int, n: int) -> None:
    """Adds the run to the page, next to earlier runs of this command on other sets."""
    path = RESULTS / "citations.json"
    sets = json.loads(path.read_text(encoding="utf-8"))["sets"] if path.is_file() else {}
    measures = {one.name: _plain(one) for one in run.measures}
    sets[name] = {
        "n": n, "questions": questions, "documents": documents, "code": code(), "config": run.key.config,
        "measures": measures,
    }  # fmt: skip
    write("citations", "Citation precision and recall, and coverage", _page(sets), {"sets": sets})


def _plain(found: Any) -> dict[str, Any]:
    return {key: getattr(found, key) for key in ("name", "value", "n", "unscored", "low", "high", "maker")}


def _page(sets: Mapping[str, Any]) -> str:
    rows = [[name, *(_told(found["measures"].get(name)) for found in sets.values())] for name in SHOWN]
    heads = ["measure"]
    heads += [
        f"{name}: {found['questions']} questions, {found['documents']} documents (`--n {found['n']}`)"
        for name, found in sets.items()
    ]
    held = "; ".join(
        f"{name}: commit `{found['code']}`, configuration `{found['config'][:19]}`"
        if "code" in found
        else f"{name}: measured before commits were named"
        for name, found in sets.items()
    )
    return f"""
`python -m benchmarks.citations --n N --filings HOME`, the defaults: extractive writer, embedded models.
95 % bootstrap intervals, followed by n. ALCE's measures are judged by the embedded verifier, not by the model
that ALCE used, so they can be compared with each other and only roughly with the published figures:
ChatGPT .74
recall and .73 precision on ASQA, the best of several re-ranked .84 and .81; commercial answer engines .52 and
.75 in a human audit. How far the verifier agrees with people: [citation agreement](citation_agreement.md).

{table(heads, rows)}

A writer that only quotes cites well by construction: what it says *is* the source. The price shows in
`coverage` and `wrongly_abstained`, which are in the same table for that reason, and in whether the quote
answers the question (`right_when_answered`), which no citation measure sees. A clapnq answer is right if it
cites a sentence that people selected for theirs; a quarter of its questions have no answer in their passage,
though another passage of the set may contain one; its written answers were among the held-out claims that the
support model was fitted on. nq_mini and FinanceBench are scored by the expected words and numbers.

The figures are for: {held}.
"""


def _told(found: Mapping[str, Any] | None) -> str:
    if found is None or found["value"] is None:
        return "not measured"
    interval = f" [{found['low']:.2f}, {found['high']:.2f}]" if found["low"] is not None else ""
    return f"{found['value']:.2f}{interval} ({found['n']})"


if __name__ == "__main__":
    main()
