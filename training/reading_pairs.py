"""Turns public question sets into questions with the passage that answers them, in one shape.

In: rows from `sources`, and a table that says how each set is read. Out: `Question`s: text as the product
stores it, with the answer's place where it is known. Long contexts are cut to whole sentences around the
answer, as a chunk would be. Near misses are made in `reading_negatives`, tables in `reading_tables`.
Independent of models.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from citewell.core.sentences import sentence_spans
from training.sources import Row, load

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Question:
    """`spans` are answers in `passage`; None: answered, place unknown; (): not answered. `group` is the
    article, page or table the passage is from: whole groups are held out."""

    source: str
    group: str
    question: str
    passage: str
    spans: tuple[Span, ...] | None
    context: str = ""


def share(text: str) -> float:
    """A fixed number in [0, 1) for a text, for the same split on every machine."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def reported(source: str, group: str) -> bool:
    """Whether a group of a set that is used both ways is kept for reporting."""
    return group != "" and share(f"report/{source}/{group}") < REPORTED.get(source, 0.0)


def held_out(source: str, group: str) -> bool:
    """Whether a group is kept from training, for choosing and calibrating."""
    return share(f"held/{source}/{group}") < HELD_OUT


HELD_OUT = 0.04
REPORTED = {
    "qa/squad2_cs224n.dev": 0.5,
    "qa/squadshifts_wiki.test": 0.5,
    "relevance/medquad.train": 0.2,
    "relevance/conditionalqa.train": 0.2,
    "relevance/contractnli_clauses.dev": 0.3,
    "qa/tatqa.dev": 0.2,
}


def squad(row: Row) -> Iterator[Question]:
    """Rows with located answers; the article is the title if there is one."""
    meta = row["meta"]
    title = str(meta.get("title") or "").replace("_", " ").split("|")[-1].split("#")[0].strip()
    group = str(meta.get("title") or meta.get("article") or meta.get("sid") or row["context"][:80])
    answers = {
        (a["start"], a["start"] + len(a["text"])) for a in row["answers"] if a["start"] >= 0 and a["text"]
    }
    if row["answerable"] and not answers:
        return
    yield Question("", group, _plain(row["question"]), row["context"], tuple(sorted(answers)), title)


def dialogue(row: Row) -> Iterator[Question]:
    """doc2dial: the user's newest turn, when it can stand alone."""
    turn = re.split(r" (?:user|agent):", row["question"].removeprefix("user:"))[0]
    if len(turn.split()) >= 6 and row["question"].startswith("user:"):
        for question in squad(row):
            yield replace(question, question=turn.strip())


def conditional_span(row: Row) -> Iterator[Question]:
    meta = row["meta"]
    answers = [
        (a["start"], a["start"] + len(a["text"])) for a in row["answers"] if a["start"] >= 0 and a["text"]
    ]
    if row["answerable"]:
        spans = tuple(answers) or None
        yield Question("", meta["url"], meta["question_only"], row["context"], spans, _slug(meta["url"]))


def answered(row: Row) -> Iterator[Question]:
    """boolq: the passage answers, but no span of it is the answer."""
    title, _, text = row["context"].partition(" -- ")
    if text:
        yield Question("", title, row["question"] + "?", text, None, title)


def judged(row: Row) -> Iterator[Question]:
    """Sets of question, passage and label, without spans."""
    meta = row["meta"]
    group = str(meta.get("focus") or meta.get("url") or meta.get("doc_id") or meta.get("qid"))
    question = meta.get("question") or row["question"]
    if "focus" in meta and share(row["id"]) < 0.5:  # templated questions: half are reworded
        wording = ASPECTS.get(meta["qtype"])
        question = random.Random(row["id"]).choice(wording).format(meta["focus"]) if wording else question
    context = str(meta.get("focus") or _slug(str(meta.get("url", ""))))
    yield Question("", group, question, row["passage"], None if row["label"] == 1 else (), context)


ASPECTS = {
    "information": ("Give an overview of {}.", "what is {}?", "{} definition"),
    "treatment": ("How is {} treated?", "treatment options for {}", "Which therapies are used against {}?"),
    "symptoms": ("What are the signs of {}?", "how does {} show itself?", "{} symptoms"),
    "inheritance": ("How do people inherit {}?", "is {} hereditary?"),
    "frequency": ("How common is {}?", "prevalence of {}"),
    "genetic changes": ("Which genes are involved in {}?", "mutations that lead to {}"),
    "causes": ("Why do people get {}?", "what brings about {}?"),
    "exams and tests": ("How is {} diagnosed?", "tests for {}"),
    "outlook": ("What is the prognosis of {}?", "how does {} end?"),
}


@dataclass(frozen=True, slots=True)
class Reader:
    """How one set is read: by which function, and at most how many questions."""

    read: Callable[[Row], Iterator[Question]]
    most: int


READERS = {
    "qa/squad2_cs224n.dev": Reader(squad, 4000),
    "qa/squadshifts_wiki.test": Reader(squad, 4000),
    "qa/squadshifts_amazon.test": Reader(squad, 4000),
    "qa/qed_nq.train": Reader(squad, 6500),
    "qa/tydiqa_en.train": Reader(squad, 3600),
    "qa/covidqa_paragraph.all": Reader(squad, 1300),
    "qa/qamr.dev": Reader(squad, 2500),
    "qa/policyqa.dev": Reader(squad, 1000),
    "qa/doc2dial.dev": Reader(dialogue, 1200),
    "qa/conditionalqa_evidence.train": Reader(conditional_span, 1800),
    "qa/boolq.train_sample": Reader(answered, 1900),
    "qa/boolq.dev": Reader(answered, 1600),
    "relevance/medquad.train": Reader(judged, 5000),
    "relevance/conditionalqa.train": Reader(judged, 4000),
    "relevance/contractnli_clauses.dev": Reader(judged, 1000),
}


def questions(name: str, *, report: bool = False) -> list[Question]:
    """One set's trainable questions (or, with `report`, the reported ones), shuffled and capped, with
    passages cut to size."""
    reader, rng = READERS[name], random.Random(name)
    rows = load(name)
    rng.shuffle(rows)
    kept: list[Question] = []
    forbidden = _qnli_questions()
    for row in rows:
        for found in reader.read(row):
            question = replace(found, source=name)
            if reported(name, question.group) != report or (
                not report and word_key(question.question) in forbidden
            ):
                continue
            kept.append(crop(question, rng))
        if len(kept) >= reader.most:
            break
    return kept


def crop(question: Question, rng: random.Random) -> Question:
    """Whole sentences around one answer, about 80 to 220 words; up to 170 words stay whole. An unanswered or
    unlocated passage is cut at its end. Spans that fall outside are dropped."""
    text = question.passage
    if len(text.split()) <= 170:
        return question
    borders = sentence_spans(text)
    size = rng.choice((80, 120, 150, 180, 220))
    at = 0
    if question.spans:
        start, _ = rng.choice(question.spans)
        at = max(i for i, (a, _) in enumerate(borders) if a <= start or i == 0)
    first = last = at
    while True:
        words = len(text[borders[first][0] : borders[last][1]].split())
        grow = [step for step in (-1, 1) if 0 <= (first if step < 0 else last) + step < len(borders)]
        if not question.spans:
            grow = [step for step in grow if step > 0]
        if words >= size or not grow:
            break
        if rng.choice(grow) < 0:
            first -= 1
        else:
            last += 1
    left, right = borders[first][0], borders[last][1]
    spans = question.spans
    if spans:
        spans = tuple((a - left, b - left) for a, b in spans if a >= left and b <= right)
        if not spans:  # an answer that crosses the window's end: keep the passage whole
            return question
    return replace(question, passage=text[left:right], spans=spans)


def _plain(question: str) -> str:
    return " ".join(question.split())


def _slug(url: str) -> str:
    return url.rstrip("/").rsplit("/", 1)[-1].replace("-", " ")


def word_key(question: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", question.lower()))


_QNLI: set[str] = set()


def _qnli_questions() -> set[str]:
    """The questions of qnli.dev, which is reported and shares some with squad2_cs224n."""
    if not _QNLI:
        _QNLI.update(word_key(row["question"]) for row in load("relevance/qnli.dev"))
    return _QNLI
