"""Neutralises active Markdown in document text for clients that render it.

In: text. Out: the same with links, images and tags escaped; and the original back. Knows nothing about
answers.
"""

from __future__ import annotations

import re
from typing import Any

ACTIVE = re.compile(r"(?<=\])[(:]|(?<!\\)(?:\\\\)*<(?=[A-Za-z/!?])")
"""A backslash is inserted before the last character of each match. The first alternative covers
"[words](address)", "![](address)" and "[label]: address", which a client might fetch, revealing to the
document's author that somebody asked; the second covers tags, comments and "<address>", unless already
escaped, as a second backslash would undo it. Emphasis, lists and tables are left alone."""


def harmless(text: str) -> str:
    return ACTIVE.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)


def harmless_values(value: Any) -> Any:
    """A JSON value with each of its strings escaped, except the names of fields."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, dict):
        return {name: harmless_values(one) for name, one in value.items()}
    return [harmless_values(one) for one in value] if isinstance(value, list) else value


def unescaped(text: str) -> str:
    """Undoes :func:`harmless`, for quotes that come back."""
    return _ESCAPED.sub("", text)


_ESCAPED = re.compile(r"(?<=\])\\(?=[(:])|\\(?=<[A-Za-z/!?])")


def harmless_line(text: str) -> str:
    """Escaped and on one line: a line break could let it continue as one of our list items."""
    return harmless(" ".join(text.split()))
