"""Answers to FinanceBench's shared half: ``python -m benchmarks.financebench_answers --home DIR``.

In: a home that holds the 36 filings and the 66 questions under CITEWELL_DATA. Out:
docs/measurements/financebench_answers.{md,json}: quotes equal to their source, decisions, correct by the
rule of ``benchmarks.answer_rule``, wrong answers shown as ANSWER, latency by stage. Beside it the writer
alone, given every chunk of the evidence pages: what it could do with perfect retrieval (all there is without
``--home``).
The rules of the writer were made while looking at these 66 questions (docs/log.md says so).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import citewell
from benchmarks.answer_rule import judge
from benchmarks.reporting import data_folder, interval, shown, table, write
from citewell.core.config import Chunking, Gate
from citewell.core.ports import AnswerCheck, Extractor, GenerationRequest
from citewell.core.records import Chunk, Document, Passage, Status
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.generation import ExtractiveGenerator
from citewell.knowledge.assembly import load_config
from citewell.knowledge.home import KnowledgeBase
from citewell.models.onnx.reading import OnnxReader
from citewell.questions.aspects import split_aspects
from citewell.questions.calculation.items import ITEMS, find_item
from citewell.questions.parsing import read_question
from citewell.questions.rows import text_of
from citewell.retrieval.gate import check_gate
from citewell.retrieval.quarantine import quarantine_poisoned
from citewell.retrieval.retriever import SURE
from citewell.verification.confidence.scoring import needs_arithmetic

EXCERPT = 400
NOT_KEPT = ("question", "gold", "claims", "missing", "reasons")


def ask(kb: KnowledgeBase, row: dict[str, Any]) -> dict[str, Any]:
    """One question through the whole pass."""
    begun = time.perf_counter()
    answer = kb.ask(row["question"], session_id="ses_financebench")
    told = (time.perf_counter() - begun) * 1000.0
    visible = [claim for claim in answer.claims if claim.shown]
    cited = [citation for claim in answer.claims for citation in claim.citations]
    exact = [
        kb.document(c.document_id, c.document_version).text[c.start : c.end] == c.quote
        for c in cited
        if c.start >= 0
    ]
    stages: dict[str, float] = {}
    for stage in answer.trace.stages if answer.trace else ():
        stages[stage.name] = stages.get(stage.name, 0.0) + stage.latency_ms
    return {
        "decision": answer.decision.value,
        "claims": [claim.text for claim in visible],
        "statuses": [claim.verdict.status.value for claim in answer.claims],
        "documents": sorted({citation.document_id for citation in cited}),
        "pages": [[c.document_id, c.page] for c in cited],
        "quotes": len(exact),
        "quotes_equal": sum(exact),
        "broken": sum(c.verdict.status is Status.BROKEN for c in answer.claims),
        "missing": list(answer.missing),
        "relevant": sum(passage.relevant for passage in answer.passages),
        "reasons": list(answer.confidence.reasons),
        "overall": answer.confidence.overall,
        "latency_ms": told,
        "stages_ms": stages,
    }


class Filings:
    """Documents and their chunks: those of a home, or read here from the PDF files."""

    def __init__(self, folder: Path, kb: KnowledgeBase | None) -> None:
        self._folder, self._kb = folder, kb
        self._read: dict[str, tuple[Document, list[Chunk]]] = {}

    def of(self, name: str) -> tuple[Document, list[Chunk]]:
        if name not in self._read:
            document_id = f"pdfs/{name}.pdf"
            if self._kb is not None:
                document = self._kb.document(document_id)
                chunks = self._kb._parts.index.snapshot().between(document_id, 0, len(document.text))
            else:
                data = (self._folder / f"{name}.pdf").read_bytes()
                document = read_bytes(data, document_id=document_id)
                chunks = chunk_document(document, Chunking())
            self._read[name] = document, sorted(chunks, key=lambda chunk: chunk.start_offset)
        return self._read[name]


def oracle(
    filings: Filings,
    row: dict[str, Any],
    extractor: Extractor,
    writer: ExtractiveGenerator,
    check: AnswerCheck | None,
) -> dict[str, Any]:
    """The gate and the writer on every chunk of the evidence pages."""
    document, chunks = filings.of(row["doc_name"])
    numbers = {item["evidence_page_num"] + 1 for item in row["evidence"]}
    passages = quarantine_poisoned(row["question"], _standing_on(document, chunks, numbers))
    aspects = split_aspects(row["question"])
    begun = time.perf_counter()
    gate = check_gate(row["question"], aspects, passages, extractor, Gate(), None, check)
    draft = writer.generate(
        GenerationRequest(question=row["question"], aspects=aspects, passages=tuple(passages))
    )
    quotes = [quote for claim in draft.claims for quote in claim.quotes]
    answered = bool(draft.claims)
    worked_out = any(claim.reasoning for claim in draft.claims)
    partly = bool(draft.missing) or (needs_arithmetic(row["question"]) and not worked_out)
    return {
        "decision": "ABSTAIN" if not answered else "PARTIAL" if partly else "ANSWER",
        "claims": [claim.text for claim in draft.claims],
        "documents": [document.document_id],
        "quotes": len(quotes),
        "quotes_equal": sum(document.text[q.start : q.end] == q.text for q in quotes),
        "missing": list(draft.missing),
        "gate": gate.reason,
        "latency_ms": (time.perf_counter() - begun) * 1000.0,
        "stages_ms": {},
    }


def cells(filings: Filings, row: dict[str, Any]) -> tuple[list[float], list[float]]:
    """For the sure cells of each aspect in the whole filing: whether the value of the best, and of any other,
    is a number in the human's evidence. ``with_exact_cells`` relies on this."""
    _, chunks = filings.of(row["doc_name"])
    passages = [Passage(chunk=chunk, relevant=True) for chunk in chunks]
    evidence = {n.replace(",", "") for e in row["evidence"] for n in _numbers(e["evidence_text"])}
    best, also = [], []
    for aspect in split_aspects(row["question"]):
        wanted = read_question(aspect)
        for name in wanted.operands if wanted.by_cell else ():
            for period in wanted.periods:
                found = find_item(wanted, ITEMS[name], period, passages)
                for at, answer in enumerate(a for a in found if a.score >= SURE and a.cell):
                    assert answer.cell is not None
                    value = _numbers(text_of(answer.passage, answer.cell.start, answer.cell.end))
                    (also if at else best).append(float("".join(value).replace(",", "") in evidence))
    return best, also


def _standing_on(document: Document, chunks: Sequence[Chunk], numbers: set[int]) -> list[Passage]:
    ranges = [(page.start, page.end) for page in document.pages if page.number in numbers]
    return [
        Passage(chunk=chunk, relevant=True)
        for chunk in chunks
        if any(chunk.start_offset < end and start < chunk.end_offset for start, end in ranges)
    ]


def ruled(row: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """``found`` with the rule's verdict, and how many of its numbers are in the evidence."""
    verdict = judge(str(row["answer"]), "\n".join(found["claims"]))
    evidence = {"".join(n.split(",")) for e in row["evidence"] for n in _numbers(e["evidence_text"])}
    said = [
        number for claim in found["claims"] if "…" in claim for number in _numbers(claim.rpartition("…")[2])
    ]
    in_evidence = sum("".join(number.split(",")) in evidence for number in said)
    return {
        "id": row["financebench_id"],
        "question": row["question"],
        "gold": str(row["answer"])[:EXCERPT],
        "document": row["doc_name"],
        "arithmetic": needs_arithmetic(row["question"]),
        "kind": verdict.kind,
        "correct": verdict.correct,
        "cells": len(said),
        "cells_in_evidence": in_evidence,
        **found,
    }


def _numbers(text: str) -> list[str]:
    import re

    return re.findall(r"\d[\d,]*(?:\.\d+)?", text)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    quotes = sum(row["quotes"] for row in rows)
    equal = sum(row["quotes_equal"] for row in rows)
    shown_rows = [row for row in rows if row["decision"] != "ABSTAIN"]
    full = [row for row in rows if row["decision"] == "ANSWER"]
    direct = [row for row in rows if not row["arithmetic"]]
    worked = [row for row in rows if row["arithmetic"]]
    cells = [row["cells_in_evidence"] / row["cells"] for row in rows if row["cells"]]
    own = [float(f"pdfs/{row['document']}.pdf" in row["documents"]) for row in shown_rows]
    return {
        "questions": len(rows),
        "quotes": quotes,
        "quotes equal to source": equal,
        "decisions": dict(Counter(row["decision"] for row in rows)),
        "correct": interval([float(row["correct"]) for row in rows]),
        "correct, asked for directly": interval([float(row["correct"]) for row in direct]),
        "correct of those shown": interval([float(row["correct"]) for row in shown_rows]),
        "correct of ANSWER": interval([float(row["correct"]) for row in full]),
        "wrong shown as ANSWER": sum(not row["correct"] for row in full),
        "from the right filing": interval(own),
        "cited cells that stand in the human's evidence": interval(cells),
        "arithmetic questions with an operand cited": interval([float(bool(row["cells"])) for row in worked]),
        "latency ms p50": statistics.median(row["latency_ms"] for row in rows),
        "latency ms p95": sorted(row["latency_ms"] for row in rows)[int(0.95 * (len(rows) - 1))],
        "stages ms p50": _stages(rows),
    }


def _stages(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    names = dict.fromkeys(name for row in rows for name in row["stages_ms"])
    return {
        name: statistics.median(row["stages_ms"][name] for row in rows if name in row["stages_ms"])
        for name in names
    }


def body(parts: dict[str, dict[str, Any]], makers: dict[str, str]) -> str:
    lines = [
        "66 questions over 36 filings (FinanceBench's shared half, CC BY-NC 4.0, measuring only), 95 %",
        "bootstrap intervals. " + "; ".join(f"{role}: {maker}" for role, maker in makers.items()) + ".",
        "",
        "The writer's general rules (line item names, column heads, ratios) were written while looking at",
        "these questions, so its figures are optimistic; nothing was fitted to single questions, and half of",
        "FinanceBench was not seen. *Correct* is the rule of `benchmarks/answer_rule.py`: a number equal at",
        "the human's precision, scale included, or half of the human's content words with its names. What",
        "must be worked out (a ratio, a growth) is, where all operands are found; else they are cited and it",
        "is PARTIAL. How many cited cells stand in the human's evidence is counted beside it.",
    ]
    for name, values in parts.items():
        rows = [(key, _cell(value)) for key, value in values.items() if key != "stages ms p50"]
        lines += ["", f"## {name}", "", table(("measure", "value"), rows)]
        stages = values.get("stages ms p50")
        if stages:
            lines += ["", table(("stage", "p50 ms"), [(k, f"{v:.1f}") for k, v in stages.items()])]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, dict) and "low" in value:
        return f"{shown(value)} (n {value['n']})"
    if isinstance(value, dict):
        return ", ".join(f"{key} {count}" for key, count in sorted(value.items()))
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--home", type=Path, help="a home that holds the filings; without it: the writer alone"
    )
    parser.add_argument("--part", action="store_true", help="only documents the home has; nothing written")
    parser.add_argument("--show", action="store_true", help="print every case; nothing written")
    arguments = parser.parse_args()
    folder = data_folder() / "financebench"
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    kb = citewell.open(arguments.home, config=load_config(arguments.home)) if arguments.home else None
    measured: dict[str, dict[str, Any]] = {}
    results: dict[str, list[dict[str, Any]]] = {}
    if kb is not None:
        if arguments.part:
            held = {entry.document_id for entry in kb.documents()}
            rows = [row for row in rows if f"pdfs/{row['doc_name']}.pdf" in held]
        parts = kb._parts
        extractor: Extractor = parts.extractor
        check = parts.answer_check
        makers = {"ranker": parts.ranker.maker.name, "entailer": parts.entailer.maker.name}
        results["asked"] = []
        for row in rows:
            results["asked"].append(ruled(row, ask(kb, row)))
            last = results["asked"][-1]
            print(last["decision"], last["correct"], row["question"][:90], flush=True)
        measured["The whole pass"] = summary(results["asked"])
    else:
        extractor, makers, check = OnnxReader(), {}, None
    makers["extractor"] = extractor.maker.name
    filings, writer = Filings(folder / "pdfs", kb), ExtractiveGenerator(extractor, check=check)
    results["oracle"] = [ruled(row, oracle(filings, row, extractor, writer, check)) for row in rows]
    measured["The writer alone, given the evidence pages"] = summary(results["oracle"])
    sure = [cells(filings, row) for row in rows]
    measured["Sure cells in the whole named filing"] = {
        "best of an aspect: its value stands in the evidence": interval([v for b, _ in sure for v in b]),
        "any other: its value stands in the evidence": interval([v for _, a in sure for v in a]),
    }
    text = body(measured, makers)
    if arguments.part or arguments.show:
        print(text)
        for row in results.get("asked", results["oracle"]):
            print(json.dumps(row, ensure_ascii=False)[:1500])
        return
    # The questions and human answers are not ours to copy: only their ids are kept.
    kept = {
        name: [{k: v for k, v in row.items() if k not in NOT_KEPT} for row in found]
        for name, found in results.items()
    }
    write("financebench_answers", "Answers to FinanceBench", text, {"measures": measured, "cases": kept})


if __name__ == "__main__":
    main()
