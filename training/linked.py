"""Claims with links that the written passages do not state, and answers to be judged, made by rule.

In: a :class:`training.examples.Passage`. Out: pairs of true statements, joined by a link that no sentence
states (neutral) or merely set side by side (entailed); and sentences of the passage with questions they
answer and questions they do not. Links that the passage does state are among its written statements.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from citewell.core.sentences import sentence_spans
from citewell.questions.parsing import wants_yes_or_no, yes_or_no
from training.examples import Passage

LINKS = (
    "{a} because {b}.",
    "{a}, because {b}.",
    "Because {b}, {a}.",
    "{a}, so {b}.",
    "{a}; as a result, {b}.",
    "{a}, which is why {b}.",
    "{a}. Therefore, {b}.",
    "{a}, which led to the fact that {b}.",
    "Since {b}, {a}.",
    "{a} in order that {b}.",
    "{a}. This is due to the fact that {b}.",
    "{a}; consequently, {b}.",
)
BESIDE = (
    "{a} and {b}.",
    "{a}, and {b}.",
    "{a}; {b}.",
    "{a}; in addition, {b}.",
    "{a}, while {b}.",
    "{a}. Also, {b}.",
)
QUESTIONS, SENTENCES = 5, 2
"""Questions shown with a sentence, and sentences taken of a passage."""


def joined(passage: Passage, rng: random.Random) -> list[tuple[str, str]]:
    """Claims and labels: two true statements with an invented link, two more (or the same) side by side."""
    true = [s.claim for s in passage.statements if s.label == "entailment" and not s.changed]
    if len(true) < 2:
        return []
    made = []
    for templates, label in ((LINKS, "neutral"), (BESIDE, "entailment")):
        first, second = rng.sample(true, 2)
        template = rng.choice(templates)
        begins = template.index("{b}") < template.index("{a}")
        a, b = (said.strip().rstrip(".") for said in (first, second))
        made.append((template.format(a=_inner(a) if begins else a, b=_inner(b)), label))
    return made


def says_so(passage: Passage) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The sentences that answer a question of the passage with yes or no, or the whole text, with both
    answers as claims and their labels; and the whole text with both to a question that it leaves open."""
    for number, asked in enumerate(passage.questions):
        both = [(yes_or_no(word, asked.question), word) for word in ("yes", "no")]
        if asked.says:
            said = passage.text if number % 3 == 0 else answering_sentences(passage.text, asked.answer)
            if said:
                yield said, [(c, "entailment" if word == asked.says else "contradiction") for c, word in both]
        elif not asked.answer and wants_yes_or_no(asked.question):
            yield passage.text, [(claim, "neutral") for claim, _ in both]


def answering_sentences(text: str, answer: str) -> str:
    """The sentences of ``text`` that hold ``answer``, "" if there are none."""
    start = text.find(answer)
    end = start + len(answer)
    touched = [(a, b) for a, b in sentence_spans(text) if a < end and b > start]
    return text[touched[0][0] : touched[-1][1]] if touched else ""


def answering(
    passage: Passage, rng: random.Random, most: int = SENTENCES
) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """Up to ``most`` sentences of the passage, each with the question it answers and others it does not."""
    asked = [q for q in passage.questions if q.answer]
    rng.shuffle(asked)
    for chosen in asked[:most]:
        said = answering_sentences(passage.text, chosen.answer)
        if not said:
            continue
        others = [
            q.question for q in passage.questions if q is not chosen and not (q.answer and q.answer in said)
        ]
        rng.shuffle(others)
        told = [(chosen.question, True), *((words, False) for words in others[: QUESTIONS - 1])]
        rng.shuffle(told)
        yield said, told


def _inner(sentence: str) -> str:
    """How it reads inside another sentence: a first word that seems to be a name keeps its capital."""
    first = sentence.split(" ", 1)[0]
    common = first.lower() in {
        "the", "a", "an", "it", "no", "only", "this", "that", "these", "those", "there", "they", "he", "she",
        "if", "when", "in", "on", "at", "after", "before", "from", "for", "each", "every", "all", "both",
        "anyone", "nobody", "someone", "one", "two", "three", "most", "some", "by", "with", "until", "under",
    }  # fmt: skip
    return sentence[:1].lower() + sentence[1:] if common else sentence
