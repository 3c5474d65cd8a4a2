"""Superseded statements: are they shown as current, and is the valid one shown?

    python -m benchmarks.superseded [--part develop]

In: ``superseded.jsonl``, fifty pairs of papers in which an amendment, a newer edition, a price list, a date
of expiry or a person supersedes statements, with a question to each and to statements that stay. Its texts
are written by a large language model for this measurement; the model had written the grammar of amendments
before. Every second pair was kept from choosing and is what the page reports first. Each pair is a home of
its own; the clock stands at NOW. Out: docs/measurements/superseded.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import citewell
from benchmarks.reporting import table, write
from citewell.answering.force import NOTHING
from citewell.core.records import Answer, Decision
from citewell.evaluation.intervals import clopper_pearson

_MODELS: dict[str, Any] = {}
DATA = Path(__file__).with_suffix(".jsonl")
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
PARTS = ("report", "develop")
OUTCOMES = {
    "current": "superseded statement shown, nothing beside it",
    "told": "superseded statement shown as such, or as one side of a conflict",
    "valid": "what is valid shown, or for a deleted one that it is deleted",
    "answered": "of these, as ANSWER or PARTIAL with the valid statement",
    "refused": "refused without either",
}


class Fixed:
    def now(self) -> datetime:
        return NOW


def worlds(part: str = "") -> Iterator[dict[str, Any]]:
    for line in DATA.read_text(encoding="utf-8").splitlines():
        world = json.loads(line)
        if not part or world["part"] == part:
            yield world


def outcome(answer: Answer, old: str, valid: str) -> dict[str, bool]:
    shown = " ".join(claim.text for claim in answer.claims if claim.shown)
    sides = [side.quote for conflict in answer.conflicts for side in conflict.sides]
    told = any(old in quote for quote in sides) and answer.text != shown
    answered = bool(valid) and valid in shown
    instead = any(one.supersession is not None and old in one.sides[0].quote for one in answer.conflicts)
    found = {
        "current": old in shown and not told,
        "told": told,
        "valid": answered or (instead if not valid else any(valid in quote for quote in sides)),
        "answered": answered,
    }
    return found | {"refused": answer.decision is Decision.ABSTAIN and not (told or found["valid"])}


def ask(world: dict[str, Any], *, without: bool = False) -> Iterator[tuple[str, dict[str, bool]]]:
    """("superseded" | "stays", outcome) of each question; ``without``: supersession is unknown."""
    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder, "papers")
        papers.mkdir()
        for name, text in world["documents"].items():
            (papers / name).write_text(text, encoding="utf-8")
        with citewell.open(Path(folder, "home"), clock=Fixed()) as kb:
            parts = kb.parts
            parts.__dict__.update(_MODELS)  # loaded once for all homes
            kb.ingest(papers)
            _MODELS.update({name: getattr(parts, name) for name in ("embedder", "reading", "entailer")})
            if without:
                parts.__dict__["answering"] = dataclasses.replace(parts.answering, in_force=NOTHING)
            for asked in world["asked"]:
                yield "superseded", outcome(kb.ask(asked["question"]), asked["old"], asked["valid"])
            for asked in world["stays"]:
                answer = kb.ask(asked["question"])
                shown = " ".join(claim.text for claim in answer.claims if claim.shown)
                kept = asked["valid"].lower() in shown.lower()
                wrong = any(one.supersession for one in answer.conflicts)
                yield "stays", {"shown": kept, "struck": wrong and not kept}


def share(hits: int, n: int) -> str:
    low, high = clopper_pearson(hits, n)
    return f"{hits / n:.2f} [{low:.2f}, {high:.2f}] of {n}" if n else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--part", choices=PARTS, default="", help="prints each miss of this part alone")
    part = parser.parse_args().part
    if part:
        _print_misses(part)
        return
    counts: Counter[tuple[str, ...]] = Counter()
    for world in worlds():
        for without in (False, True):
            for of, found in ask(world, without=without):
                for scope in (world["part"], f"{world['part']} {world['kind']}"):
                    key = (scope, of, "without" if without else "with")
                    counts[(*key, "n")] += 1
                    counts.update({(*key, name): int(held) for name, held in found.items()})

    def cell(scope: str, of: str, how: str, name: str) -> str:
        key = (scope, of, how)
        return share(counts[(*key, name)], counts[(*key, "n")])

    columns = [("report", "with"), ("report", "without"), ("develop", "with")]
    rows = [
        (told, *(cell(scope, "superseded", how, name) for scope, how in columns))
        for name, told in OUTCOMES.items()
    ]
    rows += [
        (
            "statement that stays in force, shown",
            *(cell(scope, "stays", how, "shown") for scope, how in columns),
        ),
        ("the same, called superseded", *(cell(scope, "stays", how, "struck") for scope, how in columns)),
    ]
    kinds = list(dict.fromkeys(world["kind"] for world in worlds()))
    by_kind = [
        (kind, *(cell(f"report {kind}", "superseded", "with", name) for name in ("current", "told", "valid")))
        for kind in kinds
    ]
    body = f"""`python -m benchmarks.superseded`: questions to {sum(1 for _ in worlds())} pairs of papers in
which a statement is superseded by an amendment, a newer edition, a newer price list, an expiry date, the
front matter of another paper, or an informal note (which no rule can read exactly). Exact 95 % intervals. The
texts were written for this by a large language model, which had also written the grammar of amendments; the
pairs "kept" were not looked at while choosing anything. Target: at most .05 shown as current.

{table(("", "kept", "kept, supersession unknown", "for development"), rows)}

By what supersedes (pairs that were kept):

{table(("", "shown as current", "told as superseded or disputed", "valid shown"), by_kind)}

Today is {NOW:%d %B %Y} here. A price or sentence counts as shown if a shown claim contains its words; the
lines that say what is not in force are not claims."""
    write(
        "superseded",
        "Superseded statements",
        body,
        {"counts": {" | ".join(key): value for key, value in sorted(counts.items())}},
    )


def _print_misses(part: str) -> None:
    for world in worlds(part):
        results = list(ask(world))
        questions = [*world["asked"], *world["stays"]]
        for asked, (of, found) in zip(questions, results, strict=True):
            fine = found["shown"] if of == "stays" else found["valid"] and not found["current"]
            print(
                "ok  " if fine else "MISS", world["id"], world["kind"], asked["question"], found, flush=True
            )


if __name__ == "__main__":
    main()
