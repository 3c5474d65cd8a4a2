"""Judges what a pipeline did with a case: by words, by numbers, and by location.

In: a case, the observed answer, and access to document texts. Out: right, wrong or unknown, with the reason;
for each passage, whether it overlaps a span of the case. Runs, calibration and drift share these definitions
of "right" and "relevant". Knows nothing about measures.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from citewell.core.records import (
    Case,
    Claim,
    ConfidenceReport,
    Conflict,
    Measure,
    Passage,
    Record,
    TokenUsage,
)
from citewell.evaluation.results import CaseTiming
from citewell.questions.quantity import Quantity, QuantityForm
from citewell.verification.claims import parse_answer
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.verbatim import find_all


class ObservedAnswer(Record, frozen=True, kw_only=True):
    """One answer. ``passages`` as retrieved, best first; ``top_k`` is the number requested, 0 if unknown.
    ``usage``, ``cost``, ``gate_passed`` and ``confidence`` are None if unknown."""

    text: str
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    answered: bool
    top_k: int = 0
    decision: str = ""
    confidence: ConfidenceReport | None = None
    overall: float | None = None
    gap: Measure = Measure(value=None, n=0)
    gate_passed: bool | None = None
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    failure_reason: str = ""
    usage: TokenUsage | None = None
    cost: float | None = None
    index: str = ""
    prompt: str = ""
    timing: CaseTiming = CaseTiming()

    @property
    def stated(self) -> tuple[Claim, ...]:
        """The claims that a reader sees: none if the answer was withheld."""
        return tuple(claim for claim in self.claims if claim.shown) if self.answered else ()


class ClaimSupport(Record, frozen=True, kw_only=True):
    """Support for one claim according to the judge; None where it could not judge.

    ``whole``: by all cited passages together; False if it cites nothing or has a broken citation. ``needed``:
    for each cited passage, even a broken one, whether the claim is entailed and the passage is *not*
    irrelevant in ALCE's sense. ``spans``: for each citation (the spans of one passage are one), whether the
    cited words alone support it; a broken one does not.
    """

    whole: bool | None
    needed: tuple[bool | None, ...] = ()
    spans: tuple[bool | None, ...] = ()


class JudgedCase(Record, frozen=True, kw_only=True):
    """``support``: one for each claim of ``observed.stated``. ``hits``: for each passage, whether it overlaps
    a span of the case; None if unknown (``unlocated`` says why; "" if the case has no spans). ``unfound``:
    number of spans that no passage overlaps. ``right`` as in CaseOutcome.
    """

    case: Case
    observed: ObservedAnswer
    support: tuple[ClaimSupport, ...] = ()
    hits: tuple[bool, ...] | None = None
    unfound: int = 0
    unlocated: str = ""
    right: bool | None = None
    why: str = ""

    @property
    def answerable(self) -> bool | None:
        """Whether the documents contain an answer; None if the case does not say."""
        if self.case.abstain:
            return False
        return True if self.case.expected or self.case.spans else None


Texts = Callable[[str, str], Sequence[tuple[int, str]]]
"""(document id, version or "" for the newest) -> the readable parts of its canonical text as (start offset,
text); empty if there is no such document."""


class LocatedSpans(Record, frozen=True, kw_only=True):
    """``places``: for each span of the case, its locations in the versions searched, as
    (document id, version, start, end)."""

    places: tuple[tuple[tuple[str, str, int, int], ...], ...] = ()
    problem: str = ""


def locate(
    case: Case, versions: Sequence[tuple[str, str]], texts: Texts, *, whole: bool = True
) -> LocatedSpans:
    """Locates every span of ``case`` in those of ``versions`` (document id, version) that are its document's.

    ``problem`` names a span found nowhere, not even in the newest version, which makes the case unscorable.
    If ``texts`` are not ``whole`` documents but only retrieved text, such a span was simply not retrieved.
    """
    places = []
    for span in case.spans:
        seen = [version for document, version in versions if document == span.document]
        found = [
            (span.document, version, start, end)
            for version in dict.fromkeys(seen)
            for start, end in _in(texts(span.document, version), span.quote)
        ]
        if not found and whole:
            newest = texts(span.document, "")
            if not newest:
                return LocatedSpans(problem=f"there is no document {span.document!r}")
            if not _in(newest, span.quote):
                return LocatedSpans(problem=f"{span.document} does not hold “{span.quote[:80]}”")
        places.append(tuple(found))
    return LocatedSpans(places=tuple(places))


def hits(located: LocatedSpans, passages: Sequence[Passage]) -> tuple[tuple[bool, ...], int]:
    """(for each passage, whether it overlaps a span; number of spans without overlap)."""
    met = [
        _met(located, chunk.document_id, chunk.document_version, chunk.start_offset, chunk.end_offset)
        for chunk in (passage.chunk for passage in passages)
    ]
    return tuple(bool(numbers) for numbers in met), len(located.places) - len(set[int]().union(*met))


def _met(located: LocatedSpans, document: str, version: str, start: int, end: int) -> set[int]:
    """The numbers of the spans that ``[start, end)`` of a document version overlaps."""
    return {
        number
        for number, places in enumerate(located.places)
        for place in places
        if place[:2] == (document, version) and place[2] < end and start < place[3]
    }


def _in(stretches: Sequence[tuple[int, str]], quote: str) -> list[tuple[int, int]]:
    """Every verbatim occurrence of ``quote``; white space and typographic marks may differ."""
    found = []
    for offset, text in stretches:
        start = text.find(quote)
        hits = list(find_all(quote, text)) or ([(start, start + len(quote))] if start >= 0 else [])
        found += [(offset + first, offset + last) for first, last in hits]
    return found


ENOUGH_F1 = 0.5
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_OPPOSITE = {"yes": "no", "no": "yes"}
# Only as an answer, before punctuation or an end: not "no doubt" or "No. 5".
_ANSWERING = re.compile(
    r"\b(yes|no)\b(?=\s*(?:$|[,;:!?*)\"'”]|\.(?!\s*\d))|\s+[-–—]\s|\s+(?:because|since|as|it|they|this|he|she|we)\b)",
    re.I | re.M,
)
_NO_VALUE = {QuantityForm.DATE, QuantityForm.YEAR, QuantityForm.ORDINAL}


def normalised(text: str) -> list[str]:
    """Lower-case words in order, without punctuation and articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def exact_match(expected: str, answer: str) -> bool:
    return normalised(expected) == normalised(answer)


def f1(expected: str, answer: str) -> float:
    """Bag-of-words F1; 1 where both have no words, as in SQuAD."""
    wanted, given = Counter(normalised(expected)), Counter(normalised(answer))
    if not wanted or not given:
        return float(wanted == given)
    shared = (wanted & given).total()
    return 2 * shared / (wanted.total() + given.total())


def contained(expected: str, answer: str) -> bool:
    """True if the answer contains the expected words consecutively."""
    wanted, given = normalised(expected), normalised(answer)
    if not wanted:
        return False
    return any(given[i : i + len(wanted)] == wanted for i in range(len(given) - len(wanted) + 1))


def values(expected: str) -> tuple[Quantity, ...]:
    """The numbers that an answer must contain: amounts if there are any, else dates, years and ordinals."""
    found = extract_quantities(expected)
    return tuple(quantity for quantity in found if quantity.form not in _NO_VALUE) or found


def numbers_match(expected: str, answer: str, context: str = "") -> bool | None:
    """True if the answer contains each number of ``expected``; None if there are none. ``context``: the units
    in which the answer's sources print their numbers ("in millions")."""
    wanted = {quantity.text for quantity in values(expected)}
    if not wanted:
        return None
    checks = check_numbers(expected, answer, context)
    return all(check.holds for check in checks if check.quantity.text in wanted)


def _agrees(word: str, answer: str) -> tuple[bool, str]:
    """A leading yes or no decides; otherwise the answer must contain ``word`` as an answer somewhere, and its
    opposite nowhere."""
    first = next((given for given in normalised(answer)[:1] if given in _OPPOSITE), "")
    given = {first} if first else {found.lower() for found in _ANSWERING.findall(answer)}
    right = given == {word}
    return right, f"it says {word}" if right else f"it does not say {word}"


def says(expected: str, answer: str, context: str = "") -> tuple[bool, str]:
    """(whether the answer is right, by which rule): yes or no if that is all that is expected, numbers if any
    are, else the words consecutively, else F1 of at least :data:`ENOUGH_F1`."""
    if (word := " ".join(normalised(expected))) in _OPPOSITE:
        return _agrees(word, answer)
    held = numbers_match(expected, answer, context)
    if held is not None:
        return held, "it contains the expected numbers" if held else "it lacks an expected number"
    if contained(expected, answer):
        return True, "it contains the expected words"
    share = f1(expected, answer)
    return share >= ENOUGH_F1, f"F1 with the expected words is {share:.2f}"


def judged_right(case: Case, located: LocatedSpans, observed: ObservedAnswer) -> tuple[bool | None, str]:
    """(whether the outcome is right, the reason); None if unknown."""
    if case.abstain:
        said = "answered, where there is no answer" if observed.answered else "refused, as expected"
        return not observed.answered, said
    if not case.expected and not case.spans:
        return None, "the case has neither an expected text nor a span"
    if located.problem and not case.expected:
        return None, located.problem
    if not observed.answered:
        return False, "refused, where there is an answer"
    if case.expected:
        return says(case.expected, answer_words(observed), cited_context(observed))
    held = any(
        _met(located, cited.document_id, cited.document_version, cited.start, cited.end)
        for claim in observed.stated
        for cited in claim.citations
        if cited.start >= 0
    )
    return held, "it cites an expected span" if held else "it cites no expected span"


def answer_words(observed: ObservedAnswer) -> str:
    """The answer's text without citation markers."""
    return parse_answer(observed.text).text


def cited_context(observed: ObservedAnswer) -> str:
    """The context of the cited passages, including units."""
    cited = {citation.chunk_id for claim in observed.claims for citation in claim.citations}
    return "\n".join(p.chunk.context for p in observed.passages if p.chunk.chunk_id in cited)
