"""Removes a model's thinking block from its completion.

In: a completion, whole or growing. Out: the answer alone. Qwen3, R1 and similar models start with such a
block unless their server removes it. Only a block at the start counts: the tags may also occur in quoted
text. If the prompt itself opened the block, only its end tag, alone on a line, shows it: a stream then learns
of it late and retracts what it has sent.
"""

from __future__ import annotations

import re

_OPEN, _CLOSE = "<think>", "</think>"
_ENDED = re.compile(rf"^[ \t]*{_CLOSE}[ \t]*$", re.MULTILINE)


def strip_thinking(text: str) -> tuple[str, tuple[str, ...]]:
    """(the answer, notes); the answer is "" while there is only thinking."""
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
