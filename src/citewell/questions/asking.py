"""The sentences of a question that ask; instructions about the form of the answer are none of them.

In: a question, white space folded. Out: its asking sentences, in order, at least one. Knows nothing about
what is asked.
"""

from __future__ import annotations

import re

_INSTRUCTION = re.compile(
    r"^\s*(?:please\s+)?(?:(?:you are|we (?:need|want) to|imagine|assume|answer in|answer with|round|"
    r"give (?:a|your)|respond|provide|base your|address the|calculate what|approach|explain your|show your|"
    r"if\b.+\b(?:state that|explain why|say so))\b|"
    r"here'?s the question\W*$)",
    re.I | re.S,
)
# Questions are short and ours to cut: a sentence splitter made for prose breaks "FY2015 - FY2017 3 year".
MAX_QUESTION = 20_000
"""Characters; a longer question is refused, never cut."""
_BORDER = re.compile(
    r"(?:(?<=[?!])|(?<=[a-z)\d]{2}\.)(?<!Inc\.)(?<!Co\.)(?<!Corp\.)(?<!Ltd\.)(?<!vs\.)(?<!No\.))\s+(?=[A-Z\"“(])"
)
_DEFINITION = re.compile(r"\b(?:is|are) defined as\b|^\s*define\b|^\s*calculate\b", re.I)
_LEAD = re.compile(
    r"^.*?\b(?:here'?s the question|the following question(?: is)?(?: \(are\))?)\s*[:,]\s*", re.I | re.S
)


def asking_sentences(whole: str) -> list[str]:
    """The sentences that ask, without what leads up to them; the whole when none is clearly asked."""
    sentences = [piece.strip() for piece in _BORDER.split(whole) if piece.strip()]
    kept = [_LEAD.sub("", sentence) for sentence in sentences]
    asking = [s for s in kept if s.rstrip().endswith("?") and not _INSTRUCTION.match(s)]
    if asking:
        return asking
    return [s for s in kept if not _INSTRUCTION.match(s) and not _DEFINITION.search(s)] or [whole]
