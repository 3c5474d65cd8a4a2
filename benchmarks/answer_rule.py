"""The rule by which an answer counts as correct against a human's, as code.

In: the human answer, the text of the shown claims. Out: the rule's verdict. Independent of how answers are
made. The rule:

- number: the human answer is a number, alone or in a short sentence. Correct when a shown claim contains a
  number equal to it at the human's precision, at scale 1, a thousand, a million or a billion (statements say
  "in thousands"); a percentage in a claim equals only a percentage, the human's also a bare number.
- words: correct when the claims contain the human answer's first two proper names, and either at least half
  of its content words or a token F1 of at least 0.5. "Yes" and "No" are not required: the extractive writer
  quotes and does not say yes. The dataset's own remark on what an answer assumes is ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal

from citewell.core.records import Record
from citewell.questions.parsing import STOP, label_words

MAX_NUMERIC_WORDS = 4
F1 = CONTAINED = 0.5

_NUMBER = re.compile(r"(?<![\w.])\(?[-−]?\$?\s?\d[\d,]*(?:\.\d+)?\s?%?")
_WORD = re.compile(r"[\w&]+")
_YES_NO = re.compile(r"^\s*(?:yes|no)\b[\s,.:;]*", re.I)
_REMARK = re.compile(r"\s*The answer here assumes.*$", re.S)
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]{2,}\b")
_SCALES = (Decimal(1), Decimal(1_000), Decimal(1_000_000), Decimal(1_000_000_000))


class Ruled(Record, frozen=True, kw_only=True):
    """``kind`` is ``number`` or ``words``; ``f1`` and ``contained`` are None for numbers."""

    kind: str
    correct: bool
    f1: float | None = None
    contained: float | None = None


def judge(gold: str, shown: str) -> Ruled:
    """Whether ``shown``, the claims of an answer, matches ``gold`` under the rule."""
    if is_numeric(gold):
        wanted = _NUMBER.search(gold)
        assert wanted is not None
        return Ruled(
            kind="number",
            correct=any(_equal(wanted.group(), found.group()) for found in _NUMBER.finditer(shown)),
        )
    bare = _REMARK.sub("", _YES_NO.sub("", gold)) or gold
    asked, said = Counter(_content(bare)), Counter(_content(shown))
    common = sum((asked & said).values())
    precision, recall = common / max(1, sum(said.values())), common / max(1, sum(asked.values()))
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    names = list(dict.fromkeys(_NAME.findall(bare)))[:2]
    named = all(name.lower() in shown.lower() for name in names)
    return Ruled(
        kind="words",
        correct=named and (f1 >= F1 or recall >= CONTAINED),
        f1=f1,
        contained=recall,
    )


def is_numeric(gold: str) -> bool:
    """A number with at most a few words around it."""
    return bool(_NUMBER.search(gold)) and len(_content(_NUMBER.sub(" ", gold))) <= MAX_NUMERIC_WORDS


def _equal(wanted: str, found: str) -> bool:
    if "%" in found and "%" not in wanted:
        return False
    target, value = _decimal(wanted), _decimal(found)
    if target is None or value is None or ((target < 0) != (value < 0) and "(" not in found):
        return False
    # 1577.00 in a gold answer is a whole number of millions.
    unit = Decimal(1).scaleb(-_decimals(wanted))
    return any(
        abs(abs(value) / scale - abs(target)) <= unit / 2 for scale in _SCALES[: 1 if "%" in found else 4]
    ) or (
        any(abs(abs(value) * scale - abs(target)) <= unit / 2 for scale in _SCALES[1:3]) and "%" not in found
    )


def _decimals(number: str) -> int:
    _, _, fraction = number.rstrip(" %").partition(".")
    return len(fraction.rstrip("0")) if fraction.strip("0") else 0


def _decimal(number: str) -> Decimal | None:
    digits = re.sub(r"[^\d.]", "", number).strip(".")
    if not digits:
        return None
    sign = -1 if number.lstrip().startswith(("(", "-", "−")) else 1
    return sign * Decimal(digits)


def _content(text: str) -> list[str]:
    return [stem for word in _WORD.findall(text) if word.lower() not in STOP for stem in label_words(word)]
