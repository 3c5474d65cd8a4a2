"""Plots that are tables: a bar a row, its numbers beside it.

In: labelled values or counts. Out: one figure. The table is read by a screen reader; its bars are hidden from
it. Knows nothing about what is plotted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from markupsafe import Markup

from citewell.evaluation.charts.curves import Point
from citewell.evaluation.charts.drawing import (
    MARKS,
    NOTHING,
    cells,
    figure,
    hue,
    linked,
    mark,
    place,
    said,
    svg,
    table,
    tag,
    ticks_of,
)

_WIDTH, _HEIGHT = 240, 20


class Share(msgspec.Struct, frozen=True):
    """A row of :func:`shares`: one count a kind."""

    label: str
    counts: tuple[int, ...]
    href: str = ""


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
                tag("th", linked(point.label, point.href), scope="row"),
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
            tag("th", linked(row.label, row.href), scope="row"),
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
