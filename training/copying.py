"""Claims that copy a text's words: some say what the text says, others something else.

In: a passage. Out: (kind, claim, label) with label entailment or not_entailment, in about equal numbers,
so that how much a claim copies reveals nothing about its label. The wrong ones are the errors of summarisers
that copy: the beginning of one sentence with the end of another, a possessor in place of the possessed,
a reported claim stated as fact, a number or a name from elsewhere in the text. Independent of windows and
models.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

from training.edits import _NAME, _NUMBER, _YEAR, edits
from training.passages import Passage, good_sentences

Claim = tuple[str, str, str]
_HINGES = frozenset(
    (  # noqa: SIM905 - a table is longer
        "is was are were has had have will would can could said in for to with by after before at from on "
        "that who which as because when while about into against during"
    ).split()
)
_REPORTED = re.compile(
    r"\b(?:claim(?:s|ed)|alleg(?:es|ed)|believ(?:es|ed|e)|hop(?:es|ed|e)|think(?:s)?|thought|suggest(?:s|ed)|"
    r"den(?:ies|ied)|fear(?:s|ed)|warn(?:s|ed)|argu(?:es|ed|e)|predict(?:s|ed)|speculat(?:es|ed)) that "
    r"(?P<told>\w[^;]{20,}\.)$"
)
_OF = re.compile(
    r"^(?:The |An? |His |Her |Its |Their )[a-z]+(?: [a-z]+)? of (?P<owner>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*) "
    r"(?P<rest>(?:is|was|are|were|has|had|will|would|can|could|did)\b.*)"
)
_OWNED = re.compile(
    r"\b(?P<owner>[A-Z][\w-]+(?: [A-Z][\w-]+)*)['’]s (?:[a-z]+ ){1,3}(?=(?:is|was|has|had|will|would|said)\b)"
)
_PRONOUN = re.compile(r"^(?:He|She|It|They) (?P<rest>\w.{12,})")
_TOLD = re.compile(
    r"^(?P<subject>(?:The |An? )?[A-Z]\w+(?: (?!was|is|were|are|ha[sd]|have|will)\w+){0,3}) "
    r"(?P<verb>was|is|were|are|has|have|had|will|would|can|could|did) .{12,}"
)


def copied_claims(passage: Passage, rng: random.Random) -> Iterator[Claim]:
    """As many right claims as wrong ones: the wrong ones are drawn first, then as many right ones."""
    wrong = [
        *_crossed(passage, rng),
        *_owners(passage),
        *_unreported(passage),
        *_from_elsewhere(passage, rng),
    ]
    rng.shuffle(wrong)
    wrong = wrong[:3]
    right = [*_fused(passage), *_kept(passage, rng)]
    rng.shuffle(right)
    yield from wrong
    yield from right[: len(wrong)]


def _content(words: list[str]) -> set[str]:
    return {w.lower().strip(".,;:\"'()") for w in words if len(w) > 3}


def _crossed(passage: Passage, rng: random.Random) -> Iterator[Claim]:
    """One sentence up to a word, continued by another sentence from that word on."""
    candidates = list(good_sentences(passage))
    for i, j in itertools.islice(_drawn(candidates, rng), 6):
        head, tail = passage.sentences[i].split(), passage.sentences[j].split()
        places = [
            (a, b)
            for a in range(2, len(head) - 3)
            for b in range(2, len(tail) - 2)
            if head[a] == tail[b] and head[a] in _HINGES
        ]
        if not places:
            continue
        a, b = rng.choice(places)
        start, end, lost = _content(head[:a]), _content(tail[b:]), _content(head[a:])
        claim = " ".join(head[:a] + tail[b:])
        if (
            len(end) >= 2
            and len(end & lost) * 2 <= len(end)
            and len(start & _content(tail[:b])) * 3 <= max(1, len(start))
            and 6 <= len(claim.split()) <= 35
            and claim not in passage.text
        ):
            yield "copied/crossed", claim, "not_entailment"


def _drawn(items: list[int], rng: random.Random) -> Iterator[tuple[int, int]]:
    pairs = [(i, j) for i in items for j in items if i != j]
    rng.shuffle(pairs)
    return iter(pairs)


def _owners(passage: Passage) -> Iterator[Claim]:
    """ "The brother of Smith was arrested" becomes "Smith was arrested"."""
    for i in good_sentences(passage):
        sentence = passage.sentences[i]
        if match := _OF.match(sentence):
            yield "copied/owner", f"{match['owner']} {match['rest']}", "not_entailment"
        elif match := _OWNED.search(sentence):
            claim = f"{sentence[: match.start()]}{match['owner']} {sentence[match.end() :]}"
            yield "copied/owner", claim, "not_entailment"


def _unreported(passage: Passage) -> Iterator[Claim]:
    for i in good_sentences(passage):
        if match := _REPORTED.search(passage.sentences[i]):
            told = match["told"]
            yield "copied/unreported", told[0].upper() + told[1:], "not_entailment"


def _from_elsewhere(passage: Passage, rng: random.Random) -> Iterator[Claim]:
    """Replaces a number, year or name in one sentence with one from another."""
    for i in good_sentences(passage):
        sentence = passage.sentences[i]
        for pattern in (_YEAR, _NUMBER, _NAME):
            here = list(pattern.finditer(sentence))
            there = [m.group() for m in pattern.finditer(passage.text) if m.group() not in sentence]
            if pattern is _NUMBER:
                there = [t for t in there if not _YEAR.fullmatch(t)]
            if not here or not there:
                continue
            at = rng.choice(here)
            like = [t for t in there if len(t.split()) == len(at.group().split())] or there
            new = rng.choice(like)
            if new.lower() in at.group().lower() or at.group().lower() in new.lower():
                continue
            shorter = edits(f"{sentence[: at.start()]}{new}{sentence[at.end() :]}", (), rng, ("compression",))
            claim = f"{sentence[: at.start()]}{new}{sentence[at.end() :]}"
            if shorter and new in shorter[0][1] and rng.random() < 0.5:
                claim = shorter[0][1]
            yield "copied/elsewhere", claim, "not_entailment"
            break


def _fused(passage: Passage) -> Iterator[Claim]:
    """Two sentences about one subject joined into one, and a pronoun's sentence with its subject named."""
    for before, after in itertools.pairwise(passage.sentences):
        told, said = _TOLD.match(before), _PRONOUN.match(after)
        if not told or not said or len(before.split()) + len(after.split()) > 45:
            continue
        yield "copied/resolved", f"{told['subject']} {said['rest']}", "entailment"
        yield "copied/fused", f"{before.rstrip('.')} and {said['rest']}", "entailment"


def _kept(passage: Passage, rng: random.Random) -> Iterator[Claim]:
    for i in rng.sample(found, min(3, len(found))) if (found := list(good_sentences(passage))) else ():
        sentence = passage.sentences[i]
        shorter = edits(sentence, (), rng, ("compression",))
        again = edits(shorter[0][1], (), rng, ("compression",)) if shorter else []
        same = edits(sentence, (), rng, ("synonym",))
        made = [text for _, text, _ in (*again, *shorter, *same)]
        yield "copied/kept", rng.choice(made) if made else sentence, "entailment"
