"""What a model thinks aloud before it answers, cut from what it says.

In: a completion, whole or growing. Out: the answer alone. Qwen3, R1 and their kin begin with such a block
where their server does not take it out. Only a block that opens the completion is one: these words may stand
in what is quoted. Where the prompt itself opened the block, its end is all that tells, alone on its line: a
stream learns of it late, and takes back what it has said.
"""

from __future__ import annotations

import re

_OPEN, _CLOSE = "<think>", "</think>"
_ENDED = re.compile(rf"^[ \t]*{_CLOSE}[ \t]*$", re.MULTILINE)


def answered(text: str) -> tuple[str, tuple[str, ...]]:
    """(the answer, what is to be told): "" while nothing but thinking was said."""
    begun = text.lstrip()
    if begun and _OPEN.startswith(begun):
        return "", ()
    thought, closed, answer = begun.partition(_CLOSE)
    if not thought.startswith(_OPEN):
        ended = _ENDED.search(begun)
        if not ended or _OPEN in thought or begun.startswith("{"):
            return text, ()
        thought, answer = begun[: ended.start()], begun[ended.end() :]
    told = f"{len(thought.removeprefix(_OPEN))} characters of thinking were left out"
    return answer.lstrip() if closed else "", (told,)
