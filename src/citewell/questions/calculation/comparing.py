"""Rows of one table compared: the smallest or largest value, the better of two rows, rows by a condition.

In: a question ("Which plan is the cheapest?", "How many plans have at least 100 GB?") and passages. Out: a
:class:`Comparison` over all rows of one table, with the cells it rests on; None unless every word of the
question is understood, one table and one column of it fit, all its rows are among the passages, and their
values are numbers of one unit. The writer and the checker call the same function, the checker with the cited
passages alone. Independent of how an answer is worded.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import pairwise

import msgspec

from citewell.core.records import DraftClaim, Passage, Record, Row, TableExtent
from citewell.questions.calculator import CalculationResult
from citewell.questions.parsing import label_words, stem
from citewell.questions.rows import CellAnswer, label_span, text_of, whole
from citewell.questions.scales import context_scales, unread_scales
from citewell.verification.quantity import CURRENCIES, UNITS, moments

MOST_CHARACTERS, MOST_ROWS, MOST_CHAIN = 200, 200, 5
# Kind; words for a small value; for a large one; words in the head of its column, which "" needs by name.
_KINDS = (
    ("price", "cheaper cheapest|less expensive|least expensive|less costly|least costly",
     "dearer dearest costlier costliest|more expensive|most expensive|more costly|most costly",
     "price cost fee charge"),
    ("time", "shorter shortest", "longer longest", "duration time period length"),
    ("weight", "lighter lightest", "heavier heaviest", "weight mass"),
    ("size", "smaller smallest", "bigger biggest larger largest", "size area"),
    ("date", "earlier earliest", "later latest", "date day deadline"),
    ("", "lower lowest fewer fewest less least", "higher highest greater greatest more most", ""),
)  # fmt: skip
_VERBS = {"cost": "price", "weigh": "weight", "last": "time"}
_BOUNDS = {
    "less than": ("less", "fewer", "under", "below"), "more than": ("more", "over", "above"),
    "at most": ("at most", "no more", "not more"), "at least": ("at least", "no less", "no fewer"),
}  # fmt: skip
_FILLER = frozenset(str.split("a an the of in all our your their its these those available one ones"))
_HOLDS = {"less than": operator.lt, "more than": operator.gt, "at most": operator.le, "at least": operator.ge}
# Not a row among others, not an amount, and not a value that could win: "Free" is none of the last.
_TOTAL = re.compile(
    r"\W*(?:(?:grand |sub-?)?totals?|sum|average|mean|median|all|overall|of which|thereof)\b", re.I
)
_RANKED = frozenset(str.split("rank ranking position place grade priority class level id code"))
_NO_NUMBER = re.compile(
    r"[-–—.…/]*|n/?a|n\.a\.|tb[da]|unknown|custom|varies|(?:up)?on request|by request|contact us|quote", re.I
)
_SCALED = frozenset(str.split("k m mm b t bn mn mio mrd tsd thousand million billion lakh crore"))
_MONEY = r"(?:(?:US|HK|C|A|NZ|S)?[$€£¥₹]|USD|EUR|GBP|CHF)"
_NUMBER = r"[-−]?\d(?:[\d.,'’ ]*\d)?"
_VALUE = re.compile(rf"(?P<before>{_MONEY}?) ?(?P<number>{_NUMBER}) ?(?P<after>(?:[^\d\s][^\d]{{0,30}})?)")
_SPAN = re.compile(
    rf"(?P<before>{_MONEY}?) ?(?P<number>{_NUMBER}) ?(?:-|–|—|to) ?(?P<to>{_NUMBER}) ?(?P<after>\D{{0,30}})"
)
_FORMS = (
    re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:[,'’ ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"),
    re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:[.'’ ]\d{3})+(?:,\d\d?)?|\d+(?:,(?:\d\d?|\d{4,}))?)"),
)
"""With a decimal point, and with a decimal comma: "1.500" is a number of both forms, and in doubt."""

_SAID = {
    (False, True): ("Smallest", "Smaller"), (False, False): ("Largest", "Larger"),
    (True, True): ("Earliest", "Earlier"), (True, False): ("Latest", "Later"),
}  # fmt: skip


Cited = Sequence[tuple[Passage, Sequence[tuple[int, int]]]]


class Comparison(Record, frozen=True, kw_only=True):
    """``shown`` are the rows that answer; ``result`` is about all rows that were compared."""

    shown: tuple[CellAnswer, ...]
    result: CalculationResult


class Request(Record, frozen=True, kw_only=True):
    """``said`` is the word for ``how``: "low", "high" or a bound. ``words`` name the column or the rows, or
    both; ``subject`` only the rows."""

    said: str
    how: str
    kind: str
    subject: frozenset[str]
    words: frozenset[str]
    pair: tuple[str, ...]
    bound: str
    unit: str


class _Table(Record, frozen=True, kw_only=True):
    extent: TableExtent
    rows: dict[int, tuple[Passage, Row]]
    first: str = ""
    about: frozenset[str] = frozenset()

    @property
    def complete(self) -> bool:
        return self.extent.alone and len(self.rows) == self.extent.rows <= MOST_ROWS


class _Value(Record, frozen=True, kw_only=True):
    answer: CellAnswer
    text: str
    value: Decimal | None

    @property
    def name(self) -> str:
        return " ".join(self.answer.row.label.split())


# --- the question ---------------------------------------------------------------------------------

_DEGREES = {
    word: (how, kind)
    for kind, low, high, _ in _KINDS
    for how, said in (("low", low), ("high", high))
    for at, phrases in enumerate(said.split("|"))
    for word in ([phrases] if at else phrases.split())
}
_OPS = {word: bound for bound, words in _BOUNDS.items() for word in words}


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_IS = r"(?:is|are|was|were|has|have|had|offers?|costs?|weighs?|lasts?)"
_HOW = rf"(?:the )?(?P<how>{_either(_DEGREES)})(?: (?P<rest>[^,:;]+?))?"
_THAN = rf"(?:(?P<op>{_either(_OPS)})(?: than)?|(?P<how>{_either(_DEGREES)}) than)"
_BOUND = rf"(?P<before>{_MONEY}?) ?(?P<bound>{_NUMBER}) ?(?P<unit>%|[^\s\d]+)?(?: (?P<after>[^\d]+))?"
_ASKED = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"which of (?P<a>.+?) (?:and|or) (?P<b>.+?) (?P<verb>{_IS}) {_HOW}",
        rf"(?:is|are) (?P<a>.+?) or (?P<b>.+?) (?:the )?(?P<how>{_either(_DEGREES)})",
        rf"(?:which|what)(?: (?P<what>[^,:;]+?))? (?P<verb>{_IS}) {_HOW}[,:;] ?(?P<a>[^,]+) or (?P<b>[^,]+)",
        rf"(?:which|what)(?: (?P<what>[^,:;]+?))? (?P<verb>{_IS}) {_HOW}",
        rf"(?:how many|which|what) (?P<what>[^,:;]+?) (?P<verb>{_IS}|with)"
        rf"(?: (?:an? |the )?(?P<rest>[^,:;]+?))??(?: of)? {_THAN} {_BOUND}",
    )
)
_ENDING = re.compile(r" (?:are|is) there$| do (?:you|we|they) (?:have|offer)$", re.I)


def asked(question: str) -> Request | None:
    """The comparison that ``question`` asks for, or None."""
    text = _ENDING.sub("", " ".join(question.split()).strip(" ?."))
    found = (pattern.fullmatch(text) for pattern in _ASKED if len(text) <= MOST_CHARACTERS)
    match = next((one for one in found if one), None)
    if match is None:
        return None
    said = {name: value or "" for name, value in match.groupdict().items()}
    degree, op = said["how"].lower(), said.get("op", "").lower()
    how, kind = _DEGREES.get(degree, ("", ""))
    pair = tuple(said[name].strip().casefold() for name in ("a", "b") if name in said)
    bound = said.get("bound", "")
    if bound:
        how = _OPS.get(op) or {"low": "less than", "high": "more than"}[how]
    elif not pair and not re.search(r"est$|^(?:most|least)", degree):
        return None
    unit = said.get("unit", "")
    known = bool(_unit(unit))
    words = (said.get("rest", ""), "" if known else unit, said.get("after", ""))
    return Request(
        said=degree, how=how, kind=kind or _VERBS.get(stem(said.get("verb", "").lower()), ""),
        subject=_words(said.get("what", "")), words=_words(" ".join(words)), pair=pair, bound=bound,
        unit=said.get("before", "") or (unit if known else ""),
    )  # fmt: skip


def _words(text: str) -> frozenset[str]:
    return frozenset(label_words(re.sub(r"[()\[\]]", " ", text))) - _FILLER


def _unit(word: str) -> object:
    """What ``word`` measures, the same for all names of one unit; None for any other word."""
    return "%" if word == "%" else CURRENCIES.get(word.lower()) or UNITS.get(word) or UNITS.get(word.lower())


# --- the table and its column ---------------------------------------------------------------------


def compared(question: str, passages: Sequence[Passage]) -> Comparison | None:
    """The comparison asked for, or None; see above."""
    request = asked(question)
    fits = [(t, head) for t in _tables(passages) if (head := _column(request, t))] if request else []
    if request is None or not fits:
        return None
    nearest = max(bool(request.subject & _words(table.first)) for table, _ in fits)
    best = [one for one in fits if bool(request.subject & _words(one[0].first)) == nearest]
    table, head = best[0]
    values = _values(request, table, head) if len(best) == 1 and table.complete else []
    if request.bound:
        return _filtered(request, head, values)
    if request.pair:
        values = [one for name in request.pair for one in values if one.name.casefold() == name]
        return _extreme(request, head, values) if len(values) == len(request.pair) else None
    return _extreme(request, head, values)


def _tables(passages: Sequence[Passage]) -> list[_Table]:
    """Each table with the rows that the passages hold whole."""
    tables: dict[tuple[str, int], _Table] = {}
    for passage in passages:
        chunk = passage.chunk
        for extent in chunk.tables:
            rows = [row for row in chunk.rows if extent.start <= row.start < extent.end]
            key = (chunk.document_version, extent.start)
            old = tables.get(key) or _Table(extent=extent, rows={})
            above = (
                text_of(passage, extent.start, rows[0].start)
                if rows and extent.start >= chunk.start_offset
                else ""
            )
            first = " ".join(line.partition("\t")[0] for line in above.split("\n"))
            about = " ".join((extent.title, chunk.title, *chunk.section_path, chunk.document_id, first))
            tables[key] = _Table(
                extent=extent, first=old.first or first, about=old.about | _words(about),
                rows=old.rows | {row.start: (passage, row) for row in rows if whole(passage, row)},
            )  # fmt: skip
    return list(tables.values())


def _column(request: Request | None, table: _Table) -> str:
    """The head of the one column asked for, or "": several, none, or words that nothing explains."""
    if request is None or not request.subject <= table.about:
        return ""
    heads = dict.fromkeys(cell.head for _, row in table.rows.values() for cell in row.cells)
    own = {head: _words(head) for head in heads}
    named = [h for h in own if request.words & own[h] and request.words <= own[h] | table.about]
    if not named and request.words <= table.about:
        words = next((heads.split() for kind, *_, heads in _KINDS if kind == request.kind), [])
        named = [h for h in own if own[h].intersection(words) or (request.unit and not request.kind)]
    if request.unit:
        named = [head for head in named if _has_unit(request.unit, head, table)]
    if len(named) != 1 or own[named[0]] & (_RANKED | _words(request.said)):
        return ""
    return named[0]


def _has_unit(unit: str, head: str, table: _Table) -> bool:
    """Whether the column states ``unit``, in its head or its cells, and no other."""
    said = [*re.findall(r"[(\[]([^()\[\]]+)[)\]]", head), head.rpartition(", ")[2] if ", " in head else ""]
    for passage, row in table.rows.values():
        texts = (text_of(passage, cell.start, cell.end) for cell in row.cells if cell.head == head)
        said += [f"{found['before']} {found['after']}" for text in texts if (found := _VALUE.fullmatch(text))]
    known = {_unit(word) for text in said for word in text.partition(" per ")[0].replace(";", " ").split()}
    return known - {None} == {_unit(unit)}


def _values(request: Request, table: _Table, head: str) -> list[_Value]:
    """The values of all rows, in their order, None where a cell is no single number; [] if in doubt."""
    found: list[_Value] = []
    units: set[tuple[str, ...]] = set()
    rows = [table.rows[at] for at in sorted(table.rows)]
    groups = {row.group.rpartition(" \u203a ")[2] for _, row in rows}
    for passage, row in rows:
        cells = [cell for cell in row.cells if cell.head == head]
        if not row.cells and row.label in groups:
            continue
        around = f"{row.group} {row.label}"
        if len(cells) > 1 or _TOTAL.match(row.label) or context_scales(around) != {1} or "%" in around:
            return []
        cell = cells[0] if cells else None
        text = " ".join(text_of(passage, cell.start, cell.end).split()) if cell else ""
        value = None
        if request.kind == "date":
            value = _day(text)
        elif plain := _VALUE.fullmatch(text):
            value = Decimal(0)
            units.add(_measure(plain))
        if value is None and not any(map(str.isdigit, text)) and not _NO_NUMBER.fullmatch(text):
            return []
        answer = CellAnswer(passage=passage, row=row, cell=cell, score=1.0)
        found.append(_Value(answer=answer, text=text, value=value))
    names = [one.name.casefold() for one in found]
    named = all(map(_is_name, names)) or bool(request.subject & _words(table.first))
    known = sum(one.value is not None for one in found)
    if len(set(names)) < len(names) or not named or len(units) > 1 or known < max(2, len(found) - known):
        return []
    return found if request.kind == "date" else _read(found)


def _measure(found: re.Match[str]) -> tuple[str, ...]:
    return (found["before"], *map(stem, found["after"].casefold().split()))


def _is_name(label: str) -> bool:
    return any(map(str.isalpha, label))


def _day(text: str) -> Decimal | None:
    """A whole date as a number, if it can be read in one way."""
    found = moments(text)
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(text)) or len(found[0].readings) != 1:
        return None
    year, month, day = found[0].readings[0]
    return Decimal(year * 10_000 + month * 100 + day) if year and month and day else None


def _read(found: Sequence[_Value]) -> list[_Value]:
    """The values as numbers with a decimal point or, if it must be, a comma; [] if either is possible."""
    read = [values for form in _FORMS if (values := _numbers(found, form))]
    return read[0] if len({tuple(one.value for one in values) for values in read}) == 1 else []


def _numbers(found: Sequence[_Value], form: re.Pattern[str]) -> list[_Value]:
    made = []
    for one in found:
        if one.value is not None:
            plain = _VALUE.fullmatch(one.text)
            number = plain["number"] if plain else ""
            if not form.fullmatch(number):
                return []
            one = msgspec.structs.replace(one, value=_decimal(number, form))
        made.append(one)
    return made


def _decimal(number: str, form: re.Pattern[str]) -> Decimal:
    mark, point = (",", ".") if form is _FORMS[0] else (".", ",")
    bare = re.sub(r"['\u2019 ]", "", number).replace(mark, "").replace(point, ".")
    return Decimal(bare.replace("\u2212", "-"))


# --- what follows from it -------------------------------------------------------------------------


def _extreme(request: Request, head: str, values: Sequence[_Value]) -> Comparison | None:
    """The smallest or largest; None if a row without a single value might be it."""
    low = request.how == "low"
    known = [one for one in values if one.value is not None]
    open_ = [one for one in values if one.value is None]
    known.sort(key=lambda one: one.value or 0, reverse=not low)
    if len(known) < 2 or (request.pair and open_) or not all(_worse(one, known[0], low=low) for one in open_):
        return None
    sign = "<" if low else ">"
    chain = known[0].text
    for one, other in pairwise(known[:MOST_CHAIN]):
        chain += f" {'=' if one.value == other.value else sign} {other.text}"
    chain += f" {sign} …" if len(known) > MOST_CHAIN else ""
    first = [one for one in known if one.value == known[0].value]
    of = f"{len(known)} rows{' with a single value' if open_ else ''}"
    degree = _SAID[request.kind == "date", low][bool(request.pair)]
    what = f"{degree} {head} of {_listed(values) if request.pair else of}"
    working = f"{_listed(first)}, {first[0].text} ({chain}){_left_open(open_)}"
    return _comparison(what, working, head, values if request.pair else first, values)


def _worse(open_: _Value, best: _Value, *, low: bool) -> bool:
    """Whether a row without a single value cannot be as good as the best: it has none, or a range beyond."""
    span, plain = _SPAN.fullmatch(open_.text), _VALUE.fullmatch(best.text)
    if not span or not plain or best.value is None:
        return not any(map(str.isdigit, open_.text))
    ends = [
        [_decimal(span[end], form) for form in _FORMS if form.fullmatch(span[end])]
        for end in ("number", "to")
    ]
    worse = (end > best.value if low else end < best.value for read in ends for end in read)
    return _measure(span) == _measure(plain) and all(ends) and all(worse)


def _filtered(request: Request, head: str, values: Sequence[_Value]) -> Comparison | None:
    """The rows within the bound and their number; None if the column's scale is not that of the bound."""
    read = {_decimal(request.bound, form) for form in _FORMS if form.fullmatch(request.bound)}
    if len(read) != 1 or not values or request.kind == "date":
        return None
    (bound,) = read
    context = f"{values[0].answer.passage.chunk.context}\n{head}"
    known = [one for one in values if one.value is not None]
    plain = _VALUE.fullmatch(known[0].text)
    after = plain["after"].casefold() if plain else ""
    if context_scales(context) != {1} or unread_scales(head) or after.partition(" ")[0] in _SCALED:
        return None
    within = [one for one in known if one.value is not None and _HOLDS[request.how](one.value, bound)]
    told = ", ".join(f"{one.name} {one.text}" for one in within) or "none"
    unit = f" {request.unit}" if request.unit.isalpha() else request.unit
    amount = f"{request.bound}{unit}" if request.unit not in "$€£¥₹" else f"{request.unit}{request.bound}"
    what = f"{len(within)} of {len(values)} rows have {head} of {request.how} {amount}"
    # Without one, the value nearest to the bound shows that there is none.
    nearest = sorted(known, key=lambda one: abs((one.value or 0) - bound))[:1]
    open_ = [one for one in values if one.value is None]
    return _comparison(what, told + _left_open(open_), head, within or nearest, values)


def _listed(values: Sequence[_Value]) -> str:
    return " and ".join(one.name for one in values)


def _left_open(open_: Sequence[_Value]) -> str:
    named = ", ".join(f"{one.name} ({one.text})" if one.text else one.name for one in open_)
    return (
        f". {len(open_)} {'row has' if len(open_) == 1 else 'rows have'} no single value: {named}"
        if open_
        else ""
    )


def _comparison(
    what: str, working: str, head: str, shown: Sequence[_Value], values: Sequence[_Value]
) -> Comparison:
    return Comparison(
        shown=tuple(one.answer for one in shown),
        result=CalculationResult(
            what=what, working=working, result="", cells=tuple(one.answer for one in values),
            reasoning=f"the cells under “{head}” of all {len(values)} rows compared",
        ),
    )  # fmt: skip


def recompared(claim: DraftClaim, question: str, cited: Cited) -> str | None:
    """Why a comparison in ``claim`` does not follow from the ``cited`` spans, "" if it does; None for a claim
    that is no comparison asked for."""
    made = compared(question, [passage for passage, _ in cited])
    if made is None or claim.reasoning != made.result.reasoning:
        return None
    spans = {passage.chunk.chunk_id: spans for passage, spans in cited}
    for answer in made.result.cells:
        at = answer.cell or answer.row
        needed = [(at.start, at.end), label_span(answer.passage, answer.row)]
        held = spans[answer.passage.chunk.chunk_id]
        if not all(any(a <= start and end <= b for a, b in held) for start, end in needed if answer.cell):
            return f"the value of {answer.row.label} is not cited"
    told = f"{made.result.what}: {made.result.working}"
    return "" if claim.text.strip() == told else f"the table gives “{told}”"
