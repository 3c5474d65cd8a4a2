"""Pairs made from real passages, with one maker for each weakness of small entailers.

In: passages. Out: items. Claims come in pairs that share their premise and differ in one thing, and some
edits are made in the premise instead of the claim, so that neither the claim alone nor its overlap with
the premise reveals the label.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Sequence

from citewell.models.onnx.windows import WindowRule
from training.edits import EDITORS, edits
from training.items import Item
from training.passages import Passage, good_sentences, passages, tidy
from training.statements import statement

FEW = WindowRule(singles=1, groups=1)
_OPPOSED = [kind for kind in EDITORS if kind not in ("compression", "synonym")]
_CHANGED = ("number", "year", "month", "day", "small-number", "unit", "antonym", "entity", "negation")


def made_items(part: str, seed: int, most: int | None = None) -> list[Item]:
    rng = random.Random(f"{seed}/{part}")
    items: list[Item] = []
    for passage in passages(part, seed):
        items += _edited(passage, rng)
        items += _composed(passage, rng)
        items += _spliced(passage, rng)
        items += _resolved(passage, rng)
        items += _answered(passage, rng)
    rng.shuffle(items)
    return items[:most]


def document_claims(passage: Passage, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Claims with their labels against the whole passage: what a summary of it may get right or wrong."""
    for item in [*_edited(passage, rng), *_spliced(passage, rng), *_resolved(passage, rng)]:
        if not item.kind.endswith(("-premise", "-both", "/evidence-removed")):
            yield item.claim, item.label


def premise_around(sentences: Sequence[str], i: int, claim: str, rng: random.Random) -> tuple[str, ...]:
    """The sentence alone, among its neighbours, or the whole passage in windows."""
    way = rng.random()
    if way < 0.35:
        return (sentences[i],)
    if way < 0.85:
        start = max(0, i - rng.randint(0, 2))
        return (" ".join(sentences[start : start + 3])[:700],) if i < start + 3 else (sentences[i],)
    return FEW.windows(" ".join(sentences), claim) or (sentences[i],)


def _edited(passage: Passage, rng: random.Random) -> Iterator[Item]:
    """For up to two sentences per passage: a claim that the text supports, and claims that it does not."""
    candidates = list(good_sentences(passage))
    for i in rng.sample(candidates, min(2, len(candidates))):
        sentence = passage.sentences[i]
        less = edits(sentence, passage.names, rng, ("compression",))
        same = edits(sentence, passage.names, rng, ("synonym",))
        kept = rng.choice(less or same or [("verbatim", sentence, "entailment")])
        wrong = edits(sentence if rng.random() < 0.5 else kept[1], passage.names, rng, _OPPOSED)
        windows = premise_around(passage.sentences, i, kept[1], rng)
        yield Item(windows, kept[1], "entailment", f"made/{kept[0]}")
        for kind, text, label in rng.sample(wrong, min(2, len(wrong))):
            yield Item(windows, text, label, f"made/{kind}")
        yield from _other_way_round(sentence, kept[1], passage, rng)
        if rng.random() < 0.25:
            rest = [s for n, s in enumerate(passage.sentences) if n != i]
            if windows := FEW.windows(" ".join(rest), sentence):
                yield Item(windows, kept[1], "neutral", "made/evidence-removed")


def _other_way_round(sentence: str, claim: str, passage: Passage, rng: random.Random) -> Iterator[Item]:
    """Edits the premise instead: the edited claim is now the true one."""
    if rng.random() < 0.4:
        for kind, text, label in edits(sentence, passage.names, rng, (rng.choice(_CHANGED),)):
            yield Item((text,), claim if claim == sentence else sentence, label, f"made/{kind}-premise")
            yield Item((text,), text, "entailment", f"made/{kind}-both")


def _composed(passage: Passage, rng: random.Random) -> Iterator[Item]:
    """Two sentences needed together; without one of them the claim is only partly supported."""
    candidates = list(good_sentences(passage))
    if len(candidates) < 2 or rng.random() < 0.5:
        return
    i, j = sorted(rng.sample(candidates, 2))
    first, second = (_short(passage.sentences[n], passage, rng) for n in (i, j))
    if len(first.split()) + len(second.split()) > 45:
        return
    claim = f"{first.rstrip('.')}{rng.choice([', and ', ' and ', '; '])}{second[0].lower()}{second[1:]}"
    yield Item((f"{passage.sentences[i]} {passage.sentences[j]}",), claim, "entailment", "made/composed")
    missing = rng.choice((i, j))
    rest = [s for n, s in enumerate(passage.sentences) if n != missing]
    if windows := FEW.windows(" ".join(rest), claim):
        yield Item(windows[:2], claim, "neutral", "made/partial")


_OPENING = re.compile(
    r"(?P<subject>(?:The |An? )?[A-Z]?\w+"
    r"(?: (?!was|is|were|are|ha[sd]|have|will|w?c?ould|may|might)\w+){0,3}) "
    r"(?P<verb>was|is|were|are|has|have|had|will|would|can|could|said|says|did|does) (?P<rest>.{15,})"
)
_PRONOUN = re.compile(r"(?:He|She|It|They) (?P<rest>\w.{15,})")


def _spliced(passage: Passage, rng: random.Random) -> Iterator[Item]:
    """One sentence's predicate given to another sentence's subject, as summarisers mistakenly do."""
    opened = [(i, m) for i, s in enumerate(passage.sentences[:12]) if (m := _OPENING.fullmatch(s))]
    told = [(i, m) for i, m in opened if not _PRONOUN.match(m.group())]
    if len(told) < 2 or rng.random() < 0.3:
        return
    (i, taker), (j, giver) = rng.sample(told, 2)
    if taker["subject"].lower() in giver.group().lower() or len(giver.group().split()) > 40:
        return
    claim = f"{taker['subject']} {giver['verb']} {giver['rest']}"
    both = " ".join(passage.sentences[n] for n in sorted((i, j)))
    windows = (both,) if rng.random() < 0.5 else FEW.windows(passage.text, claim)[:2]
    yield Item(windows, claim, "not_entailment", "made/spliced")
    yield Item(windows, _short(giver.group(), passage, rng), "entailment", "made/unspliced")


def _resolved(passage: Passage, rng: random.Random) -> Iterator[Item]:
    """Replaces a pronoun that opens a sentence with the previous sentence's subject, or with another name."""
    for before, sentence in itertools.pairwise(passage.sentences):
        pronoun, told = _PRONOUN.fullmatch(sentence), _OPENING.fullmatch(before)
        if not pronoun or not told or _PRONOUN.match(before) or not told["subject"][0].isupper():
            continue
        premise = (f"{before} {sentence}",)
        claim = _short(f"{told['subject']} {pronoun['rest']}", passage, rng)
        yield Item(premise, claim, "entailment", "made/resolved")
        others = [n for n in passage.names if n not in told["subject"] and n not in sentence]
        if others:
            wrong = f"{rng.choice(others)} {pronoun['rest']}"
            yield Item(premise, wrong, "not_entailment", "made/misresolved")
        return


def _short(sentence: str, passage: Passage, rng: random.Random) -> str:
    found = edits(sentence, passage.names, rng, ("compression",))
    return found[0][1] if found else sentence


def _answered(passage: Passage, rng: random.Random) -> Iterator[Item]:
    """The right answer as a statement; the same statement with another answer from the passage; a statement
    for an unanswerable question."""
    answers = [a["text"] for row in passage.questions for a in row["answers"][:1]]
    rows = rng.sample(passage.questions, min(3, len(passage.questions)))
    for row in rows:
        if not row["answerable"] or not row["answers"]:
            others = answers or list(passage.names)
            claim = statement(row["question"], rng.choice(others)) if others else None
            if claim:
                yield Item(FEW.windows(passage.text, claim)[:2], claim, "not_entailment", "made/unanswerable")
            continue
        right = row["answers"][0]["text"]
        claim = statement(row["question"], tidy(right))
        at = _sentence_of(passage, right)
        if claim is None or at is None:
            continue
        windows = premise_around(passage.sentences, at, claim, rng)
        yield Item(windows, claim, "entailment", "made/answer")
        wrong = _like(right, [*answers, *passage.names], rng)
        if wrong and (claim := statement(row["question"], wrong)):
            yield Item(windows, claim, "not_entailment", "made/wrong-answer")


def _like(right: str, others: Sequence[str], rng: random.Random) -> str | None:
    """Another span of the same form: a number for a number, a name for a name."""
    digits = bool(re.search(r"\d", right))
    like = [
        o
        for o in others
        if bool(re.search(r"\d", o)) == digits
        and o[:1].isupper() == right[:1].isupper()
        and right.lower() not in o.lower()
        and o.lower() not in right.lower()
    ]
    return tidy(rng.choice(like)) if like else None


def _sentence_of(passage: Passage, answer: str) -> int | None:
    """The only sentence that holds the answer; None if there is none or more than one."""
    found = [i for i, sentence in enumerate(passage.sentences) if tidy(answer) in sentence]
    return found[0] if len(found) == 1 else None
