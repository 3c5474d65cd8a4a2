"""The plots: over time, reliability, risk against coverage, and tables with a bar a row.

In: series of points, labelled values or counts. Out: one figure each, with its numbers in a table. A table's
bars are hidden from a screen reader, which reads the numbers. Knows nothing about what is plotted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from markupsafe import Markup

from citewell.evaluation.charts.drawing import (
    BOTTOM,
    HEIGHT,
    MARKS,
    MOST_ROWS,
    NOTHING,
    SHARES,
    Frame,
    across,
    axes,
    cells,
    drawing,
    figure,
    grid,
    hue,
    interval,
    mark,
    numbers,
    place,
    said,
    svg,
    table,
    tag,
    ticks_of,
)


class Point(msgspec.Struct, frozen=True):
    """A value under its label; ``value`` None is not measured."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None


class Bin(msgspec.Struct, frozen=True):
    """What was said against what came true, of ``n``: both in [0, 1]."""

    predicted: float
    observed: float
    low: float | None
    high: float | None
    n: int


def line(title: str, series: Mapping[str, Sequence[Point]], *, unit: str = "", note: str = "") -> Markup:
    """Values over time with their intervals as bands; a point that was not measured is a gap.

    Each series has the same labels, oldest first, at equal steps. ``unit`` "" is a share in [0, 1].
    """
    points = [point for many in series.values() for point in many]
    if all(point.value is None for point in points):
        return figure(title, tag("p", NOTHING), note)
    steps = max(len(many) for many in series.values())
    ticks = ticks_of(points, unit)
    frame = Frame((0, max(steps - 1, 1)), (ticks[0], ticks[-1]))
    labels = [point.label for point in max(series.values(), key=len)]
    drawn = [grid(frame, ticks, unit), _labels(frame, labels)]
    for number, many in enumerate(series.values(), 1):
        drawn += [_run(frame, run, number) for run in _runs(many)]
    heads = ("", *(head for name in series for head in (name, "interval", "n")))
    rows = [
        (label, *(cell for many in series.values() for cell in cells(many, index, unit)))
        for index, label in enumerate(labels)
    ]
    legend = _legend(list(series)) if len(series) > 1 else Markup()
    about = f"{', '.join(series)}, from {labels[0]} to {labels[-1]}"
    return figure(title, drawing(frame, title, about, drawn), note, legend, numbers(heads, rows))


def reliability(title: str, bins: Sequence[Bin], *, note: str = "") -> Markup:
    """Observed against predicted; on the dashed line both are the same. A larger dot stands for more."""
    if not bins:
        return figure(title, tag("p", NOTHING), note)
    frame = Frame((0, 1), (0, 1), square=True)
    most = max(found.n for found in bins)
    drawn = [grid(frame, SHARES, ""), across(frame), axes(frame, "predicted", "observed")]
    drawn.append(tag("line", x1=frame.x(0), y1=frame.y(0), x2=frame.x(1), y2=frame.y(1), class_="even"))
    for found in bins:
        x = frame.x(found.predicted)
        if found.low is not None and found.high is not None:
            drawn.append(
                tag("line", x1=x, x2=x, y1=frame.y(found.low), y2=frame.y(found.high), class_="whisker k1")
            )
        radius = 2.5 + 4 * math.sqrt(found.n / most)
        drawn.append(tag("circle", cx=x, cy=frame.y(found.observed), r=f"{radius:.1f}", class_="dot k1"))
    rows = [
        (said(b.predicted, ""), said(b.observed, ""), interval(b.low, b.high, ""), str(b.n)) for b in bins
    ]
    about = f"observed share against predicted probability in {len(bins)} bins"
    table = numbers(("predicted", "observed", "interval", "n"), rows)
    return figure(title, drawing(frame, title, about, drawn), note, table)


def risk_coverage(
    title: str, curves: Mapping[str, Sequence[tuple[float, float]]], *, note: str = ""
) -> Markup:
    """Share of errors among what is answered (risk) as more is answered (coverage): lower is better."""
    if not any(curves.values()):
        return figure(title, tag("p", NOTHING), note)
    frame = Frame((0, 1), (0, 1), square=True)
    drawn = [grid(frame, SHARES, ""), across(frame), axes(frame, "coverage", "risk")]
    rows: list[tuple[str, ...]] = []
    for number, (name, curve) in enumerate(curves.items(), 1):
        places = " ".join(frame.at(x, y) for x, y in curve)
        drawn.append(tag("polyline", points=places, class_=f"line {hue(number)}"))
        rows += [(name, said(x, ""), said(y, "")) for x, y in curve]
    legend = _legend(list(curves)) if len(curves) > 1 else Markup()
    about = f"risk over coverage of {', '.join(curves)}"
    table = numbers(("", "coverage", "risk"), rows)
    return figure(title, drawing(frame, title, about, drawn), note, legend, table)


def _run(frame: Frame, run: Sequence[tuple[int, Point]], number: int) -> Markup:
    """Neighbours that were all measured: their band, their line, their dots."""
    colour = hue(number)
    known = [(x, p) for x, p in run if p.low is not None and p.high is not None]
    drawn = []
    if len(known) > 1:
        edge = [frame.at(x, p.high or 0) for x, p in known] + [
            frame.at(x, p.low or 0) for x, p in reversed(known)
        ]
        drawn.append(tag("polygon", points=" ".join(edge), class_=f"band {colour}"))
    elif known:
        x, p = known[0]
        drawn.append(
            tag(
                "line",
                x1=frame.x(x),
                x2=frame.x(x),
                y1=frame.y(p.low or 0),
                y2=frame.y(p.high or 0),
                class_=f"whisker {colour}",
            )
        )
    places = [frame.at(x, p.value or 0) for x, p in run]
    if len(places) > 1:
        drawn.append(tag("polyline", points=" ".join(places), class_=f"line {colour}"))
    if len(places) <= MOST_ROWS:
        drawn += [
            tag("circle", cx=place.split(",")[0], cy=place.split(",")[1], r="2.5", class_=f"dot {colour}")
            for place in places
        ]
    return Markup().join(drawn)


def _runs(points: Sequence[Point]) -> Iterable[list[tuple[int, Point]]]:
    """The stretches without a gap, each point with its index."""
    run: list[tuple[int, Point]] = []
    for index, point in enumerate(points):
        if point.value is not None:
            run.append((index, point))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _labels(frame: Frame, labels: Sequence[str]) -> Markup:
    """At most four of them, the first and the last for certain: the table has all."""
    last = len(labels) - 1
    shown = sorted({round(last * part / 3) for part in range(4)}) if last > 3 else range(len(labels))
    return Markup().join(
        tag(
            "text",
            labels[index],
            x=frame.x(index),
            y=HEIGHT - BOTTOM + 16,
            text_anchor="start" if index == 0 else "end" if index == last else "middle",
        )
        for index in shown
    )


def _legend(names: Sequence[str]) -> Markup:
    items = (
        tag("li", svg(18, 10, tag("line", x1=0, x2=18, y1=5, y2=5, class_=f"line {hue(n)}")), name)
        for n, name in enumerate(names, 1)
    )
    return tag("ul", *items, class_="legend")


_WIDTH, _HEIGHT = 240, 20


class Share(msgspec.Struct, frozen=True):
    """A row of :func:`shares`: one count a kind."""

    label: str
    counts: tuple[int, ...]


def bars(
    title: str,
    points: Sequence[Point],
    *,
    unit: str = "",
    note: str = "",
    more: Mapping[str, Sequence[str]] | None = None,
) -> Markup:
    """One row a point: label, bar with its interval, value, interval, n. Differences get a line at zero.

    ``more``: further columns of words by their heads, one word a point.
    """
    if not points:
        return figure(title, tag("p", NOTHING), note)
    ticks = ticks_of(points, unit)
    rows = []
    further = dict(more or {})
    for point, words in zip(
        points, zip(*further.values(), strict=True) if further else [()] * len(points), strict=True
    ):
        if point.value is None:
            plot = Markup()
        else:
            plot = _bar(point.value, point.low, point.high, (ticks[0], ticks[-1]))
        value, interval, n = cells([point], 0, unit)
        rows.append(
            tag(
                "tr",
                tag("th", point.label, scope="row"),
                tag("td", plot, class_="plot"),
                tag("td", value),
                tag("td", interval),
                tag("td", n),
                *(tag("td", word, class_="word") for word in words),
            )
        )
    ends = tag("span", tag("span", said(ticks[0], unit)), tag("span", said(ticks[-1], unit)), class_="ends")
    return figure(
        title, table(("", ends, "value", "interval", "n", *further), rows, plot=1, words=len(further)), note
    )


def shares(title: str, kinds: Sequence[str], rows: Sequence[Share], *, note: str = "") -> Markup:
    """One stacked bar a row; the counts stand beside it, in the order of the bar's parts."""
    if not rows:
        return figure(title, tag("p", NOTHING), note)
    heads = ("", "", *(tag("span", _swatch(kind, kinds), " ", kind) for kind in kinds))
    body = [
        tag(
            "tr",
            tag("th", row.label, scope="row"),
            tag("td", _stack(row, kinds), class_="plot"),
            *(tag("td", str(count)) for count in row.counts),
        )
        for row in rows
    ]
    return figure(title, table(heads, body, plot=1), note)


def _bar(value: float, low: float | None, high: float | None, ends: tuple[float, float]) -> Markup:
    def x(number: float) -> str:
        return place(number, ends, 4, _WIDTH - 4)

    zero, at = sorted((float(x(0)), float(x(value))))
    drawn = [tag("rect", x=f"{zero:.1f}", y="5", width=f"{at - zero:.1f}", height="10", class_="bar k1")]
    if ends[0] < 0:
        drawn.append(tag("line", x1=x(0), x2=x(0), y1="0", y2=_HEIGHT, class_="axis"))
    if low is not None and high is not None:
        drawn.append(tag("line", x1=x(low), x2=x(high), y1="10", y2="10", class_="whisker k1"))
        drawn += [
            tag("line", x1=x(end), x2=x(end), y1="6", y2="14", class_="whisker k1") for end in (low, high)
        ]
    drawn.append(tag("circle", cx=x(value), cy="10", r="3", class_="dot k1"))
    return svg(_WIDTH, _HEIGHT, *drawn)


def _stack(row: Share, kinds: Sequence[str]) -> Markup | str:
    total = sum(row.counts)
    if not total:
        return tag("span", "not measured", class_="none")
    drawn, at = [], 0.0
    for kind, count in zip(kinds, row.counts, strict=True):
        width = _WIDTH * count / total
        if count:
            # A hair of the page's ground between the parts: two neighbours differ by more than their hue.
            part = tag(
                "rect",
                tag("title", f"{kind}: {count} of {total}"),
                x=f"{at:.1f}",
                y="2",
                width=f"{max(width - 1, 0.5):.1f}",
                height="16",
                class_=f"part {_class(kind, kinds)}",
            )
            drawn.append(part)
        at += width
    return svg(_WIDTH, _HEIGHT, *drawn)


def _swatch(kind: str, kinds: Sequence[str]) -> Markup:
    if kind in MARKS:
        return mark(kind)
    return svg(
        12, 12, tag("rect", width=12, height=12, class_=f"part {_class(kind, kinds)}"), class_="swatch"
    )


def _class(kind: str, kinds: Sequence[str]) -> str:
    others = [one for one in kinds if one not in MARKS]
    return kind.lower() if kind in MARKS else hue(others.index(kind) + 1)
