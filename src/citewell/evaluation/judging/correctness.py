"""Does an answer say what was expected, by words and numbers; and is the outcome right, or the refusal?

In: the expected text and the answer's; a case, where its spans stand, what was observed. Out: shares; right,
wrong or "nobody can tell", and what says so. Normalised as SQuAD does (Rajpurkar et al. 2016): lower case, no
punctuation, no articles. Numbers are read and compared as the verifier does it. A run and a calibration card
mean the same by "right" because both ask here. Knows nothing about measures.
"""

from __future__ import annotations

import re
import string
from collections import Counter

from citewell.core.records import Case
from citewell.evaluation.judging.relevance import Located, cites
from citewell.evaluation.observed import Observed
from citewell.verification.claims import parse_answer
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.quantity import Form, Quantity

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


def judged_right(case: Case, located: Located, observed: Observed) -> tuple[bool | None, str]:
    """Whether the outcome is right, and what says so; None where nothing can."""
    if case.abstain:
        said = "answered, where there is no answer" if observed.answered else "refused, as it should"
        return not observed.answered, said
    if not case.expected and not case.spans:
        return None, "the case says neither what is expected nor where it stands"
    if located.problem and not case.expected:
        return None, located.problem
    if not observed.answered:
        return False, "refused, where there is an answer"
    if case.expected:
        return says(case.expected, words_of(observed), units_of(observed))
    cited = [citation for claim in observed.stated for citation in claim.citations if citation.start >= 0]
    held = cites(located, cited)
    return held, "it cites an expected span" if held else "it cites no expected span"


def words_of(observed: Observed) -> str:
    """What the answer says, without the marks of its citations."""
    return parse_answer(observed.text).text


def units_of(observed: Observed) -> str:
    """What stands around the cited passages, units among it."""
    cited = {citation.chunk_id for claim in observed.claims for citation in claim.citations}
    return "\n".join(p.chunk.context for p in observed.passages if p.chunk.chunk_id in cited)
