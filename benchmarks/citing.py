"""Citing while writing versus citing afterwards: the same answers, cited in three ways.

Answers of CLAIMS supported FEVER claims over twice as many passages: their own, and those most like them in
words. The writer is scripted: it quotes the passage on which people judged the claim; or it quotes a wrong
passage for one claim in CLAIMS; or it writes bare prose, which is cited afterwards by entailment. In: rows
and something that answers (``benchmarks.llm_writers``). Out: for each way, whether each claim is verified and
cited, and whether each cited document is the claim's own.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.llm_server import Reply, Said, serving
from citewell.core.config import Writer
from citewell.core.records import Status
from citewell.verification.words import overlap

if TYPE_CHECKING:
    from benchmarks.llm_writers import Bench

CLAIMS = 4
WAYS = ("while writing", "while writing, one in four from a wrong source", "afterwards")
SEED = 23


def compared(
    bench: Bench, supported: Sequence[dict[str, Any]], n: int, line: str, question: str
) -> dict[str, dict[str, list[float]]]:
    """``n`` answers in each way: "covered", one value per claim; "right", one per document cited for a
    verified claim; "generated", whether the writer itself cited it."""
    from benchmarks.llm_writers import quote_for, same

    rows = list({row["premise"]: row for row in supported}.values())
    groups = [rows[at : at + CLAIMS] for at in range(0, n * CLAIMS, CLAIMS)]
    found: dict[str, dict[str, list[float]]] = {
        way: {"covered": [], "right": [], "generated": []} for way in WAYS
    }
    for number, group in enumerate(groups):
        chance = random.Random(SEED + number)
        texts = [row["premise"] for row in group]
        texts += _alike(group, [row["premise"] for row in rows if row["premise"] not in texts])
        chance.shuffle(texts)
        wrong = chance.randrange(CLAIMS)
        for way in WAYS:
            said = []
            for place, row in enumerate(group):
                astray = way == WAYS[1] and place == wrong
                source = group[(place + 1) % CLAIMS]["premise"] if astray else row["premise"]
                quote = quote_for(row["hypothesis"], source)
                said.append(Said(texts.index(source) + 1, quote, row["hypothesis"]))
            prose = " ".join(one.claim for one in said) if way == WAYS[2] else None
            with serving(lambda asked, before, said=said, prose=prose: Reply(said, text=prose)) as server:  # type: ignore[misc]
                os.environ.update(server.environment())
                answer = bench.ask(line, texts, question, Writer())
            for row in group:
                own = f"source-{texts.index(row['premise']) + 1}.txt"
                claims = [c for c in answer.claims if same(c.text, row["hypothesis"])]
                held = bool(claims) and all(c.verdict.status is Status.VERIFIED for c in claims)
                cited = [c for claim in claims for c in claim.citations] if held else []
                found[way]["covered"].append(float(bool(cited)))
                for document in sorted({c.document_id for c in cited}):
                    mine = [c for c in cited if c.document_id == document]
                    found[way]["right"].append(float(document == own))
                    found[way]["generated"].append(float(all(c.mode == "generated" for c in mine)))
    return found


def _alike(group: Sequence[dict[str, Any]], others: Sequence[str]) -> list[str]:
    """For each claim, the unused passage of ``others`` that shares the most words with it."""
    taken: list[str] = []
    for row in group:
        free = [text for text in others if text not in taken]
        taken.append(max(free, key=lambda text: overlap(row["hypothesis"], text)))
    return taken
