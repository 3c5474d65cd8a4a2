"""What a bad language model gets past the checks, what good claims it costs, and what the checks cost.

``python -m benchmarks.llm_writers [--n 40]``. No real model: a local server speaks the OpenAI and Anthropic
protocols and plays writers (``benchmarks.llm_server``). Their good claims are supported FEVER claims, written
by people about the passage; bad ones are made of them: mechanically (a quote that is nowhere, stitched, from
another source, a digit swapped), by people (refuted FEVER claims), or by hand (over-generalised). Retrieval
is a stub; writer, checker, entailer, confidence and log are the product's. In: CITEWELL_DATA. Out:
docs/measurements/llm_writers.{md,json}.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.citing import CLAIMS, compared
from benchmarks.llm_server import Asked, Reply, Said, serving
from benchmarks.overstatements import overstatements
from benchmarks.reporting import data_folder, interval, shown, table, write
from citewell.answering.answering import Answering
from citewell.answering.journal import Ask
from citewell.audit import SqliteLog
from citewell.core.config import Config, Writer
from citewell.core.environment import SystemClock
from citewell.core.identity import chunk_id
from citewell.core.ports import Extraction, Reading
from citewell.core.records import Answer, Chunk, Document, Maker, Passage, Status
from citewell.core.sentences import sentence_spans
from citewell.documents.evidence.catalogue import MemoryEvidence
from citewell.documents.text import caller_document
from citewell.generation import LanguageModelWriter
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.traces import Traces
from citewell.models.naming import language_model_named
from citewell.retrieval import Retrieved
from citewell.verification.checking import Checker
from citewell.verification.verifier import Verifier
from citewell.verification.words import overlap

SEED = 11
QUESTION = "What do the sources say?"
"""Names nothing, so that the gate's exact checks cannot refuse it: only what follows the gate is measured."""
OVERSTATEMENTS = overstatements("seen")
MECHANICAL = ("fabricates", "splices", "misattributes", "swaps digits")


@dataclass(frozen=True)
class Case:
    """Two sources, a true claim from the first, and the false claim that a writer adds."""

    sources: tuple[str, str]
    good: Said
    bad: Said | None = None


@dataclass(frozen=True)
class Outcome:
    good_lost: list[float]
    bad_through: list[float]
    calls: list[float]
    checks: list[float]
    failures: dict[str, int]


class _Stub:
    """Retrieval and reading that always find these passages; everything after them is real."""

    maker = Maker(name="stub", hash="sha256:stub")

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)

    def retrieve(self, question: str, **_: Any) -> Retrieved:
        return Retrieved(passages=self.passages, index_version="none")

    def near(self, statement: str, **_: Any) -> Retrieved:
        return Retrieved(passages=(), index_version="none")

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return [
            Reading(candidates=(Extraction(start=0, end=1, probability=0.9),), no_answer=0.1)
            for _ in passages
        ]

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        return [0.9 for _ in passages]


class Bench:
    """One log and one entailer, shared by all cases."""

    def __init__(self, folder: Path) -> None:
        parts = Assembly(folder / "home", Config())
        self.entailer = parts.entailer
        self.log = SqliteLog(folder / "audit.sqlite")
        self.traces = Traces.in_file(folder / "traces.sqlite")

    def ask(self, line: str, sources: Sequence[str | Document], question: str, settings: Writer) -> Answer:
        evidence, passages = MemoryEvidence(), []
        for number, given in enumerate(sources, 1):
            document = caller_document(f"source-{number}.txt", given) if isinstance(given, str) else given
            evidence.put(document)
            passages.append(_passage(document.document_id, document.version, document.text))
        config = Config(generator=line, writer=settings)
        stub = _Stub(passages)
        writer = LanguageModelWriter(language_model_named(line, settings), settings)
        answering = Answering(
            retriever=stub,  # type: ignore[arg-type]
            ranker=stub,
            extractor=stub,
            generator=writer,
            checker=Checker(Verifier(self.entailer, config.verification), evidence, config.verification),
            entailer=self.entailer,
            log=self.log,
            traces=self.traces,
            config=config,
            clock=SystemClock(),
            embedder="none",
            makers=(writer.maker, self.entailer.maker),
            environment={},
            pin=lambda version: None,
            escalate=None,
            composes=True,
        )
        return answering.ask(Ask(question=question))


def _passage(name: str, version: str, text: str) -> Passage:
    chunk = Chunk(
        chunk_id=chunk_id(version, 0, len(text), text),
        document_id=name,
        document_version=version,
        start_offset=0,
        end_offset=len(text),
        content=text,
    )
    return Passage(chunk=chunk, relevance=0.95, relevant=True)


# --- cases --------------------------------------------------------------------------------------


def rows(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(supported, refuted) FEVER claims with evidence of 20 to 120 words, in a seeded order."""
    with gzip.open(folder / "nli" / "fever_rte.dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        every = [json.loads(line) for line in lines]
    fit = [row for row in every if 20 <= len(row["premise"].split()) <= 120]
    random.Random(SEED).shuffle(fit)
    supported = [row for row in fit if row["label"] == "entailment"]
    return supported, [row for row in fit if row["label"] == "contradiction"]


def quote_for(claim: str, text: str, words: int = 12) -> str:
    """The words of ``text`` that a careful writer would copy for ``claim``."""
    spans = sentence_spans(text) or ((0, len(text)),)
    start, end = max(spans, key=lambda span: overlap(claim, text[span[0] : span[1]]))
    return " ".join(text[start:end].split()[:words])


def _good(row: dict[str, Any]) -> Said:
    return Said(1, quote_for(row["hypothesis"], row["premise"]), row["hypothesis"])


def cases(writer: str, supported: list[dict[str, Any]], refuted: list[dict[str, Any]], n: int) -> list[Case]:
    """``n`` cases, fewer if the data does not hold enough of a kind."""
    made: list[Case] = []
    for place, row in enumerate(supported):
        other = supported[(place + 7) % len(supported)]
        sources = (row["premise"], other["premise"])
        found = BAD[writer](row, other, refuted[place % len(refuted)])
        if found is None:
            continue
        bad, sources = found if isinstance(found, tuple) else (found, sources)
        made.append(Case(sources, _good(row), None if writer == "honest" else bad))
        if len(made) == n:
            break
    return made


def _fabricated(row: dict[str, Any], other: dict[str, Any], _: dict[str, Any]) -> Said | None:
    words = other["hypothesis"].split()
    return Said(1, "it was later confirmed that " + " ".join(words[:8]), other["hypothesis"])


def _spliced(row: dict[str, Any], other: dict[str, Any], _: dict[str, Any]) -> Said | None:
    words = row["premise"].split()
    if len(words) < 24:
        return None
    quote = " ".join([*words[:5], *words[-6:]])
    return Said(1, quote, quote[0].upper() + quote[1:].rstrip(" .") + ".")


def _misattributed(row: dict[str, Any], other: dict[str, Any], _: dict[str, Any]) -> Said | None:
    return Said(1, quote_for(other["hypothesis"], other["premise"]), other["hypothesis"])


def _swapped(row: dict[str, Any], other: dict[str, Any], _: dict[str, Any]) -> Said | None:
    match = re.search(r"\d", row["hypothesis"])
    if not match:
        return None
    digit = str((int(match.group()) + 3) % 10)
    claim = row["hypothesis"][: match.start()] + digit + row["hypothesis"][match.end() :]
    return Said(1, quote_for(row["hypothesis"], row["premise"]), claim)


def _refuted(
    row: dict[str, Any], other: dict[str, Any], refuted: dict[str, Any]
) -> tuple[Said, tuple[str, str]]:
    quote = quote_for(refuted["hypothesis"], refuted["premise"])
    return Said(2, quote, refuted["hypothesis"]), (row["premise"], refuted["premise"])


BAD: dict[str, Callable[..., Any]] = {
    "honest": lambda row, other, refuted: _good(row),
    "fabricates": _fabricated,
    "splices": _spliced,
    "misattributes": _misattributed,
    "swaps digits": _swapped,
    "contradicts": _refuted,
    "ignores the format": _refuted,
}
CHECKS = ("verification", "consistency", "conflicts", "confidence", "trace", "record")
"""The stages that accountability adds after a writer."""


def overstated() -> list[Case]:
    return [
        Case(
            (text, "Rain fell on the hills all week."),
            Said(1, quote_for(true, text), true),
            Said(1, quote_for(false, text), false),
        )
        for text, true, false in OVERSTATEMENTS
    ]


# --- measuring ----------------------------------------------------------------------------------


def play(bench: Bench, writer: str, made: Sequence[Case], line: str, settings: Writer) -> Outcome:
    """Plays every case once. The writer is stubborn: the stricter retry gets the same answer."""
    lost: list[float] = []
    through: list[float] = []
    calls: list[float] = []
    checks: list[float] = []
    failures: dict[str, int] = {}
    for case in made:
        said = [case.good, *([case.bad] if case.bad else [])]
        prose = " ".join(s.claim for s in said) if writer == "ignores the format" else None
        with serving(lambda asked, before, said=said, prose=prose: Reply(said, text=prose)) as server:  # type: ignore[misc]
            os.environ.update(server.environment())
            answer = bench.ask(line, case.sources, QUESTION, settings)
            calls.append(len(server.asked))
        stages = answer.trace.stages if answer.trace else ()
        checks.append(sum(stage.latency_ms for stage in stages if stage.name in CHECKS))
        lost.append(float(not stands(case.good.claim, answer)))
        if case.bad:
            through.append(float(stands(case.bad.claim, answer)))
            for claim in answer.claims:
                if claim.verdict.failure and same(claim.text, case.bad.claim):
                    name = claim.verdict.failure.value
                    failures[name] = failures.get(name, 0) + 1
                    break
    return Outcome(lost, through, calls, checks, failures)


def stands(claim: str, answer: Answer) -> bool:
    """Whether every part of the claim is shown as verified. A withheld answer shows nothing."""
    # A lie may differ from its true twin by one digit: similarity counts only if nothing matches exactly.
    parts = [c for c in answer.claims if _bare(c.text) == _bare(claim)] or [
        c for c in answer.claims if same(c.text, claim)
    ]
    return bool(parts) and all(c.shown and c.verdict.status is Status.VERIFIED for c in parts)


def same(one: str, other: str) -> bool:
    a, b = _bare(one), _bare(other)
    return a in b or b in a or overlap(one, other) >= 0.9


def _bare(text: str) -> str:
    return "".join(ch for ch in text.lower() if ch.isalnum())


def provider_trouble(bench: Bench, case: Case) -> list[list[str]]:
    """Time-outs, rate limits and errors: calls, seconds, and whether an answer still came."""
    settings = Writer(timeout_s=1.0, retries=2)
    busy = {"retry-after-ms": "50"}
    plays: dict[str, Callable[[Asked, int], Reply]] = {
        "answers at once": lambda asked, before: Reply((case.good,)),
        "one byte at a time": lambda asked, before: Reply((case.good,), piece=1, chop=1),
        "429 twice": lambda asked, before: (
            Reply((case.good,)) if before > 1 else Reply(status=429, headers=busy)
        ),
        "500 once": lambda asked, before: Reply((case.good,)) if before else Reply(status=500, headers=busy),
        "stalls once": lambda asked, before: Reply((case.good,), stall_s=0 if before else 3),
        "500 for ever": lambda asked, before: Reply(status=500, headers=busy),
    }
    told = []
    for name, script in plays.items():
        with serving(script) as server:
            os.environ.update(server.environment())
            began = time.perf_counter()
            try:
                outcome = bench.ask("openai:scripted", case.sources, QUESTION, settings).decision.value
            except Exception as error:  # noqa: BLE001 - what reached the caller is the measurement
                outcome = type(error).__name__
            told.append([name, str(len(server.asked)), f"{time.perf_counter() - began:.1f}", outcome])
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=40, help="cases a writer")
    arguments = parser.parse_args()
    supported, refuted = rows(data_folder())
    values: dict[str, Any] = {"n": arguments.n, "writers": {}}
    through: dict[str, list[float]] = {}
    lines: list[list[str]] = []
    with tempfile.TemporaryDirectory(prefix="citewell-writers-") as folder:
        bench = Bench(Path(folder))
        for writer in (*BAD, "over-generalises"):
            made = (
                overstated()
                if writer == "over-generalises"
                else cases(writer, supported, refuted, arguments.n)
            )
            line = "anthropic:scripted" if len(lines) % 2 else "openai:scripted"
            found = play(bench, writer, made, line, Writer())
            through[writer] = found.bad_through
            measures = {
                "bad_through": interval(found.bad_through),
                "good_lost": interval(found.good_lost),
                "calls": statistics.fmean(found.calls),
                "checks_ms": statistics.median(found.checks),
                "failures": found.failures,
            }
            values["writers"][writer] = measures
            named = ", ".join(f"{name} {count}" for name, count in sorted(found.failures.items()))
            lines.append(
                [
                    writer,
                    line.partition(":")[0],
                    str(len(made)),
                    shown(measures["bad_through"]),
                    shown(measures["good_lost"]),
                    f"{measures['calls']:.1f}",
                    f"{measures['checks_ms']:.0f}",
                    named or "-",
                ]
            )
            print(lines[-1], flush=True)
        ways = compared(bench, supported[arguments.n :], arguments.n // 2, "openai:scripted", QUESTION)
        print({way: {name: interval(found) for name, found in lists.items()} for way, lists in ways.items()})
        trouble = provider_trouble(bench, cases("honest", supported, refuted, 1)[0])
    mechanical = sum(int(sum(through[name])) for name in MECHANICAL)
    values["mechanical_through"] = mechanical
    heads = [
        "writer",
        "protocol",
        "n",
        "bad shown as supported",
        "good lost",
        "calls",
        "checks ms (median)",
        "named",
    ]
    values["citing"] = {
        way: {name: interval(found) for name, found in lists.items()} for way, lists in ways.items()
    }
    compared_rows = [
        [way, str(found["covered"]["n"]), *(shown(found[name]) for name in ("covered", "right", "generated"))]
        for way, found in values["citing"].items()
    ]
    citing_heads = ["cited", "claims", "coverage", "precision", "the writer's own"]
    body = f"""
`python -m benchmarks.llm_writers --n {arguments.n}`. No real model writes here
([real_writer](real_writer.md) is one): a local server speaks the real protocols and plays the writers. Good
claims are supported FEVER claims, written by people about the passage, so that "good lost" is the verifier's
miss rate on paraphrase, abstentions included; bad ones are named by the row. Every writer is stubborn: after
the stricter prompt it repeats itself, so 2 calls mean one retry. "Bad shown as supported" counts bad
claims that are shown as VERIFIED. Mechanical lies ({", ".join(MECHANICAL)}) that got through:
**{mechanical}**.

{table(heads, lines)}

The passages are short and there are two of them. Quotes are checked by exact code; what the entailer was
trained on is on its card. The {len(OVERSTATEMENTS)} over-generalised claims are our own.

## Cited while writing and afterwards

The same {arguments.n // 2} answers of {CLAIMS} honest claims over {2 * CLAIMS} passages, half of them the
ones most like the claims in words. Coverage: claims that are verified and cited. Precision: documents cited
for them that are the one people judged the claim on; another may say it too, so it is a lower bound. The last
column: citations that the writer committed to itself; the others were assigned or corrected by entailment and
are marked `post-hoc`.

{table(citing_heads, compared_rows)}

## When the provider is in trouble

Time-out 1 s, two retries.

{table(["provider", "calls", "seconds", "outcome"], trouble)}
"""
    write("llm_writers", "Language models as writers", body, values)


if __name__ == "__main__":
    main()
