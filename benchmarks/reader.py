"""Does the reader find the answer, and say so when there is none? `python -m benchmarks.reader [--rows N]`.

In: CITEWELL_DATA; `--rows N` most rows a set. Out: docs/measurements/reader.md and .json: exact match and
F1 over words (SQuAD's rules) on answered questions with the answer always taken, and with "no answer" where
the reader says so; and how well it tells answered from unanswered. No row shaped the weights; the groups of
sets used both ways are split by `reading_pairs`.
"""

from __future__ import annotations

import argparse
import random
import re
import string
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from training.reading_pairs import questions, reported, squad
from training.reading_tables import table_key
from training.sources import Row, load

from benchmarks.ranker import area
from benchmarks.reporting import code, interval, shown, table, write
from citewell.models.onnx.reading import OnnxReader

SEED = 5


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    passage: str
    answers: tuple[str, ...]
    answerable: bool


def kept(name: str) -> list[Asked]:
    """The reported groups of a set that is used both ways, as `reading_pairs` splits them."""
    return [
        Asked(q.question, q.passage, tuple(q.passage[a:b] for a, b in q.spans or ()), bool(q.spans))
        for q in questions(name, report=True)
    ]


def whole(name: str) -> list[Asked]:
    """A set that shaped no weights, with whole passages."""
    return [
        Asked(q.question, q.passage, tuple(q.passage[a:b] for a, b in q.spans or ()), q.spans != ())
        for row in load(name)
        for q in squad(row)
    ]


def judged_only(name: str) -> list[Asked]:
    """Answerable or not; the answers are free text, so no span is scored."""
    return [Asked(r["question"], r["context"], (), bool(r["answerable"])) for r in load(name)]


def literal(name: str) -> list[Asked]:
    """Answerable or not; spans are scored where the right choice occurs in the text word for word."""
    return [
        Asked(
            r["question"],
            r["context"],
            tuple(a["text"] for a in r["answers"] if a["start"] >= 0 and a["text"]),
            bool(r["answerable"]),
        )
        for r in load(name)
    ]


def tables() -> list[Asked]:
    """TAT-QA's questions on reported tables whose answer occurs in a cell or the text around it."""
    rows = [row for row in load("qa/tatqa.dev") if reported("qa/tatqa.dev", table_key(row))]
    return [asked for row in rows for asked in _located(row)]


def _located(row: Row) -> list[Asked]:
    found = [a["text"] for a in row["answers"] if a["start"] >= 0]
    return [Asked(row["question"], row["context"], tuple(found), True)] if found else []


SETS: dict[str, Callable[[], list[Asked]]] = {
    "SQuAD 2.0 (other articles)": lambda: kept("qa/squad2_cs224n.dev"),
    "SQuADShifts Wikipedia (other articles)": lambda: kept("qa/squadshifts_wiki.test"),
    "SubjQA dev (reviews)": lambda: whole("qa/subjqa.dev"),
    "CondaQA dev (negation)": lambda: judged_only("qa/condaqa.dev"),
    "CLAP NQ dev": lambda: judged_only("qa/clapnq.dev"),
    "QuAIL dev": lambda: literal("qa/quail.dev"),
    "QuAIL challenge": lambda: literal("qa/quail.challenge"),
    "TAT-QA (other tables): answers that stand there": tables,
}
LEFT_OUT = {
    "PolicyQA, doc2dial, QAMR, BoolQ, SQuADShifts Amazon, ConditionalQA": "shaped the weights whole",
    "TyDi QA English dev": "its file holds no answer text",
    "FeTaQA, StrategyQA": "answers are written or yes and no: no span stands for them, none is unanswerable",
}
"""Sets of the data with questions and passages that are not reported, and why."""


def words(text: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def exact(found: str, answers: tuple[str, ...]) -> float:
    return float(any(words(found) == words(answer) for answer in answers))


def overlap(found: str, answers: tuple[str, ...]) -> float:
    return max(_f1(words(found), words(answer)) for answer in answers)


def _f1(found: list[str], answer: list[str]) -> float:
    same = sum((Counter(found) & Counter(answer)).values())
    return 2 * same / (len(found) + len(answer)) if same else 0.0


def measure(rows: list[Asked], reader: OnnxReader) -> dict[str, Any]:
    """Exact match and F1 are left out (n = 0) where the set locates no answers."""
    readings = [reader.extract(row.question, [row.passage])[0] for row in rows]
    best = [
        row.passage[r.candidates[0].start : r.candidates[0].end]
        for row, r in zip(rows, readings, strict=True)
    ]
    answered = [i for i, row in enumerate(rows) if row.answers]
    truth = np.array([row.answerable for row in rows])
    answer = np.array([1.0 - r.no_answer for r in readings])
    out: dict[str, Any] = {
        "exact": interval([exact(best[i], rows[i].answers) for i in answered]),
        "f1": interval([overlap(best[i], rows[i].answers) for i in answered]),
        "any_of_five_f1": interval(
            [
                max(
                    overlap(rows[i].passage[c.start : c.end], rows[i].answers) for c in readings[i].candidates
                )
                for i in answered
            ]
        ),
        "answered_kept_at_half": interval((answer[truth] >= 0.5).astype(float)),
        "unanswered_refused_at_half": interval((answer[~truth] < 0.5).astype(float)),
    }
    if answered and not truth.all():
        out["f1_with_no_answer"] = interval(
            [
                float(answer[i] < 0.5)
                if not row.answers
                else overlap(best[i], row.answers) * (answer[i] >= 0.5)
                for i, row in enumerate(rows)
            ]
        )
    if truth.any() and not truth.all():
        out["auroc_answerable"] = area(answer, truth)
        kept, refused = (out[key]["value"] for key in ("answered_kept_at_half", "unanswered_refused_at_half"))
        out["balanced_at_half"] = (kept + refused) / 2
    out["answered"], out["unanswered"] = int(truth.sum()), int((~truth).sum())
    return out


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--rows", type=int, default=600)
    most = arguments.parse_args().rows
    reader = OnnxReader()
    command = " ".join(["python -m benchmarks.reader", *sys.argv[1:]])
    told: dict[str, Any] = {"command": command, "model": reader.maker.hash, "sets": {}}
    found, told_apart = [], []
    for name, read in SETS.items():
        rows = read()
        random.Random(SEED).shuffle(rows)
        rows = rows[:most]
        told["sets"][name] = values = measure(rows, reader)
        if values["exact"]["n"]:
            best = [shown(values[key]) for key in ("exact", "f1", "any_of_five_f1")]
            found.append([name, str(values["exact"]["n"]), *best])
        if "auroc_answerable" in values:
            told_apart.append([name, *_answerability(values)])
        print(name, flush=True)
    write(
        "reader",
        "Reader",
        _page(told, found, told_apart),
        told,
    )


def _answerability(values: dict[str, Any]) -> list[str]:
    with_f1 = "f1_with_no_answer" in values and values["exact"]["n"] == values["answered"]
    silent = values["unanswered"] / (values["answered"] + values["unanswered"])
    return [
        f"{values['answered']} / {values['unanswered']}",
        shown(values["auroc_answerable"]),
        f"{values['balanced_at_half']:.2f}",
        shown(values["answered_kept_at_half"]),
        shown(values["unanswered_refused_at_half"]),
        shown(values["f1_with_no_answer"]) if with_f1 else "not measured",
        f"{silent:.2f}" if with_f1 else "",
    ]


def _page(told: dict[str, Any], found: list[list[str]], told_apart: list[list[str]]) -> str:
    heads = ["set", "answered / unanswered", "AUROC", "balanced accuracy at 0.5", "answered kept at 0.5",
             "unanswered refused at 0.5", "F1 with no-answer at 0.5", "always refusing"]  # fmt: skip
    return "\n\n".join(
        (
            __doc__.split("\n\n", 1)[1].strip(),
            f"`{told['command']}`, weights `{told['model']}`, commit `{code()}`.",
            "## Locating the answer",
            table(["set", "n", "exact match", "F1", "best F1 of five candidates"], found),
            "## Detecting that there is no answer",
            table(heads, told_apart),
            "The threshold of 0.5 is for the reader alone; in a pass it works together with the ranker's"
            " threshold, the gate (`gate.max_no_answer`) and the verifier. Where F1 with no-answer is not"
            " above that of always refusing, the reader's no-answer at this threshold gained nothing.",
            "## Left out",
            table(["sets", "why"], [[name, why] for name, why in LEFT_OUT.items()]),
        )
    )


if __name__ == "__main__":
    main()
