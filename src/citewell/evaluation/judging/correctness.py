"""Does an answer say what was expected? By words and by numbers, with exact code.

In: the expected text and the answer's. Out: shares and yes or no. Normalised as SQuAD does (Rajpurkar et al.
2016): lower case, no punctuation, no articles. Numbers are read and compared as the verifier does it. Knows
nothing about citations.
"""

from __future__ import annotations

import re
import string
from collections import Counter

from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import Form, Quantity, extract_quantities

ENOUGH_F1 = 0.5
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_OPPOSITE = {"yes": "no", "no": "yes"}
# As an answer, before a stop or an end: "no doubt" and "No. 5" answer nothing.
_ANSWERING = re.compile(
    r"\b(yes|no)\b(?=\s*(?:$|[,;:!?*)\"'”]|\.(?!\s*\d))|\s+[-–—]\s|\s+(?:because|since|as|it|they|this|he|she|we)\b)",
    re.I | re.M,
)
_NO_VALUE = {Form.DATE, Form.YEAR, Form.ORDINAL}


def normalised(text: str) -> list[str]:
    """The words that count, in order."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def exact_match(expected: str, answer: str) -> bool:
    return normalised(expected) == normalised(answer)


def f1(expected: str, answer: str) -> float:
    """Of the words both share, as a bag. 1 where both have none, as in SQuAD."""
    wanted, given = Counter(normalised(expected)), Counter(normalised(answer))
    if not wanted or not given:
        return float(wanted == given)
    shared = (wanted & given).total()
    return 2 * shared / (wanted.total() + given.total())


def contained(expected: str, answer: str) -> bool:
    """The expected words stand in the answer one after another."""
    wanted, given = normalised(expected), normalised(answer)
    if not wanted:
        return False
    return any(given[i : i + len(wanted)] == wanted for i in range(len(given) - len(wanted) + 1))


def values(expected: str) -> tuple[Quantity, ...]:
    """The numbers that an answer must hold: amounts when there are any, else dates and years too."""
    found = extract_quantities(expected)
    return tuple(quantity for quantity in found if quantity.form not in _NO_VALUE) or found


def numbers_match(expected: str, answer: str, context: str = "") -> bool | None:
    """Each number of ``expected`` is in the answer; None where it has none. ``context`` are the units under
    which the answer's sources print their numbers ("in millions")."""
    wanted = {quantity.text for quantity in values(expected)}
    if not wanted:
        return None
    checks = check_numbers(expected, answer, context)
    return all(check.holds for check in checks if check.quantity.text in wanted)


def _agrees(word: str, answer: str) -> tuple[bool, str]:
    """What an answer begins with counts; one that begins with neither must answer with the word somewhere,
    and nowhere with its opposite."""
    first = next((given for given in normalised(answer)[:1] if given in _OPPOSITE), "")
    given = {first} if first else {found.lower() for found in _ANSWERING.findall(answer)}
    right = given == {word}
    return right, f"it says {word}" if right else f"it does not say {word}"


def says(expected: str, answer: str, context: str = "") -> tuple[bool, str]:
    """Whether the answer is right, and by which rule: yes or no where that is all that is expected, numbers
    where some are, else the words one after another, else at least half of them by F1."""
    if (word := " ".join(normalised(expected))) in _OPPOSITE:
        return _agrees(word, answer)
    held = numbers_match(expected, answer, context)
    if held is not None:
        return held, "its numbers are the expected ones" if held else "an expected number is not in it"
    if contained(expected, answer):
        return True, "the expected words stand in it"
    share = f1(expected, answer)
    return share >= ENOUGH_F1, f"F1 with the expected words is {share:.2f}"
