"""Locates the personal texts of a body.

In: a body as plain JSON, whose tuples become lists. Out: the places of its personal texts. A text is personal
unless its member's name is in ``PUBLIC``: unforeseen members are protected, never exposed. Independent of
hashes, keys and storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PUBLIC = frozenset(
    {
        # What made it.
        *("environment", "makers", "maker", "name", "hash", "prompt_hash", "card"),
        *("config_hash", "citewell", "query_embedding_model", "generation_model", "generation_prompt_hash"),
        # What it is about: ids, versions, places.
        *("request_id", "timestamp", "index_version", "chunk_id", "document_id", "document_version"),
        *("version", "section_path", "resolution", "dates", "stage", "subject", "sample", "cases", "measure"),
        "looked_into",
        # Its outcome: words from closed lists.
        *("kind", "status", "label", "proof", "failure", "mode", "decision", "response_decision"),
        *("failure_reason", "signal", "flag", "flags", "class", "outcome", "feedback_id", "found_by"),
    }
)
"""Names of members whose texts, at any depth, are public. Numbers, booleans and nulls always are."""

Place = tuple[Any, Any, str]
"""(holder, key, JSON pointer): ``holder[key]`` is a personal text."""


def member(path: str, name: str) -> str:
    """The JSON pointer (RFC 6901) of a member of the value at ``path``."""
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{path}/{name}"


def steps(pointer: str) -> list[str]:
    """The unescaped steps of a JSON pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def personal_places(body: dict[str, Any]) -> list[Place]:
    """The places of all non-empty personal texts, in order; empty ones reveal nothing."""
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
    """A quote is document text, so public, unless its span is unknown: then it is only what a writer claimed.
    No command stores a caller's text as evidence: ``verify`` keeps nothing."""
    start = citation.get("start")
    return type(start) is int and start >= 0
