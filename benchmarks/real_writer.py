"""A real language model as the writer, beside the same model with the same passages and an everyday prompt.

``python -m benchmarks.real_writer --model openai:NAME --says "what it is" [--questions 30] [--keep FILE]
[--minutes N]`` with ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` set. Half of the questions have an answer in
the articles of SQuAD 2.0 that shaped no weights, half were written by people to look as if they had. *Pass*:
ask() with the model as the writer. *Alone*: the passages that the pass retrieved, numbered, under "answer
from the sources, cite them, say so when they do not hold the answer"; what it cites is checked afterwards by
``citewell.verify``, which changes nothing of it. Results are kept in FILE as they come, and the same
command goes on.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from training.reading_pairs import Question

import citewell
from benchmarks.prose_answers import SEED, _ingest, _says, reporting
from benchmarks.reporting import interval, shown, table, write
from citewell.assembly import Assembly
from citewell.claims import PieceKind, parse_answer
from citewell.config import Config, Writer
from citewell.knowledge import KnowledgeBase
from citewell.records import Answer, Decision, Status

EVERYDAY = """Answer the question from the sources below. Cite the number of the source behind each
sentence, like [1]. If the sources do not hold the answer, say: "I cannot answer this based on the
provided sources."

{sources}

Question: {question}
Answer:"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="as in the configuration: openai:NAME")
    parser.add_argument("--says", required=True, help="what it is, for the page")
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--timeout", type=float, default=300.0)
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    asked, articles = reporting()
    chosen = _chosen(asked, given.questions)
    kept = [json.loads(line) for line in given.keep.read_text().splitlines()] if given.keep.exists() else []
    done = {row["question"] for row in kept}
    with tempfile.TemporaryDirectory(prefix="citewell-writer-") as scratch:
        home = given.keep.with_suffix(".home")
        config = Config(generator=given.model, writer=Writer(timeout_s=given.timeout))
        fresh = not home.is_dir()
        with KnowledgeBase(Assembly(home, config)) as kb, given.keep.open("a", encoding="utf-8") as out:
            if fresh:
                _ingest(kb, articles, Path(scratch) / "articles")
            for question in chosen:
                if question.question in done or time.monotonic() > until:
                    continue
                row = _row(question, kb, given.model.partition(":")[2])
                kept.append(row)
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
    _report(kept, given)


def _chosen(asked: list[Question], count: int) -> list[Question]:
    """Half with an answer, half without, in turn."""
    random.Random(SEED).shuffle(asked)
    held = [question for question in asked if question.spans][: count // 2]
    none = [question for question in asked if not question.spans][: count - count // 2]
    return [question for pair in zip(held, none, strict=False) for question in pair]


def _row(question: Question, kb: KnowledgeBase, model: str) -> dict[str, Any]:
    golds = sorted({question.passage[a:b] for a, b in question.spans or ()})
    began = time.perf_counter()
    answer = kb.ask(question.question)
    passed = time.perf_counter() - began
    sources = [passage.chunk.content for passage in answer.passages if passage.relevant][:8]
    began = time.perf_counter()
    text = _alone(question.question, sources, model) if sources else ""
    alone = time.perf_counter() - began
    return {
        "question": question.question,
        "answers": golds,
        "pass": {**_of_pass(answer, golds), "seconds": passed},
        "alone": {**_of_text(question.question, text, sources, golds), "seconds": alone},
    }


def _of_pass(answer: Answer, golds: Sequence[str]) -> dict[str, Any]:
    told = [claim for claim in answer.claims if claim.shown]
    visible = answer.decision is not Decision.ABSTAIN and bool(told)
    said = [claim.text for claim in told] if visible else []
    supported = [claim.text for claim in told if claim.verdict.status is Status.VERIFIED] if visible else []
    calls = [stage.name for stage in answer.trace.stages] if answer.trace else []
    return {
        "decision": answer.decision.value,
        "outcome": _outcome(said, golds),
        "as supported": _outcome(supported, golds),
        "claims": [
            {"text": c.text, "status": c.verdict.status.value, "failure": c.verdict.failure, "shown": c.shown}
            for c in answer.claims
        ],
        "stages": calls,
        "tokens": sum(stage.name in ("generation", "stricter retry") for stage in answer.trace.stages)
        if answer.trace
        else 0,
    }


def _of_text(question: str, text: str, sources: Sequence[str], golds: Sequence[str]) -> dict[str, Any]:
    pieces = parse_answer(text, [str(number) for number in range(1, len(sources) + 1)])
    said = [claim.text for claim in pieces.claims]
    abstained = any(piece.kind is PieceKind.ABSTENTION for piece in pieces.pieces)
    report = citewell.verify(answer=text, sources=list(sources), question=question) if said else None
    statuses = Counter(claim.verdict.status.value for claim in report.claims) if report else Counter()
    return {
        "text": text,
        "outcome": "silent" if abstained and not said else _outcome(said, golds),
        "statuses": dict(statuses),
    }


def _outcome(claims: Sequence[str], golds: Sequence[str]) -> str:
    if not claims:
        return "silent"
    return "right" if any(_says(claim, gold) for claim in claims for gold in golds) else "wrong"


def _alone(question: str, sources: Sequence[str], model: str) -> str:
    from openai import OpenAI

    listed = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(sources, 1))
    prompt = EVERYDAY.format(sources=listed, question=question)
    told = OpenAI(timeout=600.0).chat.completions.create(
        model=model, temperature=0.1, max_tokens=300, messages=[{"role": "user", "content": prompt}]
    )
    return told.choices[0].message.content or ""


def _report(rows: Sequence[dict[str, Any]], given: argparse.Namespace) -> None:
    held = [row for row in rows if row["answers"]]
    none = [row for row in rows if not row["answers"]]
    ways = (("pass", "outcome"), ("pass", "as supported"), ("alone", "outcome"))

    def rate(of: Sequence[dict[str, Any]], way: tuple[str, str], outcome: str) -> str:
        measure = interval([float(row[way[0]][way[1]] == outcome) for row in of])
        return f"{shown(measure)} ({measure['n']})"

    lines = [
        ["an answer stands there: the right words are shown", *(rate(held, way, "right") for way in ways)],
        ["an answer stands there: something else is shown", *(rate(held, way, "wrong") for way in ways)],
        ["an answer stands there: silent", *(rate(held, way, "silent") for way in ways)],
        ["none stands there: something is shown", *(rate(none, way, "wrong") for way in ways)],
        ["none stands there: silent", *(rate(none, way, "silent") for way in ways)],
    ]
    claims = [claim for row in rows for claim in row["pass"]["claims"]]
    statuses = Counter(claim["failure"] or claim["status"] for claim in claims)
    alone = sum((Counter(row["alone"]["statuses"]) for row in rows), Counter())
    seconds = {name: sorted(row[name]["seconds"] for row in rows) for name in ("pass", "alone")}
    middle = {name: values[len(values) // 2] if values else 0.0 for name, values in seconds.items()}
    body = f"""`python -m benchmarks.real_writer --model {given.model} --questions {given.questions} --keep
    FILE`:
{given.says}

{table(("question", "pass: shown", "pass: shown as verified", "alone: shown"), lines)}

Claims of the pass, as they ended: {_counted(statuses)}. Claims of the model alone, checked afterwards:
{_counted(alone)}. Median seconds: pass {middle["pass"]:.0f}, alone {middle["alone"]:.0f}, on this
processor, retrieval in the first only.

*Shown*: claims of an ANSWER or PARTIAL, those marked as without support too; *as verified*: without those.
*Right*: a shown claim holds the words of a marked answer. 95 % bootstrap intervals, n in brackets. The
questions without an answer were written by people to look as if the paragraph answered them.
"""
    write("real_writer", "A real language model as the writer", body, {"rows": list(rows)})


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


if __name__ == "__main__":
    main()
