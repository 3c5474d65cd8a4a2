"""What is detected in a conversation's next turn: ``python -m benchmarks.turns``.

In: ``benchmarks/turns.jsonl``, hand-written pairs of turns (rephrased, corrected, or something else), one
half for choosing the thresholds and one for the figures; real questions from public sets, neighbours about
the same text, each asking for something else.
Out: docs/measurements/turns.*: precision and recall with n, false alarms with the 95 % interval (Wilson),
and the time it takes.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.poison import wilson
from benchmarks.reporting import data_folder, table, write
from citewell.core.config import Feedback
from citewell.knowledge.feedback.implicit import Detected, correction, rephrasing
from citewell.models.onnx.embedder import OnnxEmbedder

SET = Path(__file__).with_suffix(".jsonl")
LABELS = {"rephrased_query": "rephrased", "follow_up_correction": "corrected"}
SETS = ("tatqa.dev", "squad2_cs224n.dev", "policyqa.dev", "doc2dial.dev")
MOST = 500
SAID = """`python -m benchmarks.turns`. What Citewell detects as `rephrased_query` and `follow_up_correction`
at its default thresholds (cosine {cosine}, overlap {overlap}), with the embedded embedder. The pairs were
written by hand by the author of the rules, before the rules: half for choosing (on which rules and thresholds
were adjusted), half for these figures.
They are few and in plain English, so take the recall as an upper bound.

{pairs}

False alarms on real questions: neighbouring questions about the same text, each of which asks for something
else
(at most {most} a set; doc2dial are turns of real conversations). The rules look at the two turns alone, with
no answer, which is the harder case. Not every alarm is false: the crowd workers of policyqa did ask the same
thing twice.
The words of `_COMPUTED` (percentage, average, ...) were added after a look at the first alarms of tatqa.

{alarms}

Words settle {settled} of the hand-written pairs; the others cost one call of the embedder with two questions,
{ms:.0f} ms in the median here.
"""


def main() -> None:
    embedder, settings, took = OnnxEmbedder(), Feedback(), []

    def cosine(first: str, second: str) -> float:
        began = time.perf_counter()
        one, other = embedder.embed([first, second])
        took.append((time.perf_counter() - began) * 1000)
        return float(one @ other)

    def noticed(first: str, answer: str, following: str) -> Detected | None:
        return correction(first, answer, following) or rephrasing(first, following, cosine, settings)

    pairs = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    for pair in pairs:
        found = noticed(pair["first"], pair["answer"], pair["then"])
        pair["found"] = LABELS[found.signal.value] if found else "other"
    settled, ms = len(pairs) - len(took), statistics.median(took)
    rows = []
    for part in ("choose", "test"):
        chosen = [pair for pair in pairs if pair["part"] == part]
        for label in LABELS.values():
            hits = sum(pair["found"] == label == pair["label"] for pair in chosen)
            said = sum(pair["found"] == label for pair in chosen)
            there = sum(pair["label"] == label for pair in chosen)
            rows.append(
                {"part": part, "signal": label, "n": len(chosen), "hits": hits, "said": said, "there": there}
            )
    alarms = []
    for name, questions in neighbours(data_folder()):
        wrong = sum(noticed(first, "", following) is not None for first, following in questions)
        low, high = wilson(wrong, len(questions))
        alarms.append({"set": name, "n": len(questions), "alarms": wrong, "low": low, "high": high})
    body = SAID.format(
        cosine=settings.rephrase_cosine,
        overlap=settings.rephrase_overlap,
        most=MOST,
        settled=f"{settled} of {len(pairs)}".removesuffix(f" of {len(pairs)}"),
        ms=ms,
        pairs=table(
            ("half", "signal", "pairs", "of them so", "precision", "recall"),
            [
                (
                    r["part"],
                    r["signal"],
                    str(r["n"]),
                    str(r["there"]),
                    rate(r["hits"], r["said"]),
                    rate(r["hits"], r["there"]),
                )
                for r in rows
            ],
        ),
        alarms=table(
            ("questions", "pairs", "false alarms", "95 % interval"),
            [(a["set"], str(a["n"]), str(a["alarms"]), f"{a['low']:.3f} to {a['high']:.3f}") for a in alarms],
        ),
    )
    write("turns", "Implicit feedback", body, {"pairs": rows, "alarms": alarms, "ms": ms})


def rate(hits: int, of: int) -> str:
    """``.89 (16 of 18), [.67, .97]`` with the Wilson interval."""
    if not of:
        return "nothing to count"
    low, high = wilson(hits, of)
    return f"{hits / of:.2f} ({hits} of {of}), [{low:.2f}, {high:.2f}]"


def neighbours(folder: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Pairs of consecutive questions about one text; never in the same words."""
    for name in SETS:
        about: dict[str, list[str]] = defaultdict(list)
        with gzip.open(folder / "qa" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                row: dict[str, Any] = json.loads(line)
                about[str(row["context"])].append(last_turn(row["question"]))
        yield name, pairs_of(about)
    about = defaultdict(list)
    with (folder / "financebench" / "questions.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            about[row["company"]].append(row["question"])
    yield "financebench", pairs_of(about)


def last_turn(question: str) -> str:
    """The user's latest turn in a dialogue written as ``user:... agent:... user:...``, newest first."""
    return re.split(r"\b(?:user|agent):", question)[1] if question.startswith("user:") else question


def pairs_of(about: dict[str, list[str]]) -> list[tuple[str, str]]:
    found = []
    for questions in about.values():
        unlike = list(dict.fromkeys(questions))
        found += pairwise(unlike)
    return found[:MOST]


if __name__ == "__main__":
    main()
