"""Words of documents for clients that render Markdown: they may look like anything, and do nothing.

In: text. Out: the same, without links, pictures and tags; and the words as they were. Knows nothing about
answers.
"""

from __future__ import annotations

import re

ACTIVE = re.compile(r"(?<=\])[(:]|(?<!\\)(?:\\\\)*<(?=[A-Za-z/!?])")
"""Before the last letter of these a backslash goes: "[words](address)", "![](address)" and "[label]: address"
end in one of the first, which a client would fetch, and so tell whoever wrote the document that somebody
asked; a tag, a comment and "<address>" begin with the other, unless the document has a backslash there: a
second one would undo it. Emphasis, lists and tables stay."""


def harmless(text: str) -> str:
    return ACTIVE.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)


def unescaped(text: str) -> str:
    """What :func:`harmless` was given, where it gave ``text``: for quotes that come back."""
    return _ESCAPED.sub("", text)


_ESCAPED = re.compile(r"(?<=\])\\(?=[(:])|\\(?=<[A-Za-z/!?])")


def harmless_line(text: str) -> str:
    """On one line: a line break would let it go on as a list entry of ours."""
    return harmless(" ".join(text.split()))
