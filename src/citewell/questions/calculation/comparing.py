"""Rows of one table compared: the smallest or largest value, the better of two rows, rows within a bound.

In: a question ("Which plan is the cheapest?", "Is Basic or Pro cheaper?", "How many plans have at least 100
GB?") and passages. Out: a result over all rows of one table, with its cells; None unless the table
explains every word of the question, no other table or column does, all its rows are among the passages, and
their values are numbers of one unit. The writer and the checker call the same function, the checker with the
cited passages alone. Independent of how an answer is worded.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from citewell.core.records import DraftClaim, Passage, Record, Row, TableExtent
from citewell.questions.calculator import CalculationResult, Cited
from citewell.questions.parsing import label_words, stem
from citewell.questions.quantity import CURRENCIES, UNITS
from citewell.questions.rows import CellAnswer, label_span, text_of, whole
from citewell.questions.scales import context_scales, unread_scales

MOST_CHARACTERS, MOST_ROWS, MOST_CHAIN, MOST_NAME = 200, 200, 5, 80
# Kind; words for a small value; for a large one; for the kind itself, in questions and heads.
_KINDS = (
    ("price", "cheaper cheapest|less expensive|least expensive|less costly|least costly",
     "dearer dearest costlier costliest|more expensive|most expensive|more costly|most costly",
     "price cost fee charge"),
    ("time", "shorter shortest", "longer longest", "duration time period length last"),
    ("weight", "lighter lightest", "heavier heaviest", "weight mass weigh"),
    ("size", "smaller smallest", "bigger biggest larger largest", "size area"),
    ("", "lower lowest fewer fewest less least", "higher highest greater greatest more most", ""),
)  # fmt: skip
_HEADS = {kind: frozenset(heads.split()) for kind, _, _, heads in _KINDS}
_DEGREES = {
    word: (how, kind)
    for kind, low, high, _ in _KINDS
    for how, said in (("low", low), ("high", high))
    for at, phrases in enumerate(said.split("|"))
    for word in ([phrases] if at else phrases.split())
}
_BOUNDS = {
    "less": "less than", "fewer": "less than", "under": "less than", "below": "less than",
    "more": "more than", "over": "more than", "above": "more than", "at most": "at most",
    "no more": "at most", "not more": "at most", "at least": "at least", "no less": "at least",
    "no fewer": "at least", "low": "less than", "high": "more than",
}  # fmt: skip
_HOLDS = {"less than": operator.lt, "more than": operator.gt, "at most": operator.le, "at least": operator.ge}
_SAID = {"low": ("Smallest", "Smaller"), "high": ("Largest", "Larger")}
_FILLER = frozenset(
    label_words(
        "a an the of in all our your their its these those available one ones which what how many is are was "
        "were has have had with do you we they there offer"
    )
)
_RANKED = frozenset(str.split("rank ranking position place grade priority class level id code"))
_BESIDE = frozenset(
    str.split("setup late extra additional cancellation activation shipping delivery deposit installation")
)
# Columns that give the other cells of their row another meaning.
_TURNING = frozenset(str.split("currency unit uom measure scale basis billing billed period"))
_TOTAL = re.compile(
    r"\W*(?:(?:grand |sub-?)?totals?|sum|average|mean|median|all|overall|of which|thereof)\b", re.I
)
_BRACKETS = re.compile(r"[(\[]([^()\[\]]+)[)\]]")
# Cells that cannot hide the smallest or largest value, as "free" and "unlimited" do.
_NO_NUMBER = re.compile(
    r"[-–—.…/]*|n/?a|n\.a\.|tb[da]|unknown|custom|varies|(?:up)?on request|by request|contact us|quote", re.I
)
_SCALED = re.compile(r"\d ?(?:[kKmMBT]|MM|bn|mn|[Mm]io|[Mm]rd|tsd|thousand|million|billion|lakh|crore)\b")
_MONEY = r"(?:(?:US|HK|C|A|NZ|S)?[$€£¥₹]|USD|EUR|GBP|CHF)"
_NUMBER = r"[-−]?\d(?:[\d.,'’ ]*\d)?"
_VALUE = re.compile(rf"(?P<before>{_MONEY}?) ?(?P<number>{_NUMBER}) ?(?P<after>(?:[^\d\s]\D{{0,30}})?)")
_FORMS = (
    (re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:[,'’ ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"), ",", "."),
    (re.compile(r"[-−]?(?:[1-9]\d{0,2}(?:[.'’ ]\d{3})+(?:,\d\d?)?|\d+(?:,(?:\d\d?|\d{4,}))?)"), ".", ","),
)
"""With a decimal point, and with a decimal comma: "1.500" is a number of both forms, and in doubt."""


def _either(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_ASKS = re.compile(r"(?:which|what|how many)\b|(?:is|are)\b.* or ", re.I)
_DEGREE = re.compile(rf"\b(?P<degree>{_either(_DEGREES)})\b", re.I)
_SUPERLATIVE = re.compile(r"est$|^(?:most|least)")
_BOUND = re.compile(
    rf"\b(?:of )?(?:(?P<op>{_either(_BOUNDS)})(?: than)?|(?P<degree>{_either(_DEGREES)}) than) "
    rf"(?P<money>{_MONEY}?) ?(?P<bound>{_NUMBER}) ?(?P<unit>%|[^\s\d]+)?",
    re.I,
)


class _Request(Record, frozen=True, kw_only=True):
    """``how``: "low", "high" or one of the bounds; ``degree`` is the word for it. ``before`` and ``after``:
    the other words; those before a degree name the rows, the others the rows or the column."""

    degree: str
    how: str
    kind: str
    before: str
    after: str
    bound: str = ""
    unit: str = ""


class _Table(Record, frozen=True, kw_only=True):
    """``first`` are the words of the head above the labels; ``about`` those that say what its rows are."""

    extent: TableExtent
    rows: dict[int, tuple[Passage, Row]]
    first: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()

    def cells(self, head: str) -> list[str]:
        cells = ((passage, cell) for passage, row in self.rows.values() for cell in row.cells)
        return [text_of(passage, cell.start, cell.end) for passage, cell in cells if cell.head == head]


class _Column(Record, frozen=True, kw_only=True):
    """``pair``: the labels of the two rows asked for, () for all. ``by_head``: the question names the rows by
    the head above their labels."""

    table: _Table
    head: str
    pair: tuple[str, ...]
    by_head: bool


_Values = Mapping[str, tuple[CellAnswer, str, Decimal | None]]
"""By the label of each row: its cell, the words of it, and their number if they are one."""


def compared(question: str, passages: Sequence[Passage]) -> CalculationResult | None:
    """The comparison asked for, or None."""
    request = _asked(question)
    if request is None:
        return None
    fits = [found for table in _tables(passages) if (found := _column(request, table))]
    fits = [found for found in fits if found.by_head] or fits
    if len(fits) != 1:
        return None
    values = _values(fits[0])
    if pair := fits[0].pair:
        values = {name: values[name] for name in pair if name in values}
    return (_filtered if request.bound else _extreme)(request, fits[0], values) if len(values) > 1 else None


@lru_cache(maxsize=256)
def _asked(question: str) -> _Request | None:
    """What ``question`` asks to compare, as far as its words alone say so."""
    text = " ".join(question.split()).strip(" ?.")
    if len(text) > MOST_CHARACTERS or not _ASKS.match(text):
        return None
    match = _BOUND.search(text) or _DEGREE.search(text)
    if match is None:
        return None
    said = {name: value or "" for name, value in match.groupdict().items()}
    how, kind = _DEGREES.get(said["degree"].lower(), ("", ""))
    unit = said.get("unit", "")
    known = unit if unit_of(unit) else ""
    before, after = text[: match.start()], f"{'' if known else unit} {text[match.end() :]}"
    return _Request(
        degree=said["degree"].lower(),
        how=_BOUNDS[said["op"].lower() or how] if "bound" in said else how,
        kind=kind,
        before=before,
        after=after,
        bound=said.get("bound", ""),
        unit=said.get("money", "") or known,
    )


def words_of(text: str) -> frozenset[str]:
    """The words of ``text``, also those in brackets."""
    return frozenset(label_words(re.sub(r"[()\[\]]", " ", text))) - _FILLER


def unit_of(word: str) -> object:
    """What ``word`` measures, the same for all names of one unit; None for any other word."""
    return "%" if word == "%" else CURRENCIES.get(word.lower()) or UNITS.get(word) or UNITS.get(word.lower())


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


def _column(request: _Request, table: _Table) -> _Column | None:
    """The one column asked for; None if there are several or none, or for words that nothing explains."""
    before, after, pair = _pair(request, table)
    subject, words = words_of(before), words_of(after)
    if request.bound:
        subject, words = frozenset(), subject | words
    elif not pair and not _SUPERLATIVE.search(request.degree):
        return None
    said = (kind for kind, heads in _HEADS.items() if heads & (subject | words))
    kind = request.kind or next(said, "")
    subject -= _HEADS[kind]
    heads = dict.fromkeys(cell.head for _, row in table.rows.values() for cell in row.cells)
    own = {head: words_of(head) for head in heads}
    named = [head for head in own if words & own[head] and words <= own[head] | table.about]
    if not named and words - _HEADS[kind] <= table.about:
        by_unit = bool(request.unit and not kind)
        named = [head for head in own if by_unit or own[head] & _HEADS[kind]]
        measured = [units for head in heads if (units := _units(head, table))]
        # A fee beside another column in euros, or a late fee, need not be the price.
        named = [h for h in named if measured.count(_units(h, table)) < 2 and not own[h] & _BESIDE]
    if request.unit:
        named = [head for head in named if _units(head, table) == {unit_of(request.unit)}]
    if len(named) != 1 or len(named[0]) > MOST_NAME or own[named[0]] & (_RANKED | words_of(request.degree)):
        return None
    (head,) = named
    rest = (subject | words) - own[head] - _HEADS[kind]
    by_head = bool(rest & table.first)
    elsewhere = not by_head and any(rest & own[other] for other in own)
    fits = subject <= table.about and not elsewhere and (subject or words or pair)
    return _Column(table=table, head=head, pair=pair, by_head=by_head) if fits else None


def _pair(request: _Request, table: _Table) -> tuple[str, str, tuple[str, ...]]:
    """What the question has before and after the degree besides "A or B", and these two labels, if any."""
    before, after = request.before, request.after
    if not request.bound and re.search(r" (?:or|and) ", f"{before}{after}"):
        names = {_name(row).casefold(): _name(row) for _, row in table.rows.values() if row.label}
        label = rf"(?:the )?({_either(names)})"
        either = re.compile(rf"(?<!\w){label} (?:or|and) {label}(?!\w)", re.I)
        match = either.search(before) or either.search(after)
        first, second = (names.get(said.casefold(), "") for said in match.groups()) if match else ("", "")
        if first and second and first != second:
            return either.sub("", before), either.sub("", after), (first, second)
    return before, after, ()


def _name(row: Row) -> str:
    return " ".join(row.label.split())


def _units(head: str, table: _Table) -> frozenset[object]:
    """The units that the column states in its head or its cells."""
    found = filter(None, map(_VALUE.fullmatch, table.cells(head)))
    return _stated(head, *(f"({value['before']} {value['after']})" for value in found))


def _stated(*texts: str) -> frozenset[object]:
    """The known units in brackets or after a last comma."""
    said = [part for text in texts for part in (*_BRACKETS.findall(text), *text.split(", ")[1:][-1:])]
    words = {word for text in said for word in text.partition(" per ")[0].replace(";", " ").split()}
    return frozenset(map(unit_of, words)) - {None}


def _values(column: _Column) -> _Values:
    """The values of all rows, in their order; {} if any row, name or number is in doubt."""
    table, head = column.table, column.head
    rows = [row for _, row in table.rows.values() if row.cells]
    heads = {cell.head for row in rows for cell in row.cells} - {head}
    if (
        not table.extent.whole
        or not len(table.rows) == table.extent.rows <= MOST_ROWS
        or any(words_of(other) & _TURNING and len(set(table.cells(other))) > 1 for other in heads)
        # Rows in euros and dollars, or under "Monthly" and "Yearly".
        or len({(_stated(row.label), row.group) for row in rows}) > 1
    ):
        return {}
    groups = {name for _, row in table.rows.values() for name in row.group.split(" › ")}
    found: dict[str, tuple[CellAnswer, str]] = {}
    for passage, row in (table.rows[at] for at in sorted(table.rows)):
        if not row.cells and row.label in groups:
            continue
        cells = [cell for cell in row.cells if cell.head == head]
        text = " ".join(text_of(passage, cells[0].start, cells[0].end).split()) if cells else ""
        name, around = _name(row), f"{row.group} {row.label}"
        if (
            len(cells) > 1
            or max(len(name), len(text)) > MOST_NAME
            or name.casefold() in map(str.casefold, found)
            or not (any(map(str.isalpha, name)) or (name and column.by_head))
            or _TOTAL.match(name)
            or context_scales(around) != {1}
            or "%" in around
            or not (_VALUE.fullmatch(text) or _NO_NUMBER.fullmatch(text))
        ):
            return {}
        answer = CellAnswer(passage=passage, row=row, cell=cells[0] if cells else None, score=1.0)
        found[name] = answer, text
    plain = {name: match for name, (_, text) in found.items() if (match := _VALUE.fullmatch(text))}
    numbers = dict(zip(plain, _decimals([match["number"] for match in plain.values()]), strict=False))
    measures = {(match["before"], *map(stem, match["after"].split())) for match in plain.values()}
    doubt = len(measures) > 1 or not numbers or 2 * len(numbers) < len(found)
    return {} if doubt else {name: (*of, numbers.get(name)) for name, of in found.items()}


def _decimals(numbers: Sequence[str]) -> list[Decimal]:
    """All with a decimal point, or all with a comma; [] if neither or both are possible."""
    read = [
        [Decimal(re.sub(rf"['’ {mark}]", "", n).replace(point, ".").replace("−", "-")) for n in numbers]
        for form, mark, point in _FORMS
        if all(map(form.fullmatch, numbers))
    ]
    return read[0] if read and read[0] == read[-1] else []


# --- what follows from it -------------------------------------------------------------------------


def _extreme(request: _Request, column: _Column, values: _Values) -> CalculationResult | None:
    """The smallest or largest; None if one of two rows has no value."""
    known = [(number, text, name) for name, (_, text, number) in values.items() if number is not None]
    known.sort(key=lambda one: one[0], reverse=request.how == "high")
    without = len(known) < len(values)
    if len(known) < 2 or (column.pair and without):
        return None
    sign = "<" if request.how == "low" else ">"
    chain = known[0][1]
    for (number, *_), (other, text, _) in pairwise(known[:MOST_CHAIN]):
        chain += f" {'=' if number == other else sign} {text}"
    chain += f" {sign} …" if len(known) > MOST_CHAIN else ""
    first = [name for number, _, name in known if number == known[0][0]]
    of = f"{len(known)} rows{' with a single value' if without else ''}"
    degree = _SAID[request.how][bool(column.pair)]
    what = f"{degree} {column.head} of {' and '.join(column.pair) or of}"
    working = f"{' and '.join(first)}, {known[0][1]} ({chain})"
    return _comparison(what, working, column, column.pair or first, values)


def _filtered(request: _Request, column: _Column, values: _Values) -> CalculationResult | None:
    """The rows within the bound and their number; None if the column's scale is not that of the bound."""
    known = {name: number for name, (_, _, number) in values.items() if number is not None}
    answer, text, _ = values[next(iter(known))]
    context = f"{answer.passage.chunk.context}\n{column.head}"
    bound = _decimals([request.bound])
    if not bound or context_scales(context) != {1} or unread_scales(column.head) or _SCALED.search(text):
        return None
    within = [name for name, number in known.items() if _HOLDS[request.how](number, bound[0])]
    # Without one, the value nearest to the bound shows that there is none.
    nearest = min(known, key=lambda name: abs(known[name] - bound[0]))
    sign = request.unit[-1:] in tuple("$€£¥₹")
    amount = f"{request.unit}{request.bound}" if sign else f"{request.bound} {request.unit}"
    what = f"{len(within)} of {len(values)} rows have {column.head} of {request.how} {amount.strip()}"
    told = ", ".join(f"{name} {values[name][1]}" for name in within) or "none"
    return _comparison(what, told, column, within or [nearest], values)


def _comparison(
    what: str, working: str, column: _Column, shown: Sequence[str], values: _Values
) -> CalculationResult:
    without = [f"{name} ({text})" if text else name for name, (_, text, n) in values.items() if n is None]
    if without:
        rows = "1 row has" if len(without) == 1 else f"{len(without)} rows have"
        working += f". {rows} no single value: {', '.join(without)}"
    return CalculationResult(
        what=what,
        working=working,
        result="",
        reasoning=f"the cells under “{column.head}” of all {len(values)} rows compared",
        cells=tuple(answer for answer, *_ in values.values()),
        shown=tuple(values[name][0] for name in shown),
    )


def recompared(claim: DraftClaim, question: str, cited: Cited) -> str | None:
    """Why a comparison in ``claim`` does not follow from the ``cited`` spans, "" if it does; None for a claim
    that is no comparison asked for."""
    made = compared(question, [passage for passage, _ in cited])
    if made is None or claim.reasoning != made.reasoning:
        return None
    spans = {passage.chunk.chunk_id: held for passage, held in cited}
    for answer in made.cells:
        at, held = answer.cell or answer.row, spans[answer.passage.chunk.chunk_id]
        needed = [(at.start, at.end), label_span(answer.passage, answer.row)] if answer.cell else []
        if not all(any(a <= start and end <= b for a, b in held) for start, end in needed):
            return f"the value of “{answer.row.label}” is not cited"
    told = f"{made.what}: {made.working}"
    return "" if claim.text.strip() == told else f"the table gives “{told}”"
