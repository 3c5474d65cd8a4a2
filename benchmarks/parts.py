"""Questions of several parts, answers with links, and true claims beside the point, over sixty short texts.

    python -m benchmarks.parts [--rows N]

In: ``benchmarks/batteries/parts.jsonl``, written by a large language model (benchmarks/batteries/README.md)
and kept for reporting: nothing is fitted to it or chosen on it. All texts stand in one home. Out:
docs/measurements/parts: every part shown, the missing one named; invented links caught by
``citewell.verify``; what becomes of a scripted writer's true claim that does not answer the question.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import citewell
from benchmarks.batteries import RIGHT, lines, share, shows, words
from benchmarks.llm_server import Asked, Reply, serving
from benchmarks.llm_writers import quote_for
from benchmarks.reporting import table, write
from citewell.core.config import Config, Writer
from citewell.core.records import Answer, Decision, Status
from citewell.core.sentences import sentence_spans

Part = tuple[str, str | None]
"""A word of the question that identifies the part, and the words expected; None where no text has them."""
Case = tuple[dict[str, Any], Any]
"""A text, and one of its rows."""


def cases(texts: Sequence[dict[str, Any]], name: str, most: int) -> list[Case]:
    """At most ``most`` rows of a battery, in an order that depends on each row alone."""
    found = [(text, row) for text in texts for row in text[name]]
    return sorted(found, key=lambda case: hashlib.sha256(str(case[1]).encode()).digest())[:most]


def in_a_home(texts: Sequence[dict[str, Any]], config: Config | None, use: Callable[[Any], None]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder, "papers")
        papers.mkdir()
        for text in texts:
            (papers / text["name"]).write_text(text["text"], encoding="utf-8")
        with citewell.open(Path(folder, "home"), config=config) as kb:
            kb.ingest(papers)
            use(kb)


def named(key: str, answer: Answer) -> bool:
    """Whether one of the parts the answer reports missing is the one that ``key`` identifies."""
    return any(set(words(key)) <= set(words(missing)) for missing in answer.missing)


def told(parts: Sequence[Part], answer: Answer) -> Counter[str]:
    """What the answer to one question counts as; each count comes with its total."""
    standing = [expected for _, expected in parts if expected]
    absent = [key for key, expected in parts if not expected]
    withheld = answer.decision is Decision.ABSTAIN
    shown = 0 if withheld else sum(shows(answer.text, expected) for expected in standing)
    counts: Counter[str] = Counter({"parts": len(standing), "parts shown": shown})
    if not standing:
        return counts + Counter({"none": 1, "none abstained": withheld})
    counts += Counter({"standing": 1, "standing abstained": withheld})
    if absent:
        missed = sum(named(key, answer) for key in absent) if not withheld else 0
        hidden = answer.decision is Decision.ANSWER
        return counts + Counter({"absent": len(absent), "absent named": missed, "some": 1, "hidden": hidden})
    whole = shown == len(standing)
    for kind in ("all", f"all of {len(parts)}"):
        counts += Counter({kind: 1, f"{kind} complete": whole})
    return counts


def questions(texts: Sequence[dict[str, Any]], most: int) -> Counter[str]:
    counts: Counter[str] = Counter()

    def use(kb: Any) -> None:
        for _, row in cases(texts, "questions", most):
            counts.update(told(row["parts"], kb.ask(row["question"])))

    in_a_home(texts, None, use)
    return counts


def links(texts: Sequence[dict[str, Any]], most: int) -> Counter[str]:
    """Answers with stated and invented links, and how many pass: they make claims, and all are verified."""
    counts: Counter[str] = Counter()
    for text, (answer, stated) in cases(texts, "links", most):
        report = citewell.verify(answer=f"{answer} [1]", sources=[text["text"]])
        passed = bool(report.claims) and all(c.verdict.status is Status.VERIFIED for c in report.claims)
        kind = "stated" if stated else "invented"
        counts += Counter({kind: 1, f"{kind} passed": passed})
    return counts


def answering(texts: Sequence[dict[str, Any]], most: int) -> list[tuple[dict[str, Any], str, list[str]]]:
    """The control: two-part questions with the very sentences that answer them."""
    found = []
    for text, row in cases(texts, "questions", len(texts) * 9):
        sentences = [text["text"][a:b] for a, b in sentence_spans(text["text"])]
        told = [next((s for s in sentences if e and shows(s, e)), "") for _, e in row["parts"]]
        if len(told) == 2 and all(told):
            found.append((text, row["question"], told))
    return found[:most]


def written(texts: Sequence[dict[str, Any]], most: int) -> Counter[str]:
    """Decisions on a scripted writer's answers: true claims beside the point, and the control."""
    beside = [(text, question, [claim]) for text, (question, claim) in cases(texts, "beside", most)]
    counts: Counter[str] = Counter()
    now: dict[str, Any] = {}

    def play(asked: Asked, before: int) -> Reply:
        claims = []
        for part, claim in enumerate(now["claims"], 1):
            quote = quote_for(claim, now["text"], words=30)
            sources = [n for n, source in enumerate(asked.sources, 1) if quote in source]
            evidence = [{"source": f"SOURCE_{n}", "quote": quote} for n in sources[:1]]
            claims.append(
                {"evidence": evidence, "kind": "cited", "reasoning": "", "part": part, "claim": claim}
            )
        return Reply(text=json.dumps({"claims": claims, "missing": []}))

    def use(kb: Any) -> None:
        for kind, made in (("beside", beside), ("answering", answering(texts, most))):
            for text, question, claims in made:
                now.update(text=text["text"], claims=claims)
                decision = kb.ask(question).decision
                counts.update(Counter({kind: 1, f"{kind} {decision}": 1}))

    with serving(play) as server:
        os.environ.update(server.environment())
        in_a_home(texts, Config(generator="openai:scripted", writer=Writer(timeout_s=20, retries=1)), use)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=10_000, help="at most so many of each battery")
    most = parser.parse_args().rows
    texts = list(lines("parts.jsonl"))
    asked, linked, by_writer = questions(texts, most), links(texts, most), written(texts, most)

    def of(counts: Counter[str], hits: str, n: str) -> str:
        return share(counts[hits], counts[n]) if counts[n] else "none in so few rows"

    linked["invented caught"] = linked["invented"] - linked["invented passed"]
    rows = [
        ("every part shown, where all stand there", of(asked, "all complete", "all"), ".75"),
        *(
            (f"of these, questions of {n} parts", of(asked, f"all of {n} complete", f"all of {n}"), "")
            for n in (2, 3, 4)
        ),
        ("parts that stand there and are shown", of(asked, "parts shown", "parts"), ""),
        ("missing parts named, where others stand there", of(asked, "absent named", "absent"), ".90"),
        ("ANSWER although a part is missing", of(asked, "hidden", "some"), ""),
        ("ABSTAIN although a part stands there", of(asked, "standing abstained", "standing"), "never"),
        ("ABSTAIN where no part stands there", of(asked, "none abstained", "none"), ""),
        ("invented links caught", of(linked, "invented caught", "invented"), ".85"),
        ("stated links kept", of(linked, "stated passed", "stated"), ".85"),
        ("beside the point, shown as ANSWER", of(by_writer, "beside ANSWER", "beside"), "at most .05"),
        ("beside the point, shown as PARTIAL", of(by_writer, "beside PARTIAL", "beside"), ""),
        ("control: sentences that answer, ANSWER", of(by_writer, "answering ANSWER", "answering"), ""),
    ]
    body = f"""`python -m benchmarks.parts{f" --rows {most}" if most < 300 else ""}`: questions of two to four
parts, answers of one sentence with a link (because, led to, so that, in contrast to, ...), and claims that
are true of a text but do not answer the question, over sixty short texts that stand in one home. A large
language model wrote them (benchmarks/batteries/README.md says how). Exact 95 % intervals. Nothing is chosen
or fitted on them.

{table(("", "measured", "aimed at"), rows)}

A part counts as shown where {RIGHT:.0%} of its expected words stand in the answer in one run, and as named
where the answer is no abstention and lists it as missing. A link is kept where every claim of the answer is
VERIFIED and caught otherwise. Claims beside the point, and those of the control, are returned by a scripted
writer with a true quote: whether they answer is for Citewell to say."""
    write("parts", "Parts, links, and claims beside the point", body, {
        "questions": asked, "links": linked, "writer": by_writer,
    })  # fmt: skip


if __name__ == "__main__":
    main()
