"""Where the personal texts of a body are.

In: a body as plain JSON, whose tuples become lists. Out: the places of its personal texts. A text is personal
unless its member's name is in ``PUBLIC``: what nobody thought of is protected, never exposed. Knows nothing
about hashes, keys or storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def personal_places(body: dict[str, Any]) -> list[Place]:
    """Of every personal text that is not empty, in order: that there is nothing tells of nobody."""
    places: list[Place] = []
    _look(body, "", places, public=False)
    return places


def _look(value: Any, path: str, places: list[Place], *, public: bool) -> None:
    names = value if type(value) is dict else range(len(value))
    for name in names:
        item = value[name]
        kind = type(item)
        if kind is tuple:
            value[name] = item = list(item)
        elif kind is not str and kind is not dict and kind is not list:
            continue
        open_ = public or name in PUBLIC or (name == "quote" and _is_documents(value))
        if kind is not str:
            _look(item, member(path, str(name)), places, public=open_)
        elif item and not open_:
            places.append((value, name, member(path, str(name))))


def _is_documents(citation: Mapping[str, Any]) -> bool:
    """A quote is the document's, so public, unless its place is unknown: then it is only what a writer
    claimed. No command takes a caller's text in as evidence: ``verify`` keeps nothing."""
    start = citation.get("start")
    return type(start) is int and start >= 0
