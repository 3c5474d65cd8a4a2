"""The line items of financial statements: how people ask for them and how statements print them.

In: a question, a row label. Out: the items asked for, how well a label is one. The table is our own
(``line_items.toml``, ``formulae.toml``), general over companies; knows nothing about passages,
cells or periods.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from citewell.core.records import Record
from citewell.core.stretches import with_free

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
    """``asked``: phrases in questions. ``labels``: as printed; the first ones are preferred."""

    name: str
    statement: str
    asked: tuple[str, ...]
    labels: tuple[str, ...]


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


ITEMS: dict[str, LineItem] = {
    name: LineItem(
        name=name,
        statement=entry["statement"],
        asked=tuple(entry["asked"]),
        labels=tuple(entry["labels"]),
    )
    for name, entry in _read("line_items.toml").items()
}


class Ratio(Record, frozen=True, kw_only=True):
    """``of``: what must be read; ``forms``: how it is worked out from them, in order of preference."""

    of: tuple[str, ...]
    forms: tuple[str, ...] = ()
    percent: bool = False


RATIOS: dict[str, Ratio] = {
    name: Ratio(of=tuple(entry["of"]), forms=tuple(entry.get("is", ())), percent=entry.get("percent", False))
    for name, entry in _read("formulae.toml").items()
}

# Words that make another thing of a label unless the item itself has them.
_TURNS = frozenset(
    str.split("""
        cost costs deferred unearned other change changes increase decrease accrued loss gain
        percent percentage per ratio margin non adjusted pro forma before after excluding less
        noncontrolling comprehensive discontinued supplemental beginning amortization depreciation
        accumulated proceeds acquired effect impact allowance reserve reserves segment average days
        held sale return intangible service product interest continuing current noncurrent restricted
        income tax expense expenses
    """)
)
_NEUTRAL = frozenset(
    str.split("""
        total consolidated the of a an to for from in company corporation inc and its attributable
        common stockholders shareholders shareowners shareholder our reported subsidiaries
        co corp incorporated llc plc ltd basis by
        provided used
    """)
)
_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# The country, not the pronoun.
_AMERICA = re.compile(r"\bU\.\s?S\.(?:\s?A\.)?|\bUSA?\b(?!\$)")
_WORD = re.compile(r"[a-z0-9&%]+")


@lru_cache(maxsize=8192)
def label_words(text: str) -> tuple[str, ...]:
    """The words of a label: lower case, parentheses and apostrophes dropped, plurals cut."""
    named = _AMERICA.sub("usa", text)
    flat = _PARENTHESIS.sub(" ", named.lower().replace("’", "'").replace("'", ""))
    return tuple(_stem(word) for word in _WORD.findall(flat.replace(" & ", " and ")))


def _stem(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


_TURN_STEMS = frozenset(_stem(word) for word in _TURNS)
_NEUTRAL_STEMS = frozenset(_stem(word) for word in _NEUTRAL)


def label_score(label: str, item: LineItem) -> float:
    """How well a row label is the item, in [0, 1]; 0 when another word makes it something else."""
    words = label_words(label)
    if not words:
        return 0.0
    best = 0.0
    for rank, printed in enumerate(item.labels):
        best = max(best, _against(words, label_words(printed)) - min(rank, 10) * 0.004)
    return max(best, 0.0)


def core_words(label: str) -> tuple[str, ...]:
    """The words of a label without those that change nothing ("total", "of", "consolidated")."""
    return _core(label_words(label))


def same_label(label: str, asked: str) -> float:
    """1 when ``label`` is ``asked`` word for word, 0.9 but for words such as "total" and "net of", else 0."""
    words, wanted = label_words(label), label_words(asked)
    if not words or not wanted:
        return 0.0
    return 1.0 if words == wanted else 0.9 if _core(words) == _core(wanted) else 0.0


def _against(words: tuple[str, ...], printed: tuple[str, ...]) -> float:
    if words == printed:
        return 1.0
    core, wanted = _core(words), _core(printed)
    if core == wanted:
        return 0.92
    extra = [word for word in core if word not in wanted]
    if any(word in _TURN_STEMS for word in extra):
        return 0.0
    at = _position(core, wanted)
    if at is None:
        return 0.0
    # "Revenue from clients": words after say which; words before usually say another thing.
    return max(0.0, (0.8 if at == 0 else 0.65) - 0.06 * len(extra))


def _core(words: tuple[str, ...]) -> tuple[str, ...]:
    kept = tuple(word for word in words if word not in _NEUTRAL_STEMS)
    return kept or words


def _position(words: tuple[str, ...], wanted: tuple[str, ...]) -> int | None:
    for at in range(len(words) - len(wanted) + 1):
        if words[at : at + len(wanted)] == wanted:
            return at
    return None


class Mention(Record, frozen=True, kw_only=True):
    """An item or formula as a question names it."""

    name: str
    start: int
    end: int


# The three kinds of cash flow, named together.
_FLOWS = re.compile(
    r"\b(?P<operating>operati(?:ons|ng)(?: activities)?),? (?P<investing>investing(?: activities)?),?"
    r" (?:and|or) (?P<financing>financing(?: activities)?)\b",
    re.I,
)
_BOUND = r"(?<![\w&])"


@lru_cache(maxsize=1)
def _patterns() -> tuple[list[tuple[str, re.Pattern[str]]], list[tuple[str, re.Pattern[str]]]]:
    def compiled(phrase: str) -> re.Pattern[str]:
        inner = re.escape(phrase).replace(r"\ ", r"(?:[\s,]+(?:the\s+)?|-)").replace("and", r"(?:and|&)")
        return re.compile(_BOUND + inner + r"s?(?![\w&])", re.I)

    items = [(item.name, compiled(phrase)) for item in ITEMS.values() for phrase in {*item.asked, item.name}]
    formulae = [(name, compiled(name)) for name in RATIOS]
    by_length = lambda pair: (-len(pair[1].pattern), pair[0])  # noqa: E731
    return sorted(items, key=by_length), sorted(formulae, key=by_length)


def items_in(text: str) -> tuple[Mention, ...]:
    """Line items named in ``text``, longest phrase first, none inside another; in order."""
    found = _mentions(text, _patterns()[0])
    flows = _FLOWS.search(text)
    if flows is None or any(mention.start < flows.end() and flows.start() < mention.end for mention in found):
        return found
    kinds = [
        Mention(name=f"net cash from {name} activities", start=flows.start(name), end=flows.end(name))
        for name in ("operating", "investing", "financing")
    ]
    return tuple(sorted([*found, *kinds], key=lambda mention: mention.start))


def formulae_in(text: str) -> tuple[Mention, ...]:
    """Ratios and margins named in ``text``; in order."""
    return _mentions(text, _patterns()[1])


def _mentions(text: str, patterns: list[tuple[str, re.Pattern[str]]]) -> tuple[Mention, ...]:
    taken: list[Mention] = []
    for name, pattern in patterns:
        matches = pattern.finditer(text)
        taken = with_free(taken, (Mention(name=name, start=m.start(), end=m.end()) for m in matches))
    return tuple(taken)


def statements_in(text: str) -> tuple[str, ...]:
    """Which statements ``text`` (a question, a table's title, a section) names."""
    low = text.lower()
    return tuple(kind for kind, names in STATEMENTS.items() if any(name in low for name in names))


def statement_spans(text: str) -> list[tuple[int, int]]:
    """Where ``text`` names a statement: those words ask for a place, not for a value."""
    low = text.lower()
    spans = []
    for names in STATEMENTS.values():
        for name in names:
            at = low.find(name)
            while at >= 0:
                spans.append(
                    (
                        at,
                        at
                        + len(name)
                        + (len(" statement") if low.startswith(" statement", at + len(name)) else 0),
                    )
                )
                at = low.find(name, at + 1)
    return spans
