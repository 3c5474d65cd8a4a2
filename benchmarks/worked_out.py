"""Arithmetic over tables: ``python -m benchmarks.worked_out``.

In: the questions of TAT-QA's development set whose answer is worked out (CC BY 4.0), each with its table.
Out: docs/measurements/worked_out.{md,json}: how many get a result, how many of those are the human's at the
human's precision, and how many the checker proves. The table is written as CSV, its head rows joined into
one, and read by the CSV reader; the writer gets every chunk of it and nothing else, so this measures how
question and table are read, not retrieval. No model takes part: where exact code has no result, none is
counted.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.reporting import data_folder, interval, shown, table, write
from citewell.core.config import Chunking
from citewell.core.identity import hash_text
from citewell.core.ports import GenerationRequest, Reading
from citewell.core.records import DraftClaim, Maker, Passage, Status
from citewell.documents.chunking import chunk_document
from citewell.documents.reading import read_bytes
from citewell.generation import ExtractiveGenerator
from citewell.questions.aspects import split_aspects
from citewell.verification.checking.citations import ResolvedCitation
from citewell.verification.checking.judging import check_arithmetic

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SCALES = (Decimal(1), Decimal(1_000), Decimal(1_000_000), Decimal(1_000_000_000))


class Silent:
    """An extractor that finds nothing, so that any answer comes from exact code."""

    maker = Maker(name="silent", hash=hash_text("silent"))

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [Reading(candidates=(), no_answer=1.0) for _ in passages]


def rows(folder: Path) -> list[dict[str, Any]]:
    """The questions that need calculation and have a table."""
    with gzip.open(folder / "qa" / "tatqa.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [
        row for row in found if row["meta"].get("answer_type") == "arithmetic" and row["meta"].get("table")
    ]


def passages(row: dict[str, Any]) -> tuple[Passage, ...]:
    """The chunks of the row's table, read from CSV."""
    grid = [[" ".join(cell.split()) for cell in line] for line in row["meta"]["table"]]
    first = next((at for at, line in enumerate(grid) if line[0] and any(map(_figure, line[1:]))), 1)
    out = io.StringIO()
    csv.writer(out).writerows([_heads(grid[:first]), *grid[first:]])
    document = read_bytes(out.getvalue().encode(), document_id=f"{row['id']}.csv")
    return tuple(Passage(chunk=chunk, relevant=True) for chunk in chunk_document(document, Chunking()))


def _figure(cell: str) -> bool:
    return bool(_NUMBER.search(cell)) and not re.fullmatch(r"(?:19|20)\d\d", cell.strip())


def _heads(lines: list[list[str]]) -> list[str]:
    """One head per column; a head that spans columns stands in the first of them."""
    width = max((len(line) for line in lines), default=1)
    heads = []
    for column in range(width):
        parts = [line[column] for line in lines if column < len(line) and line[column]]
        heads.append(" ".join(parts) or ("" if column else "item"))
    return [heads[0] or "item", *heads[1:]]


def judged(row: dict[str, Any], writer: ExtractiveGenerator) -> dict[str, Any]:
    """What the writer calculates for ``row``, compared with the human's number and checked."""
    given = passages(row)
    question = row["question"]
    draft = writer.generate(
        GenerationRequest(question=question, aspects=split_aspects(question), passages=given)
    )
    results = [claim for claim in draft.claims if claim.reasoning]
    told = {"id": row["id"], "question": question, "derivation": row["meta"].get("derivation", "")}
    if not results:
        return {**told, "result": ""}
    claim = results[-1]
    gold = str(row["answers"][0]["text"])
    return {
        **told,
        "result": claim.text,
        "gold": gold,
        "right": _equal(gold, claim.text.rpartition(" = ")[2]),
        "proven": _proven(claim, given, question),
    }


def _proven(claim: DraftClaim, given: Sequence[Passage], question: str) -> bool:
    by_id = {passage.chunk.chunk_id: passage for passage in given}
    cited = [
        ResolvedCitation(
            quote=quote, passage=by_id[quote.source], spans=((quote.start or 0, quote.end or 0),)
        )
        for quote in claim.quotes
    ]
    verdict = check_arithmetic(claim, cited, question)
    return verdict is not None and verdict.status is Status.VERIFIED


def _equal(gold: str, result: str) -> bool:
    """Equal at the digits that the human gives, at any scale; signs must agree."""
    said, match = re.fullmatch(r"(\u2212?)(\d[\d,]*(?:\.\d+)?)(%?)", result.strip()), _NUMBER.search(gold)
    if said is None or match is None:
        return False
    value = Decimal(said[2].replace(",", "")) * (-1 if said[1] else 1) / (100 if said[3] else 1)
    target = Decimal(match.group().replace(",", ""))
    if gold.lstrip().startswith(("-", "(")) != (value < 0) and value:
        return False
    percent = "percent" in gold or "%" in gold
    step = Decimal(1).scaleb(-len(match.group().partition(".")[2]))
    worth = abs(value) * 100 if percent else abs(value)
    slack = step / 2 + (Decimal("0.005") if percent else 0)
    return any(abs(worth / scale - target) <= slack for scale in _SCALES) or any(
        abs(worth * scale - target) <= slack for scale in _SCALES[1:]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=0, help="print so many wrong results and so many without")
    arguments = parser.parse_args()
    writer = ExtractiveGenerator(Silent())
    cases = [judged(row, writer) for row in rows(data_folder())]
    made = [case for case in cases if case["result"]]
    measures = {
        "questions with a result": interval([float(bool(case["result"])) for case in cases]),
        "of the results: the human's number": interval([float(case["right"]) for case in made]),
        "of the results: proven by the checker": interval([float(case["proven"]) for case in made]),
        "of all questions: the human's number": interval([float(case.get("right", False)) for case in cases]),
    }
    kinds = Counter(case["result"].split(" ")[0] for case in made)
    for case in [case for case in made if not case["right"]][: arguments.show]:
        print("WRONG", case["question"], "|", case["gold"], "|", case["derivation"], "|", case["result"])
    for case in [case for case in cases if not case["result"]][: arguments.show]:
        print("NONE", case["question"], "|", case["derivation"])
    lines = [[name, shown(measure), str(measure["n"])] for name, measure in measures.items()]
    body = f"""`python -m benchmarks.worked_out`: TAT-QA's development set, questions whose answer is
calculated, each with its own table as CSV. No model is used, and nothing is retrieved.

{table(("measure", "value", "n"), lines)}

*The human's number*: equal at the digits that the human gives, sign included, at any scale word ("-94
million" where the table says 680 and 774). *Proven*: the checker finds every operand in a cited cell of
that name and period and calculates the same. A proven result that differs from the human's is correct
arithmetic on another reading of the question (the share where the human gave the difference, an expense with
its printed sign).

The wrong results of a first run were read and two kinds of them fixed (a row whose name says more than a line
item's; a change of a line item that is not growth), so the share that is right is a little optimistic.
Questions without a result were not examined, except for ten whose periods were cut out wrongly.
"""
    write(
        "worked_out",
        "Arithmetic over tables",
        body,
        {"measures": measures, "first words": dict(kinds), "cases": cases},
    )


if __name__ == "__main__":
    main()
