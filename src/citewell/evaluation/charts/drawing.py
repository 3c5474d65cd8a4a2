"""What every plot is made of: elements, a frame with axes, the table of the numbers, numbers in words.

In: names, numbers, labels. Out: markup in which every label is escaped, with places rounded to a tenth of a
pixel: the same numbers give the same bytes. Knows nothing about single plots.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from markupsafe import Markup

NOTHING = "Nothing measured yet."
MOST_ROWS = 60
"""A longer curve's table shows every k-th of its points and says so."""

WIDTH, HEIGHT = 440, 250
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 10, 40
SHARES = [0.0, 0.25, 0.5, 0.75, 1.0]


class Measured(Protocol):
    """A value with what is known of it; None is not measured."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def n(self) -> int | None: ...


class Frame:
    """Data -> places in the drawing; x and y axes each from a low to a high."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], *, square: bool = False) -> None:
        self.width = HEIGHT + LEFT - BOTTOM if square else WIDTH
        self._x, self._y = x, y

    def x(self, value: float) -> str:
        return place(value, self._x, LEFT, self.width - RIGHT)

    def y(self, value: float) -> str:
        return place(value, self._y, HEIGHT - BOTTOM, TOP)

    def at(self, x: float, y: float) -> str:
        return f"{self.x(x)},{self.y(y)}"


def figure(title: str, plot: Markup, note: str, *below: Markup) -> Markup:
    about = tag("p", note, class_="note") if note else Markup()
    return tag("figure", tag("figcaption", title), plot, *below, about, class_="chart")


def drawing(frame: Frame, title: str, said: str, drawn: Iterable[Markup]) -> Markup:
    return tag(
        "svg",
        tag("title", title),
        tag("desc", said),
        *drawn,
        viewBox=f"0 0 {frame.width} {HEIGHT}",
        role="img",
        class_="square" if frame.width < WIDTH else "wide",
    )


def svg(width: int, height: int, *inside: Markup, class_: str = "") -> Markup:
    """A drawing that only repeats words beside it."""
    kind = {"class_": class_} if class_ else {}
    return tag("svg", *inside, viewBox=f"0 0 {width} {height}", aria_hidden="true", **kind)


def tag(name: str, *inside: Markup | str, **attributes: str | float) -> Markup:
    """An element; whatever is not markup already is escaped. ``text_anchor`` writes text-anchor."""
    written = Markup().join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), value)
        for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, Markup().join(inside))


def grid(frame: Frame, ticks: Sequence[float], unit: str) -> Markup:
    drawn = []
    for tick in ticks:
        y = frame.y(tick)
        drawn.append(tag("line", x1=LEFT, x2=frame.width - RIGHT, y1=y, y2=y, class_="grid"))
        drawn.append(
            tag("text", said(tick, unit, short=True), x=LEFT - 6, y=y, dy="0.32em", text_anchor="end")
        )
    return Markup().join((*drawn, beside(unit)))


def across(frame: Frame) -> Markup:
    return Markup().join(
        tag("text", said(tick, ""), x=frame.x(tick), y=HEIGHT - BOTTOM + 15, text_anchor="middle")
        for tick in SHARES
    )


def axes(frame: Frame, x: str, y: str) -> Markup:
    below = tag("text", x, x=(LEFT + frame.width - RIGHT) // 2, y=HEIGHT - 8, text_anchor="middle")
    return below + beside(y)


def beside(name: str) -> Markup:
    """What the vertical axis counts."""
    middle = (TOP + HEIGHT - BOTTOM) // 2
    turned = f"rotate(-90 10 {middle})"
    return tag("text", name, x=10, y=middle, text_anchor="middle", transform=turned) if name else Markup()


def table(
    heads: Sequence[Markup | str], rows: Iterable[Markup], *, plot: int | None = None, words: int = 0
) -> Markup:
    """``plot`` is the column of drawings; the last ``words`` columns hold words, not numbers."""
    cells = []
    for index, head in enumerate(heads):
        kind = "plot" if index == plot else "word" if index >= len(heads) - words else ""
        classes = {"class_": kind} if kind else {}
        cells.append(tag("th", head, scope="col", **classes) if head else tag("td"))
    table = tag("table", tag("thead", tag("tr", *cells)), tag("tbody", *rows))
    return tag("div", table, class_="scroll", tabindex="0")


def numbers(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    every = -(-len(rows) // MOST_ROWS) or 1
    shown = [row for index, row in enumerate(rows) if index % every == 0 or index == len(rows) - 1]
    about = "The numbers" if every == 1 else f"The numbers ({len(shown)} of {len(rows)} points)"
    body = [
        tag("tr", *(tag("th", c, scope="row") if i == 0 else tag("td", c) for i, c in enumerate(row)))
        for row in shown
    ]
    return tag("details", tag("summary", about), table(heads, body))


def cells(points: Sequence[Measured], index: int, unit: str) -> tuple[str, str, str]:
    if index >= len(points) or (point := points[index]).value is None:
        n = points[index].n if index < len(points) else None
        return "not measured", "", "" if n is None else str(n)
    return (
        said(point.value, unit),
        interval(point.low, point.high, unit),
        "" if point.n is None else str(point.n),
    )


def ticks_of(points: Iterable[Measured], unit: str) -> list[float]:
    """Round numbers from the lowest to the highest; shares always span 0 to 1, differences both sides."""
    found = [v for p in points for v in (p.value, p.low, p.high) if v is not None]
    low, high = min([0.0, *found]), max([0.0, *found])
    if not unit and low >= 0 and high <= 1:
        return SHARES
    if low < 0:
        high = max(-low, high)
        low = -high
    step = _step((high - low) / 4 if high - low > 1e-9 else 1.0)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def _step(rough: float) -> float:
    unit = 10.0 ** math.floor(math.log10(rough))
    return next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough * 0.999)


def said(value: float, unit: str, *, short: bool = False) -> str:
    """A number in words: shares with two decimals, others as their size asks and with their unit."""
    size = abs(value)
    digits = 2 if not unit else 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}{'' if short or not unit else ' ' + unit}".replace("-", "−", 1)


def interval(low: float | None, high: float | None, unit: str) -> str:
    if low is None or high is None:
        return ""
    return f"{said(low, unit)} to {said(high, unit)}"


def place(value: float, ends: tuple[float, float], first: float, last: float) -> str:
    inside = min(max(value, ends[0]), ends[1])
    return f"{first + (inside - ends[0]) / (ends[1] - ends[0]) * (last - first):.1f}"


def hue(number: int) -> str:
    """The class of the series ``number``, from 1; they repeat after six."""
    return f"k{(number - 1) % 6 + 1}"


# The shapes of verdicts and decisions: told apart without colour, never shown without their word.
MARKS = {
    "VERIFIED": "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm-1.2 10.2L3.7 8.1l1.3-1.3 1.8 1.8 4.2-4.2 1.3 1.3Z",
    "UNSUPPORTED": "M8 1.2 15.5 14.6H.5ZM8 5 3.6 12.8h8.8Z",
    "CONTRADICTED": "M1 1h14v14H1Z"
    "M4 5.3 6.7 8 4 10.7 5.3 12 8 9.3l2.7 2.7 1.3-1.3L9.3 8 12 5.3 10.7 4 8 6.7 5.3 4Z",
    "BROKEN": "M6.6 1.1 4.9 8l1.7 6.9A7 7 0 0 1 6.6 1.1ZM9.4 1.1a7 7 0 0 1 0 13.8L7.7 8Z",
    "UNCHECKED": "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 2a5 5 0 1 1 0 10A5 5 0 0 1 8 3Z",
    "PARTIAL": "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 2a5 5 0 0 1 0 10Z",
    "ABSTAIN": "M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1ZM4 7h8v2H4Z",
}
MARKS["ANSWER"] = MARKS["VERIFIED"]


def mark(word: str) -> Markup:
    """The shape of a verdict or decision, coloured; hidden from readers of the screen: the word stands by."""
    path = MARKS.get(word)
    if path is None:
        return Markup()
    return svg(16, 16, tag("path", d=path, fill_rule="evenodd"), class_=f"mark {word.lower()}")
