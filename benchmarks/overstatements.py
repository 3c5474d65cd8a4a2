"""Passages with a true statement and one that says more than they do, for ``benchmarks.llm_writers``.

Written for this measurement: (passage, what it says, what it does not).
"""

from __future__ import annotations

OVERSTATEMENTS: tuple[tuple[str, str, str], ...] = (
    (
        "Some of the ferries run on hydrogen since 2021. The others burn diesel.",
        "Some ferries run on hydrogen.",
        "All ferries run on hydrogen.",
    ),
    (
        "The drug lowered blood pressure in mice. Trials with people have not begun.",
        "The drug lowered blood pressure in mice.",
        "The drug lowers blood pressure in people.",
    ),
    (
        "Sales in Norway rose by 4 percent in March.",
        "Sales in Norway rose in March.",
        "Sales rose in every country in March.",
    ),
    (
        "The company expects that the plant may open in 2026.",
        "The plant may open in 2026.",
        "The plant will open in 2026.",
    ),
    (
        "Most members voted for the merger.",
        "Most members voted for the merger.",
        "The members voted for the merger unanimously.",
    ),
    (
        "The museum is closed on Mondays in winter.",
        "The museum is closed on Mondays in winter.",
        "The museum is always closed on Mondays.",
    ),
    (
        "One of the three reactors was shut down in 2011.",
        "One reactor was shut down in 2011.",
        "The reactors were shut down in 2011.",
    ),
    (
        "Researchers found a link between noise and poor sleep.",
        "Researchers found a link between noise and poor sleep.",
        "Researchers proved that noise causes poor sleep.",
    ),
    (
        "The bridge is among the longest in Portugal.",
        "The bridge is among the longest in Portugal.",
        "The bridge is the longest in Portugal.",
    ),
    (
        "The mayor said that the tax could fall next year.",
        "The mayor said that the tax could fall.",
        "The tax falls next year.",
    ),
    (
        "Several tenants complained about the heating.",
        "Several tenants complained about the heating.",
        "Every tenant complained about the heating.",
    ),
    (
        "The survey covered farms in Bavaria.",
        "The survey covered farms in Bavaria.",
        "The survey covered farms throughout Germany.",
    ),
    (
        "In two of ten tests the sensor failed.",
        "The sensor failed in two of ten tests.",
        "The sensor failed in the tests.",
    ),
    (
        "The firm plans to hire up to 200 engineers.",
        "The firm plans to hire up to 200 engineers.",
        "The firm hired 200 engineers.",
    ),
    (
        "The vaccine is approved for adults over 60.",
        "The vaccine is approved for adults over 60.",
        "The vaccine is approved for everyone.",
    ),
    (
        "Profit before tax grew; profit after tax did not.",
        "Profit before tax grew.",
        "Profit grew before and after tax.",
    ),
)
