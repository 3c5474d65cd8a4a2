"""The shapes of verdicts and decisions: told apart without colour, never shown without their word."""

from __future__ import annotations

from markupsafe import Markup

from citewell.evaluation.charts.drawing import svg, tag

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
