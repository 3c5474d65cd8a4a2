"""Numbers and bullets of lists as they are printed: 1., (b), iv, 7.2, •.

In: HTML's or Word's description of a list, then its items in turn. Out: the mark before each item. Knows
nothing about the items' text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_ROMAN = {1000: "m", 900: "cm", 500: "d", 400: "cd", 100: "c", 90: "xc", 50: "l", 40: "xl"}
_ROMAN |= {10: "x", 9: "ix", 5: "v", 4: "iv", 1: "i"}


def letters(number: int) -> str:
    """a to z, then aa, ab; digits for a number that is not positive or too large."""
    text = ""
    while 0 < number <= 100_000:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text or str(number)


def roman(number: int) -> str:
    """i, ii, iii, iv; digits for a number without a Roman numeral."""
    if not 0 < number < 4_000:
        return str(number)
    text = ""
    for value, sign in _ROMAN.items():
        count, number = divmod(number, value)
        text += sign * count
    return text


_TYPES: dict[str, Callable[[int], str]] = {"a": letters, "i": roman}
_TYPES |= {"A": lambda n: letters(n).upper(), "I": lambda n: roman(n).upper()}
_FORMATS = {"lowerLetter": letters, "upperLetter": _TYPES["A"], "lowerRoman": roman}
_FORMATS |= {"upperRoman": _TYPES["I"], "decimalZero": lambda number: f"{number:02}"}


class Marks:
    """What to put before the next text of an HTML page: the mark of a list item, or the terms of a
    definition, which ``terms`` collects."""

    def __init__(self) -> None:
        self._lists: list[Numbers | None] = []  # None for a bulleted list
        self._mark = ""
        self.terms: list[str] = []

    def begin(self, tag: str, attributes: Mapping[str, str]) -> str:
        """The item's number; "" for a bullet, or if no item begins."""
        if tag in ("ul", "ol"):
            self._lists.append(Numbers(attributes) if tag == "ol" else None)
        if tag != "li":
            return ""
        numbers = self._lists[-1] if self._lists else None
        self._mark = numbers.next(attributes) if numbers else "•"
        return self._mark if numbers else ""

    def end(self, tag: str) -> None:
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        if tag in ("ul", "ol", "li"):
            self._mark = ""

    def taken(self) -> str:
        """Returns the pending mark and clears it."""
        mark, self._mark = self._mark, ""
        if terms := ", ".join(filter(None, self.terms)):
            mark, self.terms = terms if terms.endswith(":") else f"{terms}:", []
        return mark


class Numbers:
    """The numbers of one HTML ``ol``, from its attributes ``start``, ``type`` and ``reversed``."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._style = _TYPES.get(attributes.get("type", "1"), str)
        self._step = -1 if "reversed" in attributes and "start" in attributes else 1
        self._next = _whole(attributes.get("start", ""), 1)

    def next(self, attributes: Mapping[str, str]) -> str:
        """The mark of the next ``li``, which may set its own number."""
        number = _whole(attributes.get("value", ""), self._next)
        self._next = number + self._step
        return f"{self._style(number)}."


def _whole(text: str, otherwise: int = 0) -> int:
    digits = text.strip().removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 7 else otherwise


_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


_LEVELS = range(9)
"""Of a list in Word."""


class Numbering:
    """Counts as Word does: a list continues wherever it is used again; each item restarts deeper levels."""

    def __init__(self, root: Any = ()) -> None:
        self._levels: dict[str, dict[int, Any]] = {}
        self._lists: dict[str, tuple[str, dict[int, int]]] = {}  # list, and its restart numbers by level
        self._counts: dict[str, dict[int, int]] = {}
        for entry in root:
            if entry.tag == f"{_W}abstractNum":
                levels = {_whole(_of(level, "ilvl")): level for level in entry.findall(f"{_W}lvl")}
                self._levels[_of(entry, "abstractNumId")] = {
                    depth: level for depth, level in levels.items() if depth in _LEVELS
                }
            elif entry.tag == f"{_W}num":
                starts = {
                    _whole(_of(change, "ilvl")): _whole(_of(change.find(f"{_W}startOverride"), "val"))
                    for change in entry.findall(f"{_W}lvlOverride")
                    if change.find(f"{_W}startOverride") is not None
                }
                self._lists[_of(entry, "numId")] = (_of(entry.find(f"{_W}abstractNumId"), "val"), starts)

    def mark(self, properties: Any, style: str) -> str:
        """The mark of the next paragraph of a ``style`` with ``properties`` (``w:numPr``); "" for none."""
        name, starts = self._lists.get(_of(properties.find(f"{_W}numId"), "val"), ("", {}))
        levels, counts = self._levels.get(name, {}), self._counts.setdefault(name, {})
        said = properties.find(f"{_W}ilvl")
        of_style = (n for n, level in levels.items() if _of(level.find(f"{_W}pStyle"), "val") == style)
        depth = _whole(_of(said, "val")) if said is not None else next(of_style, 0)
        if depth not in levels:
            return ""
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        first = starts.pop(depth, None)
        counts[depth] = first if first is not None else counts.get(depth, _start(levels[depth]) - 1) + 1
        text = _of(levels[depth].find(f"{_W}lvlText"), "val")
        if _format(levels[depth]) == "bullet":
            return "•"

        def counted(match: re.Match[str]) -> str:
            level = levels.get(int(match[1]) - 1)
            number = counts.get(int(match[1]) - 1, _start(level))
            return _FORMATS.get(_format(level), str)(number)

        return "" if _format(levels[depth]) == "none" else re.sub(r"%([1-9])", counted, text)


def _of(element: Any, name: str) -> str:
    return str(element.get(f"{_W}{name}", "")) if element is not None else ""


def _start(level: Any) -> int:
    start = level.find(f"{_W}start") if level is not None else None
    return _whole(_of(start, "val")) if start is not None else 1


def _format(level: Any) -> str:
    return _of(level.find(f"{_W}numFmt"), "val") if level is not None else ""
