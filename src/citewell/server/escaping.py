"""Words from documents where a client renders Markdown: they may look like anything, and do nothing.

In: text. Out: the places before which a backslash keeps it from being a link, a picture or HTML; a client
would fetch the picture, and so tell whoever wrote the document that somebody asked. Emphasis, lists and
tables stay.
Knows nothing about answers.
"""

from __future__ import annotations

import re

# "[words](address)", "![](address)" and "[label]: address" end in one of these; a tag, a comment and
# "<address>" begin with the other.
_DOING = re.compile(r"(?<=\])[(:]|<(?=[A-Za-z/!?])")


def places(text: str) -> list[int]:
    """Where a backslash goes, in order."""
    return [found.start() for found in _DOING.finditer(text)]


def harmless(text: str) -> str:
    return _DOING.sub(r"\\\g<0>", text)


def harmless_line(text: str) -> str:
    """On one line: a line break would let it go on as a list entry of ours."""
    return harmless(" ".join(text.split()))
