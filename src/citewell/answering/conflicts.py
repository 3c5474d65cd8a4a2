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
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import combinations, takewhile

import msgspec

from citewell.core.records import Conflict, Passage, Record
from citewell.core.sentences import blanked, sentence_spans
from citewell.questions.calculator import calculator
from citewell.questions.naming import names_held, usable
from citewell.questions.parsing import STOP, QuestionKind, label_words, read_question
from citewell.questions.periods import MONTHS, Period, periods_in
from citewell.questions.quantity import CURRENCIES, UNITS, Quantity, agree
from citewell.questions.quotable import cite
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
MIN_FIGURES = 3
POWERS = (3, 6, 9, 12)
MEASURES = frozenset(dimension for dimension, _ in UNITS.values())

_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_NO_DIGIT = re.compile(r"\D")
_OPEN_LIST = re.compile(r"\b(?:one of|among|includ\w*|such as|following)\b", re.I)
_OF_NAMES = (QuestionKind.WHO, QuestionKind.WHICH, QuestionKind.TEXT)
_DATES = frozenset((*MONTHS, *DAYS))


Place = tuple[str, str]
"""Document id and chunk id."""
_Places = Set[Place]


class _Side(Record, frozen=True, kw_only=True):
    """A statement, what it is compared by, and whether the text around its quantities declares a scale such
    as "(in millions)"."""

    passage: Passage
    start: int
    end: int
    quantities: tuple[Quantity, ...] = ()
    scaled: bool = False
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
    for of in (_of_sentences, _of_words):
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
        quantities=extract_quantities(text_of(answer.passage, at.start, at.end)),
        scaled=len(context_scales(answer.passage.chunk.in_context)) > 1,
    )


def _sentences(passages: Iterable[Passage]) -> Iterator[_Side]:
    """The sentences, without the rows of tables."""
    for passage in passages:
        base = passage.chunk.start_offset
        for start, end in sentence_spans(passage.chunk.content):
            if "\t" not in passage.chunk.content[start:end]:
                yield _Side(passage=passage, start=base + start, end=base + end)


def _of_sentences(
    aspects: Sequence[str], passages: Sequence[Passage], known: _Places
) -> Iterator[tuple[str, list[_Side]]]:
    """Sentences of different documents or versions with the same words but different numbers."""
    asked = {term for aspect in aspects for term in read_question(aspect).terms}
    sides = list(_statements(passages, asked))

    def differ(one: _Side, other: _Side) -> bool:
        if len(one.quantities) != len(other.quantities):
            return False
        alike = len(one.words & other.words) >= ALIKE * len(one.words | other.words)
        return alike and _disagree([one, other], prose=True)

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


def _statements(passages: Sequence[Passage], asked: set[str]) -> Iterator[_Side]:
    for side in _sentences(passages):
        text = NOTE_MARK.sub("", side.text)  # its digit is no value
        named = periods_in(text)
        plain = blanked(text, named)
        quantities = tuple(q for q in extract_quantities(plain) if any(map(str.isdigit, q.text)))
        words = frozenset(label_words(blanked(plain, quantities))) - STOP
        if quantities and len(words) >= MIN_WORDS and words & asked:
            # Statements about different periods do not contradict each other.
            yield msgspec.structs.replace(
                side,
                quantities=quantities,
                scaled=len(context_scales(text)) > 1,
                words=words | {found.name for found in named},
            )


def _of_words(
    aspects: Sequence[str], passages: Sequence[Passage], known: _Places
) -> Iterator[tuple[str, list[_Side]]]:
    """Sentences that date the same thing differently, where it is asked when, or differ in one name only,
    where it is asked who, which or what."""
    for aspect in aspects:
        wanted = read_question(aspect)
        asked = set(content_words(" ".join((*wanted.terms, *wanted.names))))
        if wanted.ask is QuestionKind.WHEN and asked and not wanted.periods:
            disputes = _gainsaid(list(_dated(passages, asked)), known, _other_dates)
        elif wanted.ask in _OF_NAMES and asked and not wanted.by_cell:
            differ = partial(_another_name, asked=asked)
            disputes = _gainsaid(list(_worded(passages, asked)), known, differ)
        else:
            continue
        yield from ((aspect, disputed) for disputed in disputes)


def _other_dates(one: _Side, other: _Side) -> bool:
    """Whether one's words are among the other's, and their dates differ."""
    within = one.words <= other.words or other.words <= one.words
    return within and _other_date(one.date, other.date)


def _dated(passages: Sequence[Passage], asked: set[str]) -> Iterator[_Side]:
    for side in _sentences(passages):
        named = periods_in(side.text)
        words = frozenset(content_words(_DIGITS.sub(" ", blanked(side.text, named))))
        if len(named) == 1 and asked <= words:
            yield msgspec.structs.replace(side, words=words, date=named[0])


def _worded(passages: Sequence[Passage], asked: set[str]) -> Iterator[_Side]:
    for side in _sentences(passages):
        words = frozenset(content_words(side.text))
        if 2 * len(asked & words) >= len(asked):
            yield msgspec.structs.replace(side, words=words, spelled=tuple(side.text.split()))


def _another_name(one: _Side, other: _Side, asked: set[str]) -> bool:
    """Whether they differ in one name only, and share half of the question's words."""
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
    fits = named and len(bare) <= MAX_NAME and bare[0][:1].isupper() and not any(map(_DIGITS.search, bare))
    return (
        tuple(map(_undressed, named))
        if fits and not _DATES.issuperset(word.lower().removesuffix("s") for word in named)
        else ()
    )


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


def _disagree(sides: Sequence[_Side], *, prose: bool = False) -> bool:
    return any(
        len(one.quantities) != len(other.quantities)
        or not all(
            same_value(a, b, scaled=one.scaled or other.scaled, prose=prose)
            for a, b in zip(one.quantities, other.quantities, strict=True)
        )
        for one, other in combinations(sides, 2)
    )


def same_value(a: Quantity, b: Quantity, *, scaled: bool, prose: bool = False) -> bool:
    """Equal up to sign, rounding, scale and unit: 1,577 is 1,577.0 and, in billions, 1.58; 60 minutes are an
    hour; 40 grams are not 40 milligrams.

    Unless both state their scale or measure, they may differ by a power of a thousand if the text declares a
    scale (``scaled``) or the figures are long enough: a limit of 30 days is neither 3 days nor 30,000. In
    ``prose`` that holds for money only, as 1,250 people are not 1,250,000; but 1.577 may be 1,577.
    """
    if a.moment or b.moment:
        return bool(a.moment and b.moment and (agree(a.moment, b.moment) or agree(b.moment, a.moment)))
    measured = {a.unit, b.unit} <= MEASURES
    if measured and a.unit != b.unit:
        return False
    written = [(abs(one.value) / one.factor, one.step / one.factor) for one in (a, b)]
    figures = min(len("".join(map(str, value.as_tuple().digits)).strip("0")) for value, _ in written)
    full = [(abs(one.value), one.step) for one in (a, b)]
    (low, fine), (high, coarse) = sorted(full if measured else written)
    declared = scaled or a.scaled or b.scaled or figures >= MIN_FIGURES
    money = not {a.unit, b.unit}.isdisjoint(CURRENCIES.values())
    counted = prose and not scaled and not money and len({_NO_DIGIT.sub("", one.text) for one in (a, b)}) > 1
    free = declared and not measured and not counted and not (a.scaled and b.scaled)
    for power in (0, *POWERS) if free else (0,):
        other, step = high.scaleb(-power), coarse.scaleb(-power)
        rounded, exact = (low, other) if fine >= step else (other, low)
        if low == other:
            return True
        if (figures > 1 or not (power or measured)) and -max(fine, step) <= 2 * (exact - rounded) < max(
            fine, step
        ):
            return True
    return False


def _conflict(about: str, sides: Sequence[_Side], rank: Callable[[str], int]) -> Conflict:
    dated = sorted(sides, key=lambda side: (side.passage.chunk.published_at, _document(side), side.start))
    dated.sort(key=lambda side: -rank(_document(side)[0]))
    ranks = tuple(rank(_document(side)[0]) for side in dated)
    return Conflict(
        ranks=ranks if len({*ranks}) > 1 else (),
        about=about,
        sides=tuple(cite(side.passage.chunk, side.start, side.end, "post-hoc") for side in dated),
        dates=tuple(side.passage.chunk.published_at for side in dated),
    )
