"""A real language model as the writer, beside the same model with the same passages and an everyday prompt.

``python -m benchmarks.real_writer --model openai:NAME --says "what it is" [--questions 30] [--keep FILE]
[--forms auto grammar] [--minutes N]`` with ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` set. Half of the
questions have an answer in the articles of SQuAD 2.0 that shaped no weights, half were written by people to
look as if they had.

*Pass*: ask() with the model as the writer, in each form of prompt named ("grammar" is GBNF here, which
llama.cpp takes). *Alone*: the passages that the pass retrieved, numbered, under "answer from the sources,
cite them, say so when they do not hold the answer"; what it cites is checked afterwards by
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
from citewell.core.config import Config, Writer
from citewell.core.records import Answer, Decision, Status
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase
from citewell.verification.claims import PieceKind, parse_answer

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
    parser.add_argument("--forms", nargs="+", default=["auto"], help="as in the configuration: [writer] form")
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--timeout", type=float, default=300.0)
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    asked, articles = reporting()
    chosen = _chosen(asked, given.questions)
    kept = [json.loads(line) for line in given.keep.read_text().splitlines()] if given.keep.exists() else []
    done = {(row["question"], row["form"]) for row in kept}
    home = given.keep.with_suffix(".home")
    for form in given.forms:
        writer = Writer(timeout_s=given.timeout, form=form, dialect="gbnf")
        fresh = not home.is_dir()
        with (
            tempfile.TemporaryDirectory(prefix="citewell-writer-") as scratch,
            KnowledgeBase(Assembly(home, Config(generator=given.model, writer=writer))) as kb,
            given.keep.open("a", encoding="utf-8") as out,
        ):
            if fresh:
                _ingest(kb, articles, Path(scratch) / "articles")
            for question in chosen:
                if (question.question, form) in done or time.monotonic() > until:
                    continue
                row = {"form": form, **_passed(question, kb)}
                sources = row.pop("sources")
                if form == given.forms[0]:
                    row["alone"] = _alone(question, sources, given.model.partition(":")[2])
                kept.append(row)
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()
    _report(kept, given)


def _chosen(asked: list[Question], count: int) -> list[Question]:
    """Half with an answer, half without, alternating."""
    random.Random(SEED).shuffle(asked)
    held = [question for question in asked if question.spans][: count // 2]
    none = [question for question in asked if not question.spans][: count - count // 2]
    return [question for pair in zip(held, none, strict=False) for question in pair]


def _passed(question: Question, kb: KnowledgeBase) -> dict[str, Any]:
    golds = _golds(question)
    began = time.perf_counter()
    answer = kb.ask(question.question)
    seconds = time.perf_counter() - began
    return {
        "question": question.question,
        "answers": golds,
        "pass": {**_of_pass(answer, golds), "seconds": seconds},
        "sources": [passage.chunk.content for passage in answer.passages if passage.relevant][:8],
    }


def _golds(question: Question) -> list[str]:
    return sorted({question.passage[a:b] for a, b in question.spans or ()})


def _alone(question: Question, sources: Sequence[str], model: str) -> dict[str, Any]:
    began = time.perf_counter()
    text = _asked(question.question, sources, model) if sources else ""
    seconds = time.perf_counter() - began
    return {**_of_text(question.question, text, sources, _golds(question)), "seconds": seconds}


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


def _asked(question: str, sources: Sequence[str], model: str) -> str:
    from openai import OpenAI

    listed = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(sources, 1))
    prompt = EVERYDAY.format(sources=listed, question=question)
    told = OpenAI(timeout=600.0).chat.completions.create(
        model=model, temperature=0.1, max_tokens=300, messages=[{"role": "user", "content": prompt}]
    )
    return told.choices[0].message.content or ""


def _report(rows: Sequence[dict[str, Any]], given: argparse.Namespace) -> None:
    columns: dict[str, list[tuple[bool, str]]] = {}  # whether there is an answer, and the outcome
    told: list[str] = []
    for form in given.forms:
        of = [row for row in rows if row["form"] == form]
        for name, key in (("shown", "outcome"), ("shown as verified", "as supported")):
            columns[f"pass, {form}: {name}"] = [(bool(row["answers"]), row["pass"][key]) for row in of]
        claims = [claim for row in of for claim in row["pass"]["claims"]]
        ended = Counter(claim["failure"] or claim["status"] for claim in claims)
        told.append(f"Claims of the pass ({form}), as they ended: {_counted(ended)}; {_seconds(of, 'pass')}.")
    alone = [row for row in rows if "alone" in row]
    columns["alone: shown"] = [(bool(row["answers"]), row["alone"]["outcome"]) for row in alone]
    statuses = sum((Counter(row["alone"]["statuses"]) for row in alone), Counter())
    told.append(
        f"Claims of the model alone, checked afterwards: {_counted(statuses)}; {_seconds(alone, 'alone')}."
    )

    def rate(of: Sequence[tuple[bool, str]], held: bool, outcome: str) -> str:
        measure = interval([float(found == outcome) for stands, found in of if stands is held])
        return f"{shown(measure)} ({measure['n']})"

    lines = [
        [says, *(rate(of, held, outcome) for of in columns.values())]
        for says, held, outcome in (
            ("an answer stands there: the right words are shown", True, "right"),
            ("an answer stands there: something else is shown", True, "wrong"),
            ("an answer stands there: silent", True, "silent"),
            ("none stands there: something is shown", False, "wrong"),
            ("none stands there: silent", False, "silent"),
        )
    ]
    body = f"""`python -m benchmarks.real_writer --model {given.model} --forms {" ".join(given.forms)}
    --questions {given.questions} --keep FILE`:
{given.says}

{table(("question", *columns), lines)}

{" ".join(told)} On this processor; retrieval is in the seconds of the pass only.

*Shown*: claims of an ANSWER or PARTIAL, those marked as without support too; *as verified*: without those.
*Right*: a shown claim contains the words of a marked answer. 95 % bootstrap intervals, n in brackets. The
questions without an answer were written by people to look as if the paragraph answered them.
"""
    write("real_writer", "A real language model as the writer", body, {"rows": list(rows)})


def _seconds(rows: Sequence[dict[str, Any]], way: str) -> str:
    values = sorted(row[way]["seconds"] for row in rows)
    return f"median {values[len(values) // 2] if values else 0.0:.0f} seconds"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


if __name__ == "__main__":
    main()
