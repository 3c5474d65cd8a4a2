"""What sort of text a source is: one sentence, several, or rows of a table.

In: text. Out: one of KINDS. Exact checks and the calibration of support differ by it.
"""

from __future__ import annotations

import itertools
import re

from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import PARTIAL, PLURALS, SUBJECTS, UNIVERSAL
from citewell.verification.verbs import is_base, is_doubtful, is_finite

KINDS = ("sentence", "text", "table")
_RECORD = re.compile(r"(?=.{0,62}?: ).*?: (?P<value>.*)")
_SEVERAL = re.compile(r";[^:;]+: ")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_QUANTIFIERS = PARTIAL | UNIVERSAL
_FEWEST = 4  # words of a clause that is known by its opening


def source_kind(premise: str) -> str:
    """``table`` (rows of cells or of "name: value"), ``sentence`` (one) or ``text``."""
    rows, prose = parted(premise)
    if len(rows) >= 2 and len(rows) >= len(prose):
        return "table"
    return "sentence" if len(sentence_spans(premise)) <= 1 else "text"


def parted(premise: str) -> tuple[list[str], list[str]]:
    """(rows of cells or of "name: value", other lines), in their order."""
    lines = [line for line in premise.splitlines() if line.strip()]
    is_row = ["\t" in line or _is_record(line) for line in lines]
    rows = [line for line, row in zip(lines, is_row, strict=True) if row]
    return rows, [line for line, row in zip(lines, is_row, strict=True) if not row]


def _is_record(line: str) -> bool:
    """Several of "name: value", or one whose value is no clause: "Scope: The policy applies in Ohio" is
    prose under a label, as contracts and answered questions have it."""
    record = _RECORD.match(line)
    return record is not None and (bool(_SEVERAL.search(line)) or not _is_clause(record["value"]))


def _is_clause(value: str) -> bool:
    words = _WORD.findall(value.lower().replace("\u2019", "'"))
    opening = words[0] if len(words) >= _FEWEST else ""
    return (
        opening in _QUANTIFIERS
        or any(is_finite(word) and (opening in SUBJECTS or not is_doubtful(word)) for word in words)
        or any(
            (before.endswith("s") or before in PLURALS) and is_base(word)
            for before, word in itertools.pairwise(words)
        )
    )
