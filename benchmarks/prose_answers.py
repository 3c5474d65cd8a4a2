"""Questions in words, asked of a folder of articles: is what the pass shows the answer, and does it keep
silent when there is none? ``python -m benchmarks.prose_answers [--questions 150] [--home DIR]``.

In: CITEWELL_DATA. Out: docs/measurements/prose_answers.md and .json. The whole pass on the defaults, over
the articles of SQuAD 2.0 that shaped no weights: answered questions, and those that people wrote to have no
answer there. ``--choose`` takes another set, Natural Questions and TyDi questions in groups held out from
training, half of whose passages are left out of the folder: settings of the gate and the writer were chosen
on it, so it is never reported. Right: a shown claim holds the words of a marked answer. Wrong: claims are
shown and none does. A question without an answer is right when nothing is shown.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from training.reading_pairs import Question, held_out, questions, share, word_key

from benchmarks.reporting import interval, shown, table, write
from citewell.core.config import Config
from citewell.core.records import Answer, Decision
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase

SEED, DISTRACTORS = 7, 1_200
CHOOSING = ("qa/qed_nq.train", "qa/tydiqa_en.train")
REPORTING = "qa/squad2_cs224n.dev"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--choose", action="store_true", help="the set that settings are chosen on")
    parser.add_argument("--home", type=Path, help="kept and used again")
    given = parser.parse_args()
    asked, folder = choosing() if given.choose else reporting()
    random.Random(SEED).shuffle(asked)
    with tempfile.TemporaryDirectory(prefix="citewell-prose-") as scratch:
        home = given.home or Path(scratch) / "home"
        parts = Assembly(home, Config())
        with KnowledgeBase(parts) as knowledge_base:
            if not home.is_dir():
                _ingest(knowledge_base, folder, Path(scratch) / "articles")
            chosen = asked[: given.questions]
            rows = [_row(question, knowledge_base.ask(question.question)) for question in chosen]
        makers = [part.maker.name for part in (parts.ranker, parts.extractor, parts.entailer)]
    found = summary(rows)
    if given.choose:
        print(json.dumps(found, indent=1))
        for row in rows:
            print(json.dumps(row, ensure_ascii=False))
        return
    write(
        "prose_answers",
        "Answers to prose questions",
        _page(found, makers),
        {"measures": found, "makers": makers, "questions": rows},
    )


def reporting() -> tuple[list[Question], dict[str, list[str]]]:
    """Questions, and articles as title -> paragraphs."""
    asked = questions(REPORTING, report=True)
    return asked, _articles(asked)


def choosing() -> tuple[list[Question], dict[str, list[str]]]:
    """Held-out questions, half of them on articles left out of the folder, which also holds others."""
    everything = [question for name in CHOOSING for question in questions(name)]
    asked = [question for question in everything if held_out(question.source, question.group)]
    gone = {question.group for question in asked if share(f"gone/{question.group}") < 0.5}
    others = [question for question in everything if question not in asked and question.group not in gone]
    random.Random(SEED).shuffle(others)
    there = [question for question in asked if question.group not in gone]
    unanswered = [replace(question, spans=()) if question.group in gone else question for question in asked]
    return unanswered, _articles([*there, *others[:DISTRACTORS]])


def _articles(asked: Sequence[Question]) -> dict[str, list[str]]:
    articles: dict[str, list[str]] = defaultdict(list)
    for question in asked:
        title = question.context or question.group[:60]
        if question.passage not in articles[title]:
            articles[title].append(question.passage)
    return dict(articles)


def _ingest(knowledge_base: KnowledgeBase, articles: dict[str, list[str]], folder: Path) -> None:
    folder.mkdir()
    for number, (title, paragraphs) in enumerate(sorted(articles.items())):
        text = f"# {title}\n\n" + "\n\n".join(" ".join(p.split()) for p in paragraphs) + "\n"
        (folder / f"{number:04}.md").write_text(text, encoding="utf-8")
    knowledge_base.ingest(folder)


def _row(question: Question, answer: Answer) -> dict[str, Any]:
    golds = [question.passage[a:b] for a, b in question.spans or ()]
    claims = [claim.text for claim in answer.claims if claim.shown]
    shown_ = answer.decision is not Decision.ABSTAIN and bool(claims)
    right = any(_says(claim, gold) for claim in claims for gold in golds)
    return {
        "question": question.question,
        "answers": sorted(set(golds)),
        "decision": answer.decision.value,
        "overall": answer.confidence.overall,
        "outcome": ("right" if right else "wrong") if shown_ else "silent",
        "claims": claims,
        "relevances": [round(passage.relevance or 0.0, 3) for passage in answer.passages],
    }


def _says(claim: str, gold: str) -> bool:
    return f" {word_key(gold)} " in f" {word_key(claim)} "


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    answerable = [row for row in rows if row["answers"]]
    without = [row for row in rows if not row["answers"]]
    told = [row for row in rows if row["outcome"] != "silent"]
    sure = [row for row in told if row["decision"] == "ANSWER"]
    return {
        "answered questions: answer shown": _rate(answerable, lambda row: row["outcome"] == "right"),
        "answered questions: something else shown": _rate(answerable, lambda row: row["outcome"] == "wrong"),
        "answered questions: silent": _rate(answerable, lambda row: row["outcome"] == "silent"),
        "unanswered questions: silent": _rate(without, lambda row: row["outcome"] == "silent"),
        "shown: right": _rate(told, lambda row: row["outcome"] == "right"),
        "shown as ANSWER: right": _rate(sure, lambda row: row["outcome"] == "right"),
        "claims a shown answer": round(sum(len(r["claims"]) for r in told) / max(1, len(told)), 2),
    }


def _rate(rows: Sequence[dict[str, Any]], holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return interval([float(holds(row)) for row in rows])


def _page(found: dict[str, Any], makers: Sequence[str]) -> str:
    told = [
        [name, f"{shown(value)} (n {value['n']})" if isinstance(value, dict) else str(value)]
        for name, value in found.items()
    ]
    return f"""{PAGE}
{table(["measure", "value"], told)}

Models: {", ".join(makers)}.
"""


PAGE = """The whole pass on its defaults over the articles of SQuAD 2.0's development half that shaped no
weights (`reading_pairs` splits by article), 95 % bootstrap intervals. Its questions without an answer were
written by people to look as if the paragraph answered them. *Right*: a shown claim contains the words of a
marked answer. *Shown* is ANSWER or PARTIAL with at least one claim.
"""


if __name__ == "__main__":
    main()
