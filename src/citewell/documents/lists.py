"""Numbers of list items as they are printed: 1., b., iv.

In: what a format says about a list. Out: the mark before an item. Knows nothing about what the items say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ["m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"],
        strict=True,
    )
)


def letters(number: int) -> str:
    """a to z, then aa, ab; the digits of what is not positive or very long."""
    text = ""
    while 0 < number <= 100_000:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text or str(number)


def roman(number: int) -> str:
    """i, ii, iii, iv; the digits of what has no Roman number."""
    if not 0 < number < 4_000:
        return str(number)
    text = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        text += sign * count
    return text


STYLES: dict[str, Callable[[int], str]] = {
    "a": letters,
    "i": roman,
    "A": lambda n: letters(n).upper(),
    "I": lambda n: roman(n).upper(),
}


class Marks:
    """What stands before the next text of an HTML page: the mark of a list item, or the terms of a
    definition, which ``terms`` collects."""

    def __init__(self) -> None:
        self._lists: list[Numbers | None] = []  # None for one of bullets
        self._mark = ""
        self.terms: list[str] = []

    def begin(self, tag: str, attributes: Mapping[str, str]) -> str:
        """The item's number; "" for a bullet, or where no item begins."""
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
        """The mark, once."""
        mark, self._mark = self._mark, ""
        if terms := ", ".join(filter(None, self.terms)):
            mark, self.terms = terms if terms.endswith(":") else f"{terms}:", []
        return mark


class Numbers:
    """Of one ``ol`` of HTML, from its attributes ``start``, ``type`` and ``reversed``."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._style = STYLES.get(attributes.get("type", "1"), str)
        self._step = -1 if "reversed" in attributes and "start" in attributes else 1
        self._next = _whole(attributes.get("start", ""), 1)

    def next(self, attributes: Mapping[str, str]) -> str:
        """The mark of the next ``li``, which may say its number itself."""
        number = _whole(attributes.get("value", ""), self._next)
        self._next = number + self._step
        return f"{self._style(number)}."


def _whole(text: str, otherwise: int) -> int:
    digits = text.strip().removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 7 else otherwise
