"""Values -> script-free plots: SVG and HTML tables, coloured by one stylesheet.

In: labels and numbers. Out: deterministic markup (``Markup``: every label is escaped). It has no script,
style attribute or id, so a page may hold many plots under the strictest content security policy. The colours
are in ``STYLE`` and follow the page's ``color-scheme``. Every plot has its numbers in a table, with "not
measured" where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby, zip_longest

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from citewell.core.records import Decision, Status

STYLE = (files("citewell.evaluation") / "charts.css").read_text(encoding="utf-8")
"""The stylesheet for all plots: serve it as a file, or embed it in the page's ``<style>``."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 440, 250, 46, 12, 10, 40
BAR = 240
"""Width of a stacked bar; all in SVG user units."""
MOST_DOTS = 60
STATES = {*Status, *Decision}
"""Kinds with their own colours in the stylesheet."""

TEMPLATES = Environment(
    loader=PackageLoader("citewell.evaluation"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class ChartPoint(msgspec.Struct, frozen=True):
    """A labelled value with its interval; ``value`` is None if not measured."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


class ChartShare(msgspec.Struct, frozen=True):
    """A row of :func:`shares`: one count per kind."""

    label: str
    counts: tuple[int, ...]


def line(title: str, series: Mapping[str, Sequence[ChartPoint]], *, unit: str = "") -> Markup:
    """Plots values over time; an unmeasured point is a gap. A single series has its intervals as a band:
    more would hide the lines.

    All series share the same labels, oldest first, evenly spaced. ``unit`` "" means a share in [0, 1].
    """
    points = [point for many in series.values() for point in many]
    measured = any(point.value is not None for point in points)
    ticks = _ticks(points, unit)
    labels = [point.label for point in max(series.values(), key=len, default=())]
    last = max(len(labels) - 1, 1)

    def x(index: int) -> str:
        return f"{LEFT + index / last * (WIDTH - RIGHT - LEFT):.1f}"

    def y(value: float) -> str:
        inside = min(max(value, ticks[0]), ticks[-1])
        share = (inside - ticks[0]) / (ticks[-1] - ticks[0])
        return f"{HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP):.1f}"

    def drawn(run: Sequence[tuple[int, ChartPoint]]) -> tuple[list[str], list[str]]:
        """The positions of points without a gap, and the outline of their intervals, as ``x,y``."""
        banded = run if len(series) == 1 else ()
        known = [(at, p) for at, p in banded if p.low is not None and p.high is not None]
        lower = [f"{x(at)},{y(p.low or 0)}" for at, p in known]
        upper = [f"{x(at)},{y(p.high or 0)}" for at, p in known]
        return [f"{x(at)},{y(p.value or 0)}" for at, p in run], upper + lower[::-1]

    def gaps(one: tuple[int, ChartPoint]) -> bool:
        return one[1].value is None

    anchors = {last: "end", 0: "start"}
    shown = sorted({round((len(labels) - 1) * part / 3) for part in range(4)}) if measured else ()
    return _rendered(
        "line.html",
        title=title,
        unit=unit,
        measured=measured,
        names=list(series),
        labels=labels,
        ticks=[(y(tick), format_value(tick, unit, short=True)) for tick in ticks],
        below=[(x(at), labels[at], anchors.get(at, "middle")) for at in shown],
        drawn=[
            [drawn(list(run)) for gap, run in groupby(enumerate(many), gaps) if not gap]
            for many in series.values()
        ],
        cells=[[cells(point, unit) for point in row] for row in zip_longest(*series.values())],
    )


def shares(title: str, kinds: Sequence[str], rows: Sequence[ChartShare]) -> Markup:
    """Plots one stacked bar per row, next to its counts in the same order."""
    hues = [kind.lower() if kind in STATES else f"k{number % 6 + 1}" for number, kind in enumerate(kinds)]
    drawn = [(row, list(_parts(row))) for row in rows]
    return _rendered("shares.html", title=title, kinds=list(zip(kinds, hues, strict=True)), rows=drawn)


def _parts(row: ChartShare) -> Iterator[tuple[int, str, str]]:
    """(index of the kind, x, width) of each part, with a one-unit gap between parts."""
    total, before = sum(row.counts), 0
    for number, count in enumerate(row.counts):
        if count:
            width = BAR * count / total
            yield number, f"{BAR * before / total:.1f}", f"{max(width - 1, 0.5):.1f}"
        before += count


def _rendered(template: str, **values: object) -> Markup:
    size = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT, "bar": BAR}
    size |= {"floor": HEIGHT - BOTTOM, "middle": (TOP + HEIGHT - BOTTOM) // 2, "most": MOST_DOTS}
    made = TEMPLATES.get_template(template).render(**size, **values)
    return Markup(made)  # noqa: S704 - escaped by the template


def cells(point: ChartPoint | None, unit: str = "") -> tuple[str, str, str]:
    """Value, interval and n as text."""
    if point is None or point.value is None:
        return "not measured", "", "" if point is None or point.n is None else str(point.n)
    known = point.low is not None and point.high is not None
    between = (
        f"{format_value(point.low or 0, unit)} to {format_value(point.high or 0, unit)}" if known else ""
    )
    return format_value(point.value, unit), between, "" if point.n is None else str(point.n)


def _ticks(points: Iterable[ChartPoint], unit: str) -> list[float]:
    """Round tick values covering the data; shares span 0 to 1, axes with negative values are symmetric."""
    found = [v for p in points for v in (p.value, p.low, p.high) if v is not None]
    low, high = min([0.0, *found]), max([0.0, *found])
    if not unit and low >= 0 and high <= 1:
        return [0.0, 0.25, 0.5, 0.75, 1.0]
    if low < 0:
        high = max(-low, high)
        low = -high
    rough = (high - low) / 4 if high - low > 1e-9 else 1.0
    whole = 10.0 ** math.floor(math.log10(rough))
    step = next(whole * factor for factor in (1, 2, 2.5, 5, 10) if whole * factor >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def format_value(value: float, unit: str, *, short: bool = False) -> str:
    """A number as text: shares with two decimals, others by magnitude and with their unit."""
    size = abs(value)
    digits = 2 if not unit else 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f}{'' if short or not unit else ' ' + unit}".replace("-", "−", 1)
