"""Answers to FinanceBench's shared half: ``python -m benchmarks.financebench_answers --home DIR``.

In: a home that holds the 36 filings and the 66 questions under CITEWELL_DATA. Out:
docs/measurements/financebench_answers.{md,json}: quotes equal to their source, decisions, correct by the
rule of ``benchmarks.answer_rule``, wrong answers shown as ANSWER, latency by stage. With ``--oracle`` the
writer alone is given every chunk of the evidence pages: what it could do with perfect retrieval.
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
from citewell.aspects import split_aspects
from citewell.assembly import load_config
from citewell.confidence.arithmetic import needs_arithmetic
from citewell.gate import check_gate
from citewell.generation import ExtractiveGenerator
from citewell.knowledge import KnowledgeBase
from citewell.matching.cells import find_item, text_of
from citewell.matching.line_items import ITEMS
from citewell.matching.questions import operands, read_question
from citewell.poison import set_poison_aside
from citewell.ports import Extractor, GenerationRequest
from citewell.records import Document, Passage, Status
from citewell.retrieval.exact import SURE

EXCERPT = 400


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


def oracle(
    kb: KnowledgeBase, row: dict[str, Any], extractor: Extractor, writer: ExtractiveGenerator
) -> dict[str, Any]:
    """The gate and the writer with every chunk of the evidence pages."""
    document = kb.document(f"pdfs/{row['doc_name']}.pdf")
    numbers = {item["evidence_page_num"] + 1 for item in row["evidence"]}
    passages = set_poison_aside(row["question"], _standing_on(kb, document, numbers))
    aspects = split_aspects(row["question"])
    begun = time.perf_counter()
    gate = check_gate(row["question"], aspects, passages, extractor, kb.config.gate)
    draft = writer.generate(
        GenerationRequest(question=row["question"], aspects=aspects, passages=tuple(passages))
    )
    quotes = [quote for claim in draft.claims for quote in claim.quotes]
    answered = bool(draft.claims)
    partly = bool(draft.missing) or needs_arithmetic(row["question"])
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


def cells(kb: KnowledgeBase, row: dict[str, Any]) -> tuple[list[float], list[float]]:
    """Sure cells of each aspect in the whole filing: is the value of the best, of any other, a number of the
    human's evidence? What ``retrieval/exact.py`` stands on."""
    document = kb.document(f"pdfs/{row['doc_name']}.pdf")
    chunks = kb._parts.index.snapshot().between(document.document_id, 0, len(document.text))
    passages = [Passage(chunk=chunk, relevant=True) for chunk in chunks]
    evidence = {n.replace(",", "") for e in row["evidence"] for n in _numbers(e["evidence_text"])}
    best, also = [], []
    for aspect in split_aspects(row["question"]):
        wanted = read_question(aspect)
        for name in operands(wanted) if wanted.by_cell else ():
            for period in wanted.periods:
                found = find_item(wanted, ITEMS[name], period, passages)
                for at, answer in enumerate(a for a in found if a.score >= SURE and a.cell):
                    assert answer.cell is not None
                    value = _numbers(text_of(answer.passage, answer.cell.start, answer.cell.end))
                    (also if at else best).append(float("".join(value).replace(",", "") in evidence))
    return best, also


def _standing_on(kb: KnowledgeBase, document: Document, numbers: set[int]) -> list[Passage]:
    ranges = [(page.start, page.end) for page in document.pages if page.number in numbers]
    chunks = kb._parts.index.snapshot().between(document.document_id, 0, len(document.text))
    return [
        Passage(chunk=chunk, relevant=True)
        for chunk in sorted(chunks, key=lambda chunk: chunk.start_offset)
        if any(chunk.start_offset < end and start < chunk.end_offset for start, end in ranges)
    ]


def ruled(row: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """``found`` with what the rule says of it, and whether its numbers are the evidence's."""
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
        "the human's precision, scale included, or half of the human's content words with its names. An",
        "answer that must be worked out (a ratio, a growth) is never correct by this rule: its operands are",
        "cited and it is PARTIAL; how many cited cells stand in the human's evidence is counted instead.",
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
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--oracle", action="store_true", help="the writer alone, on the evidence pages")
    parser.add_argument("--part", action="store_true", help="only documents the home has; nothing written")
    arguments = parser.parse_args()
    path = data_folder() / "financebench" / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with citewell.open(arguments.home, config=load_config(arguments.home)) as kb:
        parts = kb._parts
        if arguments.part:
            held = {entry.document_id for entry in kb.documents()}
            rows = [row for row in rows if f"pdfs/{row['doc_name']}.pdf" in held]
        makers = {
            "ranker": parts.ranker.maker.name,
            "extractor": parts.extractor.maker.name,
            "entailer": parts.entailer.maker.name,
        }
        writer = ExtractiveGenerator(parts.extractor)
        given = [ruled(row, oracle(kb, row, parts.extractor, writer)) for row in rows]
        measured = {"The writer alone, given the evidence pages": summary(given)}
        results = {"oracle": given}
        if not arguments.oracle:
            asked = []
            for row in rows:
                asked.append(ruled(row, ask(kb, row)))
                print(asked[-1]["decision"], asked[-1]["correct"], row["question"][:90], flush=True)
            measured = {"The whole pass": summary(asked), **measured}
            results["asked"] = asked
        sure = [cells(kb, row) for row in rows]
    measured["Sure cells in the whole named filing"] = {
        "best of an aspect: its value stands in the evidence": interval([v for b, _ in sure for v in b]),
        "any other: its value stands in the evidence": interval([v for _, a in sure for v in a]),
    }
    text = body(measured, makers)
    if arguments.part or arguments.oracle:
        print(text)
        for row in given if arguments.oracle else asked:
            print(json.dumps(row, ensure_ascii=False)[:1500])
        return
    # The questions and human answers are not ours to copy: only their ids are kept.
    kept = {
        name: [
            {k: v for k, v in row.items() if k not in ("question", "gold", "claims", "missing")}
            for row in found
        ]
        for name, found in results.items()
    }
    write("financebench_answers", "Answers to FinanceBench", text, {"measures": measured, "cases": kept})


if __name__ == "__main__":
    main()
