"""What a model thinks aloud before it answers, cut from what it says.

In: a completion, whole or growing. Out: the answer alone. Qwen3, R1 and their kin begin with such a block
where their server does not take it out. Only a block that opens the completion is one: these words may stand
in a source that is quoted.
"""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


def answered(text: str) -> tuple[str, tuple[str, ...]]:
    """(the answer, what is to be told): "" while nothing but thinking was said."""
    begun = text.lstrip()
    if not begun.startswith(_OPEN):
        growing = begun != "" and _OPEN.startswith(begun)
        return "" if growing else text, ()
    thought, closed, answer = begun.partition(_CLOSE)
    told = f"{len(thought) - len(_OPEN)} characters of thinking aloud were left out"
    return answer.lstrip() if closed else "", (told,)
