"""Line items of financial statements: how people ask for them, how statements print them, their cells.

In: a question, a row label, passages. Out: the items asked for, how well a label matches one, the cells of an
item in a period. The tables are our own (``line_items.toml``, ``formulae.toml``) and not company-specific.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from citewell.core.records import Cell, Passage, Record, Row
from citewell.core.sentences import blanked, with_free
from citewell.questions.calculator import Mention, Named
from citewell.questions.naming import of_the_named
from citewell.questions.parsing import ParsedQuestion, label_words, stem
from citewell.questions.periods import Period, periods_in
from citewell.questions.rows import CellAnswer, best_first, columns_of_period, text_of

MIN_SCORE = 0.4
MAX_CELLS = 12
MAX_YEARS = 5
INCOME, BALANCE, CASH = "income", "balance", "cash"

STATEMENTS: dict[str, tuple[str, ...]] = {
    INCOME: (
        "income statement", "statement of income", "statements of income", "statement of operations",
        "statements of operations", "statement of earnings", "statements of earnings", "p&l",
        "profit and loss", "consolidated results", "comprehensive income",
    ),
    BALANCE: (
        "balance sheet", "balance sheets", "statement of financial position",
        "statements of financial position", "financial condition",
    ),
    CASH: ("cash flow statement", "statement of cash flows", "statements of cash flows"),
}  # fmt: skip


class LineItem(Record, frozen=True, kw_only=True):
    """``asked``: phrases in questions. ``labels``: as printed, in order of preference."""

    name: str
    statement: str
    asked: tuple[str, ...]
    labels: tuple[str, ...]


class Ratio(Record, frozen=True, kw_only=True):
    """``of``: the line items required; ``forms``: formulas over them, in order of preference."""

    of: tuple[str, ...]
    forms: tuple[str, ...] = ()
    percent: bool = False


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


ITEMS: dict[str, LineItem] = {
    name: LineItem(
        name=name, statement=entry["statement"], asked=tuple(entry["asked"]), labels=tuple(entry["labels"])
    )
    for name, entry in _read("line_items.toml").items()
}
RATIOS: dict[str, Ratio] = {
    name: Ratio(of=tuple(entry["of"]), forms=tuple(entry.get("is", ())), percent=entry.get("percent", False))
    for name, entry in _read("formulae.toml").items()
}

# --- labels ---------------------------------------------------------------------------------------

# Words that give a label another meaning unless the item itself has them.
_TURNS = frozenset(
    map(
        stem,
        str.split("""
            cost costs deferred unearned other change changes increase decrease accrued loss gain
            percent percentage per ratio margin non adjusted pro forma before after excluding less
            noncontrolling comprehensive discontinued supplemental beginning amortization depreciation
            accumulated proceeds acquired effect impact allowance reserve reserves segment average days
            held sale return intangible service product interest continuing current noncurrent restricted
            income tax expense expenses
        """),
    )
)
_NEUTRAL = frozenset(
    map(
        stem,
        str.split("""
            total consolidated the of a an to for from in company corporation inc and its attributable
            common stockholders shareholders shareowners shareholder our reported subsidiaries
            co corp incorporated llc plc ltd basis by provided used
        """),
    )
)


def label_score(label: str, item: LineItem) -> float:
    """How well a row label matches the item, in [0, 1]; 0 if an extra word gives it another meaning."""
    words = label_words(label)
    if not words:
        return 0.0
    ranked = (
        _against(words, label_words(printed)) - min(rank, 10) * 0.004
        for rank, printed in enumerate(item.labels)
    )
    return max(0.0, *ranked)


def core_words(label: str) -> tuple[str, ...]:
    """The words of a label without neutral ones ("total", "of", "consolidated")."""
    words = label_words(label)
    return tuple(word for word in words if word not in _NEUTRAL) or words


def same_label(label: str, asked: str) -> float:
    """1 if ``label`` is ``asked`` word for word, 0.9 except for neutral words such as "total", else 0."""
    words, wanted = label_words(label), label_words(asked)
    if not words or not wanted:
        return 0.0
    return 1.0 if words == wanted else 0.9 if core_words(label) == core_words(asked) else 0.0


def _against(words: tuple[str, ...], printed: tuple[str, ...]) -> float:
    if words == printed:
        return 1.0
    core = tuple(word for word in words if word not in _NEUTRAL) or words
    wanted = tuple(word for word in printed if word not in _NEUTRAL) or printed
    if core == wanted:
        return 0.92
    extra = [word for word in core if word not in wanted]
    if any(word in _TURNS for word in extra):
        return 0.0
    starts = range(len(core) - len(wanted) + 1)
    at = next((at for at in starts if core[at : at + len(wanted)] == wanted), None)
    if at is None:
        return 0.0
    # "Revenue from clients": words after specify the item; words before usually change it.
    return max(0.0, (0.8 if at == 0 else 0.65) - 0.06 * len(extra))


# --- what a text names ----------------------------------------------------------------------------

# The three kinds of cash flow, named together.
_FLOWS = re.compile(
    r"\b(?P<operating>operati(?:ons|ng)(?: activities)?),? (?P<investing>investing(?: activities)?),?"
    r" (?:and|or) (?P<financing>financing(?: activities)?)\b",
    re.I,
)

# "Relying on the income statement", "as shown in the balance sheet": where to look, not part of the value.
_LED = r"(?:\b\w+(?:ing|ed|wn|to) (?:\w+ly )?(?:(?:on|to|from|in|by) )?the )?"


@lru_cache(maxsize=1)
def _patterns() -> tuple[list[tuple[str, re.Pattern[str]]], list[tuple[str, re.Pattern[str]]]]:
    def compiled(phrase: str) -> re.Pattern[str]:
        inner = re.escape(phrase).replace(r"\ ", r"(?:[\s,]+(?:the\s+)?|-)").replace("and", r"(?:and|&)")
        return re.compile(rf"(?<![\w&]){inner}s?(?![\w&])", re.I)

    def by_length(pair: tuple[str, re.Pattern[str]]) -> tuple[int, str]:
        return -len(pair[1].pattern), pair[0]

    items = [(item.name, compiled(phrase)) for item in ITEMS.values() for phrase in {*item.asked, item.name}]
    return sorted(items, key=by_length), sorted(((name, compiled(name)) for name in RATIOS), key=by_length)


@lru_cache(maxsize=1024)
def named_in(text: str) -> Named:
    """Line items and ratios named in ``text``, in order; longest phrases win, none inside another."""
    patterns, ratios = _patterns()
    items = _mentions(text, patterns)
    formulae = tuple(replace(found, of=RATIOS[found.name].of) for found in _mentions(text, ratios))
    flows = _FLOWS.search(text)
    if flows and not any(one.start < flows.end() and flows.start() < one.end for one in items):
        kinds = (
            Mention(name=f"net cash from {name} activities", start=flows.start(name), end=flows.end(name))
            for name in ("operating", "investing", "financing")
        )
        items = tuple(sorted((*items, *kinds), key=lambda mention: mention.start))
    low = text.lower()
    places = (
        (found.start(), found.end())
        for names in STATEMENTS.values()
        for name in names
        for found in re.finditer(rf"{_LED}{re.escape(name)}(?: statement)?", low)
    )
    return Named(items=items, formulae=formulae, statements=statements_in(text), places=tuple(places))


def _mentions(text: str, patterns: list[tuple[str, re.Pattern[str]]]) -> tuple[Mention, ...]:
    taken: list[Mention] = []
    for name, pattern in patterns:
        matches = pattern.finditer(text)
        taken = with_free(taken, (Mention(name=name, start=m.start(), end=m.end()) for m in matches))
    return tuple(taken)


def statements_in(text: str) -> tuple[str, ...]:
    """Which statements ``text`` (a question, a table title, a section) names."""
    low = text.lower()
    return tuple(kind for kind, names in STATEMENTS.items() if any(name in low for name in names))


def statements_of(passage: Passage) -> tuple[str, ...]:
    """Which statements a passage's context and section names."""
    return statements_in(_place_of(passage))


def _place_of(passage: Passage) -> str:
    return f"{passage.chunk.context}\n{' › '.join(passage.chunk.section_path)}"


# --- cells ----------------------------------------------------------------------------------------

_BAD_PLACE = re.compile(
    r"segment|pro[ -]?forma|parent company|quarterly (?:financial|results)|selected|"
    r"condensed consolidating|"
    r"guarantor|as a percent|percent of|% of|reconcil|hypothetical|discontinued",
    re.I,
)
_SUPERLATIVE = re.compile(
    r"\b(?:highest|lowest|largest|smallest|biggest|most|least|best|worst|greatest|top|more|less|fewest)\b",
    re.I,
)
_PERCENT_HEAD = re.compile(r"%|percent(?:age)?s?(?:\s+(?:to|of|change|increase|decrease)\b|\s*$)", re.I)
_DULL = frozenset(
    label_words(
        "year years ended month months three six nine twelve fiscal as of quarter week weeks for the end "
        "ending at period and millions thousands in total consolidated unaudited audited restated "
        "13 26 39 52 53"
    )
)


def find_item(
    wanted: ParsedQuestion,
    item: LineItem,
    period: Period | None,
    passages: Sequence[Passage],
    *,
    segments: bool = False,
) -> list[CellAnswer]:
    """Cells of rows labelled as ``item`` under a column of ``period``, best first.

    With ``segments``, tables of segments, and each of their columns, rank equally with the whole company's.
    """
    found: list[CellAnswer] = []
    for passage in of_the_named(wanted, passages):
        place = 1.0 if segments else _place_fit(passage, item, wanted)
        for row in passage.chunk.rows:
            label = label_score(row.label, item)
            if label <= 0.0:
                continue
            for cell, fit in columns_of_period(passage, row, period, every=wanted.every):
                if not segments and not _qualified(wanted, passage, row, cell):
                    continue
                extra = 1.0 if segments else _head_extra(cell.head, wanted, passage)
                score = label * place * fit * extra * _kind_fit(passage, cell, item)
                if score >= MIN_SCORE:
                    found.append(CellAnswer(passage=passage, row=row, cell=cell, score=score))
    return best_first(found)


def labelled_cells(label: str, period: Period, passages: Sequence[Passage]) -> list[CellAnswer]:
    """Cells of rows labelled ``label`` under a column of ``period``, best first."""
    return best_first(
        CellAnswer(passage=passage, row=row, cell=cell, score=same * fit)
        for passage in passages
        for row in passage.chunk.rows
        if (same := same_label(row.label, label))
        for cell, fit in columns_of_period(passage, row, period)
    )


def item_cells(
    wanted: ParsedQuestion, passages: Sequence[Passage]
) -> list[tuple[str, Period | None, list[CellAnswer]]]:
    """Each requested item in each requested period with its cells, best first."""
    periods = wanted.periods or (None,)
    return [
        (name, period, find_item(wanted, ITEMS[name], period, passages))
        for name in wanted.operands
        for period in periods
    ]


def statement_cells(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """The best cell for each requested line item and period; [] unless all are found (one, for "A or B").

    A partial result is not an answer; split aspects ask for one item and period each.
    """
    found: list[CellAnswer] = []
    first = ""
    for name, _, cells in item_cells(wanted, passages):
        if wanted.either and found and name != first:
            break
        if not cells and not wanted.either:
            return []
        first = name if cells else first
        same = [cell for cell in cells if cell.row == cells[0].row] if wanted.every else cells[:1]
        found += same[:MAX_YEARS]
    return found[:MAX_CELLS]


def compared_cells(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[CellAnswer]:
    """For a question about the highest or lowest: the item's values in every column of the period.

    Returns all compared values of the best table; picking the extreme is left to the reader.
    """
    if not wanted.items or not _SUPERLATIVE.search(wanted.question):
        return []
    item, period = ITEMS[wanted.items[0].name], next(iter(wanted.periods), None)
    by_table: dict[tuple[str, tuple[str, ...]], list[CellAnswer]] = {}
    for answer in find_item(wanted, item, period, passages, segments=True):
        chunk = answer.passage.chunk
        by_table.setdefault((chunk.document_version, chunk.section_path), []).append(answer)
    tables = [answers for answers in by_table.values() if len(answers) > 1]
    return max(tables, key=lambda answers: (len(answers), answers[0].score), default=[])[:MAX_CELLS]


def printed(wanted: ParsedQuestion) -> list[str]:
    """The first two labels of each requested item, and the first two titles of each statement."""
    labels = [label for name in wanted.operands for label in ITEMS[name].labels[:2]]
    titles = [title for name in wanted.statements for title in STATEMENTS[name][:2]]
    return list(dict.fromkeys([*labels, *titles]))


def _qualified(wanted: ParsedQuestion, passage: Passage, row: Row, cell: Cell) -> bool:
    """Whether the qualifiers asked for ("deferred", "domestic") appear with the value."""
    if not wanted.words or not wanted.by_cell:
        return True
    around = f"{row.label} {cell.head} {_place_of(passage)}".replace("\n", " ")
    return set(wanted.words) <= set(label_words(around))


def _place_fit(passage: Passage, item: LineItem, wanted: ParsedQuestion) -> float:
    """How well the table fits: the statement asked for, or the item's usual statement."""
    named = statements_of(passage)
    asked = wanted.statements or (item.statement,)
    fit = 1.0 if any(kind in named for kind in asked) else 0.75 if named else 0.85
    if _BAD_PLACE.search(_place_of(passage)) and not _BAD_PLACE.search(wanted.question):
        fit *= 0.75
    return fit


def _head_extra(head: str, wanted: ParsedQuestion, passage: Passage) -> float:
    """Factor in [0.6, 1], lower for each head word besides the period, such as a segment's name."""
    own = {*wanted.terms, *label_words(passage.chunk.title)}
    extra = [
        word for word in label_words(blanked(head, periods_in(head))) if word not in _DULL and word not in own
    ]
    return max(0.6, 1.0 - 0.08 * len(extra))


def _kind_fit(passage: Passage, cell: Cell, item: LineItem) -> float:
    """Factor: 0.3 if an amount is wanted and the cell is a percentage, else 1."""
    percent = "%" in text_of(passage, cell.start, min(cell.end + 2, passage.chunk.end_offset))
    percent = percent or bool(_PERCENT_HEAD.search(cell.head))
    rate = "rate" in item.name
    return 1.0 if percent == rate or (rate and not percent) else 0.3
