"""Values -> plots a browser shows without script: SVG and tables in HTML, coloured by one stylesheet.

In: labels and numbers. Out: markup (``Markup``: every label in it is escaped) whose bytes depend on nothing
but the numbers. No script, no style attribute, no id, so a page may hold many of them under the strictest
content policy. Colours and themes are ``STYLE``'s, which follows the page's ``color-scheme``. Every plot has
its numbers as a table, and says "not measured" where there is none.
"""

from importlib.resources import files

from citewell.evaluation.charts.drawing import mark
from citewell.evaluation.charts.plots import Bin, Point, Share, bars, line, reliability, risk_coverage, shares

__all__ = ["STYLE", "Bin", "Point", "Share", "bars", "line", "mark", "reliability", "risk_coverage", "shares"]

STYLE = (files("citewell.evaluation.charts") / "charts.css").read_text(encoding="utf-8")
"""The stylesheet of all charts and marks: serve it as a file, or put it into the page's ``<style>``."""
