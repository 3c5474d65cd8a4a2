"""Which document ids are allowed: visible text on one line.

In: an id from a user. Out: what is wrong with it. A line break could forge a line in a list or a log, and a
bidirectional control character could display a name other than the stored one. Knows nothing about documents.
"""

from __future__ import annotations

import re
import unicodedata

from citewell.core.errors import UsageError

_UNSEEN = re.compile("[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def fault_of(document_id: str) -> str:
    """Describes the first character that an id must not contain; "" if there is none."""
    found = _UNSEEN.search(document_id)
    if found is None:
        return ""
    code = ord(found.group())
    name = unicodedata.name(found.group(), "a control character").lower()
    return f"character {found.start() + 1} is U+{code:04X} ({name})"


def visible_id(document_id: str) -> str:
    """The id without these characters."""
    return _UNSEEN.sub("", document_id)


def check_id(document_id: str) -> None:
    """Raises UsageError for an id with control characters, line breaks or bidirectional controls."""
    if fault := fault_of(document_id):
        raise UsageError(
            f"the id {document_id!a} cannot be used: {fault}",
            hint="use visible characters on one line",
        )


def source_of(document_id: str) -> str:
    """The source of a document: the ingested folder, ``uploads``, or the host or bucket of its address; "" if
    the id names none."""
    first, slash, rest = document_id.partition("/")
    if first.endswith(":") and rest.startswith("/"):
        return f"{first}//{rest[1:].partition('/')[0]}"
    return first if slash else ""
