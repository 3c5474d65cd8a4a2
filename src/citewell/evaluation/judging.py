"""What a pipeline did with a case, and whether that is right: by words, by numbers, and by place.

In: a case, what was observed, and where document texts can be read. Out: right, wrong or "nobody can tell",
and what says so; for each passage whether it overlaps a span of the case. Runs, calibration cards and drift
mean the same by "right" and "relevant" because all ask here. Knows nothing about measures.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

from citewell.core.records import (
    Case,
    Citation,
    Claim,
    ConfidenceReport,
    Conflict,
    Measure,
    Passage,
    Record,
    TokenUsage,
)
from citewell.evaluation.results import CaseTiming
from citewell.verification.claims import parse_answer
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.quantity import Form, Quantity
from citewell.verification.verbatim import find_all


class Observed(Record, frozen=True, kw_only=True):
    """One answer. ``passages`` as retrieved, best first; ``top_k`` is how many were asked for, 0 where nobody
    said. ``usage``, ``cost``, ``gate_passed`` and ``confidence`` are None where nobody said."""

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
        """The claims that a reader sees: none where the answer was withheld."""
        return tuple(claim for claim in self.claims if claim.shown) if self.answered else ()


class ClaimSupport(Record, frozen=True, kw_only=True):
    """Who supports one claim, by the judge; None where it could not judge.

    ``whole``: all passages that the claim cites, together; False where it cites nothing or something broken.
    ``needed``: for each cited passage, a broken one too, whether the claim is entailed and it is *not*
    irrelevant in ALCE's sense. ``spans``: for each citation (the spans of one passage are one), whether the
    cited words themselves support it; a broken one does not.
    """

    whole: bool | None
    needed: tuple[bool | None, ...] = ()
    spans: tuple[bool | None, ...] = ()


class Judged(Record, frozen=True, kw_only=True):
    """``support``: one for each claim of ``observed.stated``. ``hits``: for each passage, whether it overlaps
    a span of the case; None where that cannot be told (``unlocated`` says why; "" when the case has no
    spans). ``unfound``: spans of the case that no passage overlaps. ``right`` as in Outcome.
    """

    case: Case
    observed: Observed
    support: tuple[ClaimSupport, ...] = ()
    hits: tuple[bool, ...] | None = None
    unfound: int = 0
    unlocated: str = ""
    right: bool | None = None
    why: str = ""

    @property
    def answerable(self) -> bool | None:
        """Whether the documents hold an answer; None where the case does not say."""
        if self.case.abstain:
            return False
        return True if self.case.expected or self.case.spans else None


Texts = Callable[[str, str], Sequence[tuple[int, str]]]
"""(document id, version or "" for the newest) -> what can be read of its canonical text, each stretch with
the offset it begins at; nothing when there is no such document."""


class Located(Record, frozen=True, kw_only=True):
    """``places``: for each span of the case, where it stands in each version that was looked at, as
    (document id, version, start, end)."""

    places: tuple[tuple[tuple[str, str, int, int], ...], ...] = ()
    problem: str = ""


def locate(case: Case, versions: Sequence[tuple[str, str]], texts: Texts, *, whole: bool = True) -> Located:
    """Every span of ``case`` in those of ``versions`` (document id, version) that are of its document.

    ``problem`` names a span that stands nowhere, not even in the newest version: then nothing can be told.
    Where ``texts`` are not the ``whole`` documents but what was retrieved, such a span was just not found.
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
                return Located(problem=f"there is no document {span.document!r}")
            if not _in(newest, span.quote):
                return Located(problem=f"{span.document} does not hold “{span.quote[:80]}”")
        places.append(tuple(found))
    return Located(places=tuple(places))


def hits(located: Located, passages: Sequence[Passage]) -> tuple[tuple[bool, ...], int]:
    """(for each passage, whether it overlaps a span; how many spans none overlaps)."""
    chunks = [passage.chunk for passage in passages]
    met = [
        {
            number
            for number, places in enumerate(located.places)
            for document, version, start, end in places
            if (chunk.document_id, chunk.document_version) == (document, version)
            and chunk.start_offset < end
            and start < chunk.end_offset
        }
        for chunk in chunks
    ]
    found = set().union(*met) if met else set()
    return tuple(bool(numbers) for numbers in met), len(located.places) - len(found)


def cites(located: Located, citations: Sequence[Citation]) -> bool:
    """Whether one of ``citations`` touches a span."""
    return any(
        (cited.document_id, cited.document_version) == (document, version)
        and cited.start < end
        and start < cited.end
        for cited in citations
        for places in located.places
        for document, version, start, end in places
    )


def _in(stretches: Sequence[tuple[int, str]], quote: str) -> list[tuple[int, int]]:
    """Everywhere ``quote`` stands, word for word; white space and typographic marks may differ."""
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
        return held, "it contains the expected numbers" if held else "it lacks an expected number"
    if contained(expected, answer):
        return True, "it contains the expected words"
    share = f1(expected, answer)
    return share >= ENOUGH_F1, f"F1 with the expected words is {share:.2f}"


def judged_right(case: Case, located: Located, observed: Observed) -> tuple[bool | None, str]:
    """Whether the outcome is right, and what says so; None where nothing can."""
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
