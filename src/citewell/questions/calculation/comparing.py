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
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

import msgspec

from citewell.core.records import DraftClaim, Passage, Record, Row, TableExtent
from citewell.questions.calculation.degrees import (
    MONEY,
    NUMBER,
    Request,
    asked,
    head_words,
    unit_of,
    words_of,
)
from citewell.questions.calculator import CalculationResult
from citewell.questions.parsing import stem
from citewell.questions.quantity import moments
from citewell.questions.rows import CellAnswer, label_span, text_of, whole
from citewell.questions.scales import context_scales, unread_scales

Cited = Sequence[tuple[Passage, Sequence[tuple[int, int]]]]
MOST_ROWS, MOST_CHAIN, MOST_NAME = 200, 5, 80
_HOLDS = {"less than": operator.lt, "more than": operator.gt, "at most": operator.le, "at least": operator.ge}
_SAID = {
    (False, True): ("Smallest", "Smaller"), (False, False): ("Largest", "Larger"),
    (True, True): ("Earliest", "Earlier"), (True, False): ("Latest", "Later"),
}  # fmt: skip
_TOTAL = re.compile(
    r"\W*(?:(?:grand |sub-?)?totals?|sum|average|mean|median|all|overall|of which|thereof)\b", re.I
)
_RANKED = frozenset(str.split("rank ranking position place grade priority class level id code"))
_BESIDE = frozenset(
    str.split("setup late extra additional cancellation activation shipping delivery deposit installation")
)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]")
# Columns that give the other cells of their row another meaning.
_TURNING = frozenset(str.split("currency unit uom measure scale basis billing billed period"))
# Cells that cannot hide the smallest or largest value, as "free" and "unlimited" do.
_NO_NUMBER = re.compile(
    r"[-–—.…/]*|n/?a|n\.a\.|tb[da]|unknown|custom|varies|(?:up)?on request|by request|contact us|quote", re.I
)
_SCALED = frozenset(str.split("k K m M MM B T bn mn mio Mio mrd Mrd tsd thousand million billion lakh crore"))
_VALUE = re.compile(rf"(?P<before>{MONEY}?) ?(?P<number>{NUMBER}) ?(?P<after>(?:[^\d\s]\D{{0,30}})?)")
_SPAN = re.compile(
    rf"(?P<before>{MONEY}?) ?(?P<number>{NUMBER}) ?(?:-|–|—|to) ?(?P<to>{NUMBER}) ?(?P<after>\D{{0,30}})"
)
_FORMS = (
    (re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:[,'’ ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"), ",", "."),
    (re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:[.'’ ]\d{3})+(?:,\d\d?)?|\d+(?:,(?:\d\d?|\d{4,}))?)"), ".", ","),
)
"""With a decimal point, and with a decimal comma: "1.500" is a number of both forms, and in doubt."""


class Comparison(Record, frozen=True, kw_only=True):
    """``shown`` are the rows that answer; ``result`` is about all rows that were compared."""

    shown: tuple[CellAnswer, ...]
    result: CalculationResult


class _Table(Record, frozen=True, kw_only=True):
    """``first`` are the words of the head above the labels; ``about`` those that say what its rows are."""

    extent: TableExtent
    rows: dict[int, tuple[Passage, Row]]
    first: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()

    def cells(self, head: str) -> list[str]:
        cells = ((passage, cell) for passage, row in self.rows.values() for cell in row.cells)
        return [text_of(passage, cell.start, cell.end) for passage, cell in cells if cell.head == head]


class _Value(Record, frozen=True, kw_only=True):
    """``value`` is None where the cell ``text`` is no single number."""

    answer: CellAnswer
    name: str
    text: str
    value: Decimal | None


def compared(question: str, passages: Sequence[Passage]) -> Comparison | None:
    """The comparison asked for, or None."""
    request = asked(question)
    if request is None:
        return None
    fits = [(table, head) for table in _tables(passages) if (head := _column(request, table))]
    nearest = [(table, head) for table, head in fits if request.subject & table.first] or fits
    if len(nearest) != 1:
        return None
    table, head = nearest[0]
    values = _values(request, table, head)
    if request.pair:
        values = [one for name in request.pair for one in values if one.name.casefold() == name]
    if len(values) < max(2, len(request.pair)):
        return None
    return (_filtered if request.bound else _extreme)(request, head, values)


# --- the table and its column ---------------------------------------------------------------------


def _tables(passages: Sequence[Passage]) -> list[_Table]:
    """Each table with the rows that the passages hold whole."""
    tables: dict[tuple[str, int], _Table] = {}
    for passage in passages:
        chunk = passage.chunk
        for extent in chunk.tables:
            rows = [row for row in chunk.rows if extent.start <= row.start < extent.end]
            begins = bool(rows) and extent.start >= chunk.start_offset
            above = text_of(passage, extent.start, rows[0].start) if begins else ""
            first = words_of(" ".join(line.partition("\t")[0] for line in above.split("\n")))
            about = words_of(" ".join((extent.title, chunk.title, *chunk.section_path, chunk.document_id)))
            key = (chunk.document_version, extent.start)
            old = tables.get(key) or _Table(extent=extent, rows={})
            held = {row.start: (passage, row) for row in rows if whole(passage, row)}
            tables[key] = _Table(
                extent=extent, rows=old.rows | held, first=old.first | first, about=old.about | about | first
            )
    return list(tables.values())


def _column(request: Request, table: _Table) -> str:
    """The head of the one column asked for, or "": several, none, or words that nothing explains."""
    heads = dict.fromkeys(cell.head for _, row in table.rows.values() for cell in row.cells)
    own = {head: words_of(head) for head in heads}
    named = [h for h in own if request.words & own[h] and request.words <= own[h] | table.about]
    if not named and request.words <= table.about:
        by_unit, words = bool(request.unit and not request.kind), head_words(request.kind)
        named = [head for head in own if by_unit or own[head] & words]
        measured = [units for head in heads if (units := _units(head, table))]
        # A fee beside another column in euros, or a late fee, need not be the price.
        named = [h for h in named if measured.count(_units(h, table)) < 2 and not own[h] & _BESIDE]
    if request.unit:
        named = [head for head in named if _units(head, table) == {unit_of(request.unit)}]
    if len(named) != 1 or len(named[0]) > MOST_NAME or own[named[0]] & (_RANKED | words_of(request.said)):
        return ""
    labels = {row.label.casefold() for _, row in table.rows.values()}
    elsewhere = any(request.subject & words for words in own.values()) and not request.subject & table.first
    fits = request.subject <= table.about and labels.issuperset(request.pair) and not elsewhere
    return named[0] if fits else ""


def _units(head: str, table: _Table) -> frozenset[object]:
    """The units that the column states in its head or its cells."""
    found = filter(None, map(_VALUE.fullmatch, table.cells(head)))
    return _stated(head, *(f"({value['before']} {value['after']})" for value in found))


def _stated(*texts: str) -> frozenset[object]:
    """The known units in brackets or after a last comma."""
    said = [part for text in texts for part in (*_BRACKETS.findall(text), *text.split(", ")[1:][-1:])]
    words = {word for text in said for word in text.partition(" per ")[0].replace(";", " ").split()}
    return frozenset(map(unit_of, words)) - {None}


def _values(request: Request, table: _Table, head: str) -> list[_Value]:
    """The values of all rows, in their order; [] if any row, name or number is in doubt."""
    if not table.extent.whole or not len(table.rows) == table.extent.rows <= MOST_ROWS:
        return []
    heads = {cell.head for _, row in table.rows.values() for cell in row.cells} - {head}
    if any(words_of(other) & _TURNING and len(set(table.cells(other))) > 1 for other in heads):
        return []
    found: list[_Value] = []
    # Rows in euros and dollars, or under "Monthly" and "Yearly".
    if len({(_stated(row.label), row.group) for _, row in table.rows.values() if row.cells}) > 1:
        return []
    groups = {name for _, row in table.rows.values() for name in row.group.split(" › ")}
    for passage, row in (table.rows[at] for at in sorted(table.rows)):
        if not row.cells and row.label in groups:
            continue
        cells = [cell for cell in row.cells if cell.head == head]
        text = " ".join(text_of(passage, cells[0].start, cells[0].end).split()) if cells else ""
        value = _day(text) if request.kind == "date" else Decimal() if _VALUE.fullmatch(text) else None
        around = f"{row.group} {row.label}"
        if (
            len(cells) > 1
            or max(len(row.label), len(text)) > MOST_NAME
            or _TOTAL.match(row.label)
            or context_scales(around) != {1}
            or "%" in around
            or (value is None and not any(map(str.isdigit, text)) and not _NO_NUMBER.fullmatch(text))
        ):
            return []
        answer = CellAnswer(passage=passage, row=row, cell=cells[0] if cells else None, score=1.0)
        found.append(_Value(answer=answer, name=" ".join(row.label.split()), text=text, value=value))
    names = {one.name.casefold() for one in found}
    named = all(any(map(str.isalpha, name)) for name in names) or (
        request.subject & table.first and "" not in names
    )
    known = [one for one in found if one.value is not None]
    if len(names) < len(found) or not named or 2 * len(known) < len(found):
        return []
    return found if request.kind == "date" else _numbers(found)


def _day(text: str) -> Decimal | None:
    """A whole date as a number, if it can be read in one way."""
    found = moments(text)
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(text)) or len(found[0].readings) != 1:
        return None
    year, month, day = found[0].readings[0]
    return Decimal(year * 10_000 + month * 100 + day) if year and month and day else None


def _numbers(found: Sequence[_Value]) -> list[_Value]:
    """``found`` with the values of its numbers; [] if they have several units or may be read in two ways."""
    plain = {one.name: match for one in found if (match := _VALUE.fullmatch(one.text))}
    read = _decimals([match["number"] for match in plain.values()])
    values = dict(zip(plain, read, strict=False))
    if len({_measure(match) for match in plain.values()}) > 1 or not values:
        return []
    return [msgspec.structs.replace(one, value=values.get(one.name)) for one in found]


def _decimals(numbers: Sequence[str]) -> list[Decimal]:
    """All with a decimal point, or all with a comma; [] if neither or both are possible."""
    read = [
        [Decimal(re.sub(rf"['’ {mark}]", "", n).replace(point, ".").replace("−", "-")) for n in numbers]
        for form, mark, point in _FORMS
        if all(map(form.fullmatch, numbers))
    ]
    return read[0] if read and read[0] == read[-1] else []


def _measure(found: re.Match[str]) -> tuple[str, ...]:
    return (found["before"], *map(stem, found["after"].split()))


# --- what follows from it -------------------------------------------------------------------------


def _extreme(request: Request, head: str, values: Sequence[_Value]) -> Comparison | None:
    """The smallest or largest; None if a row without a single value might be it."""
    low = request.how == "low"
    known = [one for one in values if one.value is not None]
    known.sort(key=lambda one: one.value or 0, reverse=not low)
    open_ = [one for one in values if one.value is None]
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
    working = f"{_listed(first)}, {first[0].text} ({chain})"
    return _comparison(what, working, head, values if request.pair else first, values)


def _worse(open_: _Value, best: _Value, *, low: bool) -> bool:
    """Whether a row without a single value cannot be as good as the best: it has none, or a range beyond."""
    span, plain = _SPAN.fullmatch(open_.text), _VALUE.fullmatch(best.text)
    if not span or not plain or best.value is None:
        return not any(map(str.isdigit, open_.text))
    ends = _decimals([span["number"], span["to"]])
    beyond = bool(ends) and all(end > best.value if low else end < best.value for end in ends)
    return beyond and _measure(span) == _measure(plain)


def _filtered(request: Request, head: str, values: Sequence[_Value]) -> Comparison | None:
    """The rows within the bound and their number; None if the column's scale is not that of the bound."""
    known = [(one, one.value) for one in values if one.value is not None]
    context = f"{values[0].answer.passage.chunk.context}\n{head}"
    after = [match["after"] for one, _ in known if (match := _VALUE.fullmatch(one.text))]
    bound = _decimals([request.bound])
    if not bound or not after:
        return None
    scaled = context_scales(context) != {1} or unread_scales(head) or after[0].partition(" ")[0] in _SCALED
    if scaled:
        return None
    within = [one for one, value in known if _HOLDS[request.how](value, bound[0])]
    # Without one, the value nearest to the bound shows that there is none.
    nearest = min(known, key=lambda one: abs(one[1] - bound[0]))[0]
    amount = (
        f"{request.unit}{request.bound}"
        if request.unit[-1:] in tuple("$€£¥₹")
        else f"{request.bound} {request.unit}"
    )
    what = f"{len(within)} of {len(values)} rows have {head} of {request.how} {amount.strip()}"
    told = ", ".join(f"{one.name} {one.text}" for one in within) or "none"
    return _comparison(what, told, head, within or [nearest], values)


def _listed(values: Sequence[_Value]) -> str:
    return " and ".join(one.name for one in values)


def _comparison(
    what: str, working: str, head: str, shown: Sequence[_Value], values: Sequence[_Value]
) -> Comparison:
    open_ = [f"{one.name} ({one.text})" if one.text else one.name for one in values if one.value is None]
    if open_:
        rows = "1 row has" if len(open_) == 1 else f"{len(open_)} rows have"
        working += f". {rows} no single value: {', '.join(open_)}"
    result = CalculationResult(
        what=what,
        working=working,
        result="",
        reasoning=f"the cells under “{head}” of all {len(values)} rows compared",
        cells=tuple(one.answer for one in values),
    )
    return Comparison(shown=tuple(one.answer for one in shown), result=result)


def recompared(claim: DraftClaim, question: str, cited: Cited) -> str | None:
    """Why a comparison in ``claim`` does not follow from the ``cited`` spans, "" if it does; None for a claim
    that is no comparison asked for."""
    made = compared(question, [passage for passage, _ in cited])
    if made is None or claim.reasoning != made.result.reasoning:
        return None
    spans = {passage.chunk.chunk_id: held for passage, held in cited}
    for answer in made.result.cells:
        at, held = answer.cell or answer.row, spans[answer.passage.chunk.chunk_id]
        needed = [(at.start, at.end), label_span(answer.passage, answer.row)] if answer.cell else []
        if not all(any(a <= start and end <= b for a, b in held) for start, end in needed):
            return f"the value of “{answer.row.label}” is not cited"
    told = f"{made.result.what}: {made.result.working}"
    return "" if claim.text.strip() == told else f"the table gives “{told}”"
