"""Sources that disagree: documents or versions that state different values for the same thing.

In: the aspects asked, the selected passages and the other ranked ones, since a passage that was folded or
crowded out may still contradict. Out: :class:`Conflict` records, each side cited and dated. Two sides are
compared only if they concern the same line item and period, or have the same words around different numbers,
different dates (for "when" questions) or different names (for "who", "which" or "what" questions). A value
that is the other one rounded, or in another scale or unit, is no conflict; nor is a name that is part of the
other or stated in the question, nor two items of an open list. No side is declared right: the operator's
ranks only order them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import combinations, takewhile

from citewell.answering.values import NUMBER, Unit, same_value
from citewell.core.records import Citation, Conflict, Passage, Record
from citewell.core.sentences import sentence_spans
from citewell.questions.calculator import calculator
from citewell.questions.naming import names_held, usable
from citewell.questions.parsing import STOP, QuestionKind, label_words, read_question
from citewell.questions.periods import MONTHS, Period, periods_in
from citewell.questions.quantity import UNITS, Quantity
from citewell.questions.rows import CellAnswer, text_of
from citewell.questions.scales import context_scales
from citewell.verification.lexicon import DAYS
from citewell.verification.quantities import extract_quantities
from citewell.verification.standing import NOTE_MARK
from citewell.verification.verbatim import fold
from citewell.verification.words import content_words

SURE = 0.8
ALIKE = 0.75
MIN_WORDS = 4
MAX_CONFLICTS = 10
MAX_SIDES = 6  # of one conflict: what matters is that there are two
MAX_NAME = 6
MEASURES = frozenset(dimension for dimension, _ in UNITS.values())

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_OPEN_LIST = re.compile(r"\b(?:one of|among|includ\w*|such as|following)\b", re.I)
_DATES = frozenset((*MONTHS, *DAYS))


Place = tuple[str, str]
"""Document id and chunk id."""
_Places = Set[Place]


class _Side(Record, frozen=True, kw_only=True):
    """A statement and its numbers, each with its unit; ``scaled`` if the surrounding text declares a scale
    such as "(in millions)"."""

    passage: Passage
    start: int
    end: int
    numbers: tuple[str, ...] = ()
    scaled: bool = False
    units: tuple[Unit, ...] = ()
    words: frozenset[str] = frozenset()
    date: Period | None = None

    spelled: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return text_of(self.passage, self.start, self.end)


def find_conflicts(
    aspects: Sequence[str],
    passages: Sequence[Passage],
    counter_evidence: Sequence[Passage] = (),
    rank: Callable[[str], int] = lambda _: 0,
) -> tuple[Conflict, ...]:
    """At most MAX_CONFLICTS disagreements, in the order of the aspects: between usable passages, and between
    their sentences and those of ``counter_evidence``. ``rank`` returns the operator's rank of
    a document."""
    open_ = usable(passages)
    known = {_place(passage) for passage in open_}
    wanted = [read_question(aspect) for aspect in aspects]
    others = {
        _place(passage): passage
        for passage in usable(counter_evidence)
        if _place(passage) not in known and any(names_held(one, passage.chunk) for one in wanted)
    }
    all_ = [*open_, *others.values()]
    found: dict[str, Conflict] = {}
    for aspect in aspects:
        for about, sides in _of_cells(aspect, open_):
            found.setdefault(about, _conflict(about, sides, rank))
    for of in (_of_sentences, _of_dates, _of_names):
        for about, sides in of(aspects, all_, known):
            found.setdefault(about, _conflict(about, sides, rank))
    return tuple(found.values())[:MAX_CONFLICTS]


def _of_cells(aspect: str, passages: Sequence[Passage]) -> Iterator[tuple[str, list[_Side]]]:
    wanted = read_question(aspect)
    if not wanted.by_cell:
        return
    for name, period, answers in calculator().cells(wanted, passages):
        sure = [a for a in answers if a.score >= SURE and a.score >= 0.95 * answers[0].score]
        sides = _one_a_document(_cell_side(answer) for answer in sure)
        if period is not None and _disagree(sides):
            yield f"{name}, {period.name}", sides


def _cell_side(answer: CellAnswer) -> _Side:
    at = answer.cell or answer.row
    return _Side(
        passage=answer.passage,
        start=at.start,
        end=at.end,
        numbers=(text_of(answer.passage, at.start, at.end),),
        scaled=len(context_scales(answer.passage.chunk.in_context)) > 1,
    )


def _of_sentences(
    aspects: Sequence[str], passages: Sequence[Passage], known: _Places
) -> Iterator[tuple[str, list[_Side]]]:
    """Sentences of different documents or versions with the same words but different numbers."""
    asked = {term for aspect in aspects for term in read_question(aspect).terms}
    sides = [side for passage in passages for side in _statements(passage, asked)]

    def differ(one: _Side, other: _Side) -> bool:
        alike = (one.numbers, one.units) == (other.numbers, other.units)
        if alike or len(one.numbers) != len(other.numbers):
            return False
        alike = len(one.words & other.words) >= ALIKE * len(one.words | other.words)
        return alike and _disagree([one, other])

    for disputed in _gainsaid(sides, known, differ):
        yield " ".join(disputed[0].text.split())[:160].rstrip(".!;:"), disputed


def _gainsaid(
    sides: Sequence[_Side], known: _Places, differ: Callable[[_Side, _Side], bool]
) -> Iterator[list[_Side]]:
    """Each side at a known place with the sides of other documents that differ from it: the first per
    document and wording, at most MAX_SIDES in all."""
    told: set[tuple[Place, int]] = set()
    for one in sides:
        if _place(one.passage) not in known or (_place(one.passage), one.start) in told:
            continue
        others: dict[str, _Side] = {}
        for other in sides:
            if _document(other) != _document(one) and differ(one, other):
                others.setdefault(" ".join(other.text.split()), other)
        if others:
            found = [one, *_one_a_document(others.values())][:MAX_SIDES]
            told |= {(_place(side.passage), side.start) for side in found}
            yield found


def _statements(passage: Passage, asked: set[str]) -> Iterator[_Side]:
    content, base = passage.chunk.content, passage.chunk.start_offset
    for start, end in sentence_spans(content):
        text = NOTE_MARK.sub("", content[start:end])  # its digit is no value
        named = periods_in(text)
        plain = text
        for found in reversed(named):
            plain = plain[: found.start] + " " + plain[found.end :]
        found_numbers = list(NUMBER.finditer(plain))
        numbers = tuple(match.group() for match in found_numbers)
        measured = {q.start: q for q in extract_quantities(plain) if q.unit in MEASURES} if numbers else {}
        units = tuple(_unit(match, measured) for match in found_numbers)
        bare = plain
        for quantity in reversed(measured.values()):
            bare = bare[: quantity.start] + " " + bare[quantity.end :]
        words = frozenset(label_words(NUMBER.sub(" ", bare))) - STOP
        if "\t" not in text and numbers and len(words) >= MIN_WORDS and words & asked:
            # Statements about different periods do not contradict each other.
            dated = frozenset(f"{found.name}" for found in named)
            yield _Side(
                passage=passage,
                start=base + start,
                end=base + end,
                numbers=numbers,
                units=units,
                scaled=len(context_scales(text)) > 1,
                words=words | dated,
            )


def _unit(number: re.Match[str], measured: Mapping[int, Quantity]) -> Unit:
    inside = range(number.start(), number.end())
    found = next((quantity for at, quantity in measured.items() if at in inside), None)
    return (found.unit, found.factor) if found is not None else None


def _of_dates(
    aspects: Sequence[str], passages: Sequence[Passage], known: _Places
) -> Iterator[tuple[str, list[_Side]]]:
    """Sentences that date the same thing differently: one's words are a subset of the other's."""
    for aspect in aspects:
        wanted = read_question(aspect)
        if wanted.ask is not QuestionKind.WHEN or wanted.periods:
            continue
        asked = set(content_words(" ".join((*wanted.terms, *wanted.names))))
        sides = [side for passage in passages for side in _dated(passage, asked)] if asked else []
        for disputed in _gainsaid(sides, known, _other_dates):
            yield aspect, disputed


def _other_dates(one: _Side, other: _Side) -> bool:
    within = one.words <= other.words or other.words <= one.words
    return within and _other_date(one.date, other.date)


def _dated(passage: Passage, asked: set[str]) -> Iterator[_Side]:
    content, base = passage.chunk.content, passage.chunk.start_offset
    for start, end in sentence_spans(content):
        text = content[start:end]
        named = periods_in(text)
        if len(named) != 1 or "\t" in text:
            continue
        around = text[: named[0].start] + " " + text[named[0].end :]
        words = frozenset(content_words(_DIGITS.sub(" ", around)))
        if asked <= words:
            yield _Side(passage=passage, start=base + start, end=base + end, words=words, date=named[0])


def _of_names(
    aspects: Sequence[str], passages: Sequence[Passage], known: _Places
) -> Iterator[tuple[str, list[_Side]]]:
    """Sentences that differ in one name only and share at least half of the question's words."""
    for aspect in aspects:
        wanted = read_question(aspect)
        if wanted.ask not in (QuestionKind.WHO, QuestionKind.WHICH, QuestionKind.TEXT) or wanted.by_cell:
            continue
        asked = set(content_words(" ".join((*wanted.terms, *wanted.names))))
        sides = [side for passage in passages for side in _worded(passage, asked)] if asked else []
        for disputed in _gainsaid(sides, known, partial(_another_name, asked=asked)):
            yield aspect, disputed


def _worded(passage: Passage, asked: set[str]) -> Iterator[_Side]:
    content, base = passage.chunk.content, passage.chunk.start_offset
    for start, end in sentence_spans(content):
        words = frozenset(content_words(content[start:end]))
        if "\t" not in content[start:end] and 2 * len(asked & words) >= len(asked):
            yield _Side(
                passage=passage,
                start=base + start,
                end=base + end,
                words=words,
                spelled=tuple(content[start:end].split()),
            )


def _another_name(one: _Side, other: _Side, asked: set[str]) -> bool:
    if len(one.words & other.words) < MIN_WORDS:
        return False
    a, b = one.spelled, other.spelled
    first = _shared(a, b)
    behind = _shared(a[first:][::-1], b[first:][::-1])
    last, end = len(a) - behind, len(b) - behind
    if first in (last, end):
        return False
    runs = (a[first:last], b[first:end])
    around = " ".join((*a[:first], "|", *a[last:]))
    given = asked & set(content_words(" ".join((*runs[0], *runs[1]))))
    if given or _OPEN_LIST.search(around) or 2 * len(asked & set(content_words(around))) < len(asked):
        return False
    names = [_name(words) for words in runs]
    # A sentence's first word is capitalized anyway: "Customers may", "Employees may".
    begins = not any(map(str.isalpha, "".join(a[:first])))
    return all(names) and not (begins and max(map(len, names)) == 1) and not _same_name(*names)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the common prefix, in words."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _name(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name without punctuation, folded; () if the words are no name."""
    bare = [word.strip(".,;:!?\"'()[]\u201c\u201d\u2018\u2019") for word in words]
    named = [word for word in bare if word[:1].isupper()]
    fits = named and len(bare) <= MAX_NAME and bare[0][:1].isupper() and not any(map(NUMBER.search, bare))
    return tuple(map(_undressed, named)) if fits and not all(map(_dated_word, named)) else ()


def _dated_word(word: str) -> bool:
    return word.lower() in _DATES or word.lower().removesuffix("s") in _DATES


def _undressed(word: str) -> str:
    """Without dots, accents and case: U.K. becomes uk."""
    letters = unicodedata.normalize("NFKD", fold(word).text)
    return "".join(ch for ch in letters if ch != "." and not unicodedata.combining(ch)).casefold()


def _same_name(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether both have the same words or letters, or one is part of the other."""
    return set(one) <= set(other) or set(other) <= set(one) or "".join(one) == "".join(other)


def _other_date(one: Period | None, other: Period | None) -> bool:
    """Whether they differ in a part (year, month or day) that both state."""
    if one is None or other is None:
        return False
    pairs = ((one.year, other.year), (one.month, other.month), (one.day, other.day))
    return any(a != b for a, b in pairs if a is not None and b is not None)


def _one_a_document(sides: Iterable[_Side]) -> list[_Side]:
    kept: dict[tuple[str, str], _Side] = {}
    for side in sides:
        kept.setdefault(_document(side), side)
    return list(kept.values())


def _document(side: _Side) -> tuple[str, str]:
    return side.passage.chunk.document_id, side.passage.chunk.document_version


def _place(passage: Passage) -> Place:
    return passage.chunk.document_id, passage.chunk.chunk_id


def _disagree(sides: Sequence[_Side]) -> bool:
    return any(
        not same_value(
            a,
            b,
            scaled=one.scaled or other.scaled,
            units=(of_a, of_b),
            prose=bool(one.units and other.units),
        )
        for one, other in combinations(sides, 2)
        for a, of_a, b, of_b in zip(one.numbers, _units(one), other.numbers, _units(other), strict=True)
    )


def _units(side: _Side) -> tuple[Unit, ...]:
    return side.units or (None,) * len(side.numbers)


def _conflict(about: str, sides: Sequence[_Side], rank: Callable[[str], int]) -> Conflict:
    dated = sorted(sides, key=lambda side: (side.passage.chunk.published_at, _document(side), side.start))
    dated.sort(key=lambda side: -rank(_document(side)[0]))
    ranks = tuple(rank(_document(side)[0]) for side in dated)
    return Conflict(
        ranks=ranks if len({*ranks}) > 1 else (),
        about=about,
        sides=tuple(_citation(side) for side in dated),
        dates=tuple(side.passage.chunk.published_at for side in dated),
    )


def _citation(side: _Side) -> Citation:
    chunk = side.passage.chunk
    return Citation(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        document_version=chunk.document_version,
        start=side.start,
        end=side.end,
        quote=text_of(side.passage, side.start, side.end),
        answer_start=-1,
        answer_end=-1,
        mode="post-hoc",
        section_path=chunk.section_path,
        page=chunk.page,
    )
