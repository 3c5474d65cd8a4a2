"""What sort of text a source is: one sentence, several, or rows of a table.

In: text. Out: one of KINDS. Exact checks and the calibration of support differ by it.
"""

from __future__ import annotations

from citewell.sentences import sentence_spans

KINDS = ("sentence", "text", "table")


def source_kind(premise: str) -> str:
    """``table`` (rows of cells or of "name: value"), ``sentence`` (one) or ``text``."""
    lines = [line for line in premise.splitlines() if line.strip()]
    rows = [line for line in lines if "\t" in line or ": " in line[:64]]
    if len(rows) >= 2 and len(rows) * 2 >= len(lines):
        return "table"
    return "sentence" if len(sentence_spans(premise)) <= 1 else "text"
