"""Numbers and bullets that Word prints before a paragraph: "7.2", "(b)", "•".

In: the numbering part of a document, then each numbered paragraph in turn. Out: the mark before it. Knows
nothing about the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from citewell.documents.lists import letters, roman

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FORMATS: dict[str, Callable[[int], str]] = {
    "lowerLetter": letters,
    "upperLetter": lambda number: letters(number).upper(),
    "lowerRoman": roman,
    "upperRoman": lambda number: roman(number).upper(),
    "decimalZero": lambda number: f"{number:02}",
}


class Numbering:
    """Counts as Word does: one list goes on wherever it is used again, a level begins anew under another."""

    def __init__(self, root: Any = ()) -> None:
        self._levels: dict[str, dict[int, Any]] = {}
        self._lists: dict[str, tuple[str, dict[int, int]]] = {}  # list, and where it begins anew
        self._counts: dict[str, dict[int, int]] = {}
        for entry in root:
            if entry.tag == f"{_W}abstractNum":
                levels = entry.findall(f"{_W}lvl")
                self._levels[_of(entry, "abstractNumId")] = {
                    _whole(_of(level, "ilvl")): level for level in levels
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


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def _start(level: Any) -> int:
    start = level.find(f"{_W}start") if level is not None else None
    return _whole(_of(start, "val")) if start is not None else 1


def _format(level: Any) -> str:
    return _of(level.find(f"{_W}numFmt"), "val") if level is not None else ""
