"""Sources that disagree: other documents or versions that give the same thing another value.

In: the aspects asked, the passages handed on and what else was ranked, as a side that was folded or crowded
out still gainsays. Out: :class:`Conflict` records, each side cited and dated. Two sides are compared only
when they speak of the same line item and period, say the same words around different numbers, or, where it is
asked when, around different dates, or, where it is asked who, which or what, around different names; one
value that is the other rounded or in another scale is no conflict, nor is a name that is part of the other or
that the question gives itself, nor two of a list that is left open.
Knows nothing about which side is right.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from decimal import Decimal
from functools import partial
from itertools import combinations, takewhile

from citewell.core.records import Citation, Conflict, Passage, Record
from citewell.core.sentences import sentence_spans
from citewell.questions.calculator import calculator
from citewell.questions.naming import names_held, usable
from citewell.questions.parsing import STOP, Ask, label_words, read_question
from citewell.questions.periods import MONTHS, Period, periods_in
from citewell.questions.rows import CellAnswer, text_of
from citewell.questions.scales import context_scales
from citewell.verification.lexicon import DAYS
from citewell.verification.quantity import LETTER_SCALES, SCALES
from citewell.verification.verbatim import fold
from citewell.verification.words import content_words

SURE = 0.8
ALIKE = 0.75
MIN_WORDS = 4
MAX_CONFLICTS = 10
MAX_SIDES = 6  # of one conflict: that there are two is what matters
MAX_NAME = 6
MIN_FIGURES = 3
POWERS = (3, 6, 9, 12)

_SCALES = {
    word: len(str(factor)) - 1 for word, factor in (SCALES | LETTER_SCALES).items() if factor % 100 == 0
}
_NUMBER = re.compile(
    r"\(?-?[$€£]?\s?\d[\d,]*(?:\.\d+)?\s?%?\)?"
    rf"(?:(?:{'|'.join(LETTER_SCALES)})\b|\s?(?:{'|'.join(_SCALES.keys() - LETTER_SCALES.keys())})\b)?"
)
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_OPEN_LIST = re.compile(r"\b(?:one of|among|includ\w*|such as|following)\b", re.I)
_DATES = frozenset((*MONTHS, *DAYS))


Place = tuple[str, str]
"""Document id and chunk id."""
_Places = Set[Place]


class _Side(Record, frozen=True, kw_only=True):
    """A statement and its numbers; ``scaled`` when the text around declares a scale: (in millions)."""

    passage: Passage
    start: int
    end: int
    numbers: tuple[str, ...] = ()
    scaled: bool = False
    words: frozenset[str] = frozenset()
    date: Period | None = None

    spelled: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return text_of(self.passage, self.start, self.end)


def find_conflicts(
    aspects: Sequence[str], passages: Sequence[Passage], beside: Sequence[Passage] = ()
) -> tuple[Conflict, ...]:
    """At most MAX_CONFLICTS disagreements, in the order of the aspects: of usable passages with each other,
    and of their sentences with those of what stands ``beside`` them."""
    open_ = usable(passages)
    known = {_place(passage) for passage in open_}
    wanted = [read_question(aspect) for aspect in aspects]
    others = {
        _place(passage): passage
        for passage in usable(beside)
        if _place(passage) not in known and any(names_held(one, passage.chunk) for one in wanted)
    }
    all_ = [*open_, *others.values()]
    found: dict[str, Conflict] = {}
    for aspect in aspects:
        for about, sides in _of_cells(aspect, open_):
            found.setdefault(about, _conflict(about, sides))
    for of in (_of_sentences, _of_dates, _of_names):
        for about, sides in of(aspects, all_, known):
            found.setdefault(about, _conflict(about, sides))
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
    """Sentences of different documents or versions with the same words and other numbers."""
    asked = {term for aspect in aspects for term in read_question(aspect).terms}
    sides = [side for passage in passages for side in _statements(passage, asked)]

    def differ(one: _Side, other: _Side) -> bool:
        if one.numbers == other.numbers or len(one.numbers) != len(other.numbers):
            return False
        alike = len(one.words & other.words) >= ALIKE * len(one.words | other.words)
        return alike and _disagree([one, other])

    for disputed in _gainsaid(sides, known, differ):
        yield " ".join(disputed[0].text.split())[:160].rstrip(".!;:"), disputed


def _gainsaid(
    sides: Sequence[_Side], known: _Places, differ: Callable[[_Side, _Side], bool]
) -> Iterator[list[_Side]]:
    """Each side of a known place with those of other documents that differ from it: the first of each
    document and wording, and at most MAX_SIDES in all."""
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
        text = content[start:end]
        named = periods_in(text)
        plain = text
        for found in reversed(named):
            plain = plain[: found.start] + " " + plain[found.end :]
        numbers = tuple(match.group() for match in _NUMBER.finditer(plain))
        words = frozenset(label_words(_NUMBER.sub(" ", plain))) - STOP
        if "\t" not in text and numbers and len(words) >= MIN_WORDS and words & asked:
            # Statements about different periods do not contradict each other.
            dated = frozenset(f"{found.name}" for found in named)
            yield _Side(
                passage=passage,
                start=base + start,
                end=base + end,
                numbers=numbers,
                scaled=len(context_scales(text)) > 1,
                words=words | dated,
            )


def _of_dates(
    aspects: Sequence[str], passages: Sequence[Passage], known: _Places
) -> Iterator[tuple[str, list[_Side]]]:
    """Sentences that give what is asked another date: one's words are among the other's."""
    for aspect in aspects:
        wanted = read_question(aspect)
        if wanted.ask is not Ask.WHEN or wanted.periods:
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
    """Sentences that are the same but for one name, half of what is asked among their common words."""
    for aspect in aspects:
        wanted = read_question(aspect)
        if wanted.ask not in (Ask.WHO, Ask.WHICH, Ask.TEXT) or wanted.by_cell:
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
    # The capital of a sentence's first word may be the sentence's: "Customers may", "Employees may".
    begins = not any(map(str.isalpha, "".join(a[:first])))
    return all(names) and not (begins and max(map(len, names)) == 1) and not _same_name(*names)


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _name(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name without their marks, folded; () where a run of words is none."""
    bare = [word.strip(".,;:!?\"'()[]\u201c\u201d\u2018\u2019") for word in words]
    named = [word for word in bare if word[:1].isupper()]
    fits = named and len(bare) <= MAX_NAME and bare[0][:1].isupper() and not any(map(_NUMBER.search, bare))
    return tuple(map(_undressed, named)) if fits and not all(map(_dated_word, named)) else ()


def _dated_word(word: str) -> bool:
    return word.lower() in _DATES or word.lower().removesuffix("s") in _DATES


def _undressed(word: str) -> str:
    """Without dots, accents and case: U.K. is UK."""
    letters = unicodedata.normalize("NFKD", fold(word).text)
    return "".join(ch for ch in letters if ch != "." and not unicodedata.combining(ch)).casefold()


def _same_name(one: Sequence[str], other: Sequence[str]) -> bool:
    """The same words or letters, or one is part of the other."""
    return set(one) <= set(other) or set(other) <= set(one) or "".join(one) == "".join(other)


def _other_date(one: Period | None, other: Period | None) -> bool:
    """Not the same day, as far as both say."""
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
        not _same(one, a, other, b)
        for one, other in combinations(sides, 2)
        for a, b in zip(one.numbers, other.numbers, strict=True)
    )


def _same(one: _Side, a: str, other: _Side, b: str) -> bool:
    """Equal but for sign style, rounding and scale: 1,577 is 1,577.0 and, in billions, 1.58.

    Where not both say their scale, another one is a power of a thousand, and units that are declared or the
    length of the figures show it: a limit of 30 days is none of 3 days, nor of 30,000.
    """
    low, high = sorted((_value(a), _value(b)))
    figures = min(map(_figures, (low, high)))
    written = [_scale(number) for number in (a, b)]
    declared = one.scaled or other.scaled or any(written)
    return _rounded(low, high) or any(
        low == scaled or (_rounded(low, scaled) and figures > 1)
        for scaled in (high.scaleb(-power) for power in POWERS)
        if not all(written) and (declared or figures >= MIN_FIGURES)
    )


def _rounded(a: Decimal, b: Decimal) -> bool:
    """Whether one is the other, rounded half up to the places that it gives."""
    coarse, fine = sorted((a, b), key=_decimals)
    unit = Decimal(1).scaleb(-_decimals(coarse))
    return -unit <= 2 * (fine - coarse) < unit


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0  # what has digits alone is a number, never NaN


def _value(number: str) -> Decimal:
    digits = Decimal(re.sub(r"[^\d.]", "", number).strip(".") or 0)
    return digits.scaleb(_scale(number))


def _scale(number: str) -> int:
    """The power of ten that is written with it; 0 for none."""
    return _SCALES.get(re.sub(r"[^A-Za-z]", "", number), 0)


def _figures(number: Decimal) -> int:
    return len("".join(map(str, number.as_tuple().digits)).strip("0"))


def _conflict(about: str, sides: Sequence[_Side]) -> Conflict:
    dated = sorted(sides, key=lambda side: (side.passage.chunk.published_at, _document(side), side.start))
    return Conflict(
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
