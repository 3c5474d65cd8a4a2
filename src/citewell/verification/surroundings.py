"""What the words beside a number say about it: a hedge, a rise or fall, a loss.

In: text and the range of a number. Out: :class:`Said`. Looks no further than the sentence and a few
words to either side. Knows nothing about values.
"""

from __future__ import annotations

import re

from citewell.core.records import Record


class Said(Record, frozen=True, kw_only=True):
    """``hedge`` is about, over, nearly, under or ""; ``direction`` +1 for a rise, -1 for a fall, else 0."""

    hedge: str = ""
    direction: int = 0
    loss: bool = False


_HEDGES: tuple[tuple[str, str], ...] = (
    ("about", r"about|around|approximately|approx\.?|roughly|circa|ca\.|c\.|some|estimated|in the region of|"
              r"close to|or so|on the order of|~|≈"),
    ("over", r"over|more than|greater than|at least|exceed(?:s|ed|ing)?|above|upwards? of|not less than|"
             r"no fewer than|in excess of|minimum of|surpass(?:es|ed|ing)?|>|≥"),
    ("nearly", r"nearly|almost|just short of|just under"),
    ("under", r"under|less than|fewer than|at most|below|up to|no more than|"
              r"not more than|maximum of|<|≤"),
)  # fmt: skip
_HEDGE_AFTER = (
    ("about", re.compile(r"\s{0,9}(?:or so|or thereabouts)\b")),
    ("over", re.compile(r"\s{0,9}(?:\+|or more\b|or higher\b|or above\b|plus\b)")),
    ("under", re.compile(r"\s{0,9}or (?:less|fewer|lower)\b")),
)
_HEDGE = re.compile(
    "|".join(rf"(?P<{name}>(?<!\w)(?:{words}))" for name, words in _HEDGES) + r"", re.IGNORECASE
)
_HEDGED = re.compile(rf"(?:{_HEDGE.pattern})(?: (?:the|a|an|of|just|only))?\s*$", re.IGNORECASE)

RISE = (
    r"increas\w*|ris(?:e|es|en|ing)|rose|grew|grow(?:n|s|th|ing)?|gain(?:s|ed|ing)?|climb\w*|jump\w*|surg\w*|"
    r"improv\w*|higher|expan\w+|soar\w*|up"
)
FALL = (
    r"decreas\w*|fall(?:s|en|ing)?|fell|declin\w*|drop\w*|reduc\w*|shr[aiu]nk\w*|"
    r"lower\w*|down|slump\w*|plung\w*|contract(?:ed|ion)|cut"
)
_RISE_BEFORE = re.compile(rf"\b(?:{RISE})(?:\s+(?:by|of|was|a|an|another))?\s*$", re.IGNORECASE)
_FALL_BEFORE = re.compile(rf"\b(?:{FALL})(?:\s+(?:by|of|was|a|an|another))?\s*$", re.IGNORECASE)
_RISE_AFTER = re.compile(rf"^\s*(?:\w+ )?(?:{RISE})\b", re.IGNORECASE)
_FALL_AFTER = re.compile(rf"^\s*(?:\w+ )?(?:{FALL})\b", re.IGNORECASE)
_LOSS_BEFORE = re.compile(
    r"\b(?:loss(?:es)?|deficit|shortfall|minus|negative)(?:\s+(?:of|was|were|totall?ed|at))?\s*$",
    re.IGNORECASE,
)


def surroundings(text: str, start: int, end: int) -> Said:
    """Hedge, direction and loss of the number at ``[start, end)``."""
    before = re.split(r"[.;:!?\n\t]\s", text[max(0, start - 48) : start])[-1].rstrip("(")
    after = text[end : end + 32]
    hedge = ""
    if found := _HEDGED.search(before):
        hedge = found.lastgroup or ""
        before = before[: found.start()]
    else:
        hedge = next((name for name, tail in _HEDGE_AFTER if tail.match(after)), "")
    direction = 0
    if _FALL_BEFORE.search(before) or _FALL_AFTER.match(after):
        direction = -1
    elif _RISE_BEFORE.search(before) or _RISE_AFTER.match(after):
        direction = 1
    return Said(hedge=hedge, direction=direction, loss=bool(_LOSS_BEFORE.search(before)))
