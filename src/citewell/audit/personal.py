"""Where the personal texts of a body are, and its numbers set so that they are written as RFC 8785 has them.

In: a body as plain JSON, which is changed in place. Out: the places of its personal texts. A text is personal
unless its member's name is in ``PUBLIC``, and a type that is no JSON raises: what nobody thought of is
protected or refused, never exposed. Records are gone through by :mod:`citewell.audit.plans`, everything else
here. Knows nothing about hashes, keys or storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.core.identity import WrittenOtherwise, number_alike

PUBLIC = frozenset(
    {
        # Whoever and whatever made it.
        *("environment", "makers", "maker", "name", "hash", "prompt_hash", "card"),
        *("config_hash", "citewell", "query_embedding_model", "generation_model", "generation_prompt_hash"),
        # What it is about: ids, versions, places.
        *("request_id", "timestamp", "index_version", "chunk_id", "document_id", "document_version"),
        *("version", "section_path", "resolution", "dates", "stage", "subject", "sample", "cases", "measure"),
        "looked_into",
        # What came of it: words of closed lists.
        *("kind", "status", "label", "proof", "failure", "mode", "decision", "response_decision"),
        *("failure_reason", "signal", "flag", "flags", "class", "outcome", "feedback_id", "found_by"),
    }
)
"""Names of members whose texts, at any depth, are nobody's own. Numbers, booleans and nulls always are."""
QUOTE = "quote"

Place = tuple[Any, Any, str]
"""``holder[key]`` is a personal text; its JSON pointer."""


def member(path: str, name: str) -> str:
    """The JSON pointer (RFC 6901) of a member of what ``path`` points to."""
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{path}/{name}"


def steps(pointer: str) -> list[str]:
    """The names and numbers of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


class Personal:
    """One body. ``places`` are its personal texts in order; ``odd`` says that msgspec would not write it as
    RFC 8785 does."""

    __slots__ = ("odd", "places")

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.odd = False

    def find(self, body: dict[str, Any]) -> None:
        """Goes through everything. Raises TypeError for what is no JSON."""
        self._members(body, "", public=False)

    def any(self, holder: Any, key: Any, path: str, *, public: bool) -> None:
        """Whatever ``holder[key]`` is."""
        value = holder[key]
        kind = type(value)
        if kind is str:
            # That there is nothing tells of nobody, and half of a record's texts are empty.
            if value and not public:
                self.places.append((holder, key, path))
        elif kind is dict:
            self._members(value, path, public=public)
        elif kind is list or kind is tuple:
            holder[key] = value = list(value)
            for place in range(len(value)):
                self.any(value, place, f"{path}/{place}", public=public)
        elif kind is int or kind is float:
            holder[key] = self.number(value)
        elif value is not None and kind is not bool:
            self.refuse(value, path)

    def _members(self, value: dict[str, Any], path: str, *, public: bool) -> None:
        # msgspec sorts names by code points, RFC 8785 by UTF-16: the same for ASCII.
        self.odd = self.odd or not "".join(value).isascii()
        for name in value:
            open_ = public or name in PUBLIC or (name == QUOTE and self.is_documents(value))
            self.any(value, name, member(path, name), public=open_)

    def number(self, value: Any) -> Any:
        """``value`` as it is to be written. Raises TypeError: types of records are not enforced when they are
        made, and nothing else may pass for a number."""
        if value is None:
            return None
        if type(value) is not int and type(value) is not float:
            raise TypeError(f"a {type(value).__name__} is not a number")
        try:
            return number_alike(value)
        except WrittenOtherwise:
            self.odd = True
            return value

    def refuse(self, value: object, path: str) -> None:
        raise TypeError(f"{path}: a {type(value).__name__} is not allowed here")

    def is_documents(self, citation: Mapping[str, Any]) -> bool:
        """A quote is the document's, so public, unless its place is unknown: then it is only what a writer
        claimed. No command takes a caller's text in as evidence: ``verify`` keeps nothing."""
        start = citation.get("start")
        return type(start) is int and start >= 0
