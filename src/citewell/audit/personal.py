"""Where the personal texts of a body are, and its numbers set so that they are written as RFC 8785 has them.

In: a body as plain JSON, which is changed in place, and the Record it came from where there is one. Out: the
places of its personal texts. A record is walked by a plan that is made once from the fields of its type, so
that only members that hold texts or numbers are touched; everything else is walked as it is found. Either way
a text is personal unless its member's name is in ``PUBLIC``, and a type that is no JSON raises: what nobody
thought of is protected or refused, never exposed. Knows nothing about hashes, keys or storage.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from msgspec import inspect

from citewell.identity import LARGEST, WrittenOtherwise, number_alike
from citewell.records import Record

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
_QUOTE = "quote"

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

    __slots__ = ("caller_supplied", "odd", "places")

    def __init__(self, caller_supplied: Collection[str] = ()) -> None:
        """``caller_supplied`` are document versions whose quotes are the caller's own text."""
        self.caller_supplied = caller_supplied
        self.places: list[Place] = []
        self.odd = False

    def find(self, body: dict[str, Any], origin: type[Record] | None = None) -> None:
        """``origin`` is the type whose ``identity.plain`` the body is. Raises TypeError for what is no
        JSON."""
        if origin is None:
            self.any_members(body, "", public=False)
        else:
            plan_of(origin, public=False)(self, body, "")

    def any(self, holder: Any, key: Any, path: str, *, public: bool) -> None:
        """Whatever ``holder[key]`` is."""
        value = holder[key]
        kind = type(value)
        if kind is str:
            # That there is nothing tells of nobody, and half of a record's texts are empty.
            if value and not public:
                self.places.append((holder, key, path))
        elif kind is dict:
            self.any_members(value, path, public=public)
        elif kind is list or kind is tuple:
            holder[key] = value = list(value)
            for place in range(len(value)):
                self.any(value, place, f"{path}/{place}", public=public)
        elif kind is int or kind is float:
            holder[key] = self.number(value)
        elif value is not None and kind is not bool:
            raise TypeError(f"{path}: a {kind.__name__} is no JSON value")

    def any_members(self, value: dict[str, Any], path: str, *, public: bool) -> None:
        # msgspec sorts names by code points, RFC 8785 by UTF-16: the same for ASCII.
        self.odd = self.odd or not "".join(value).isascii()
        for name in value:
            open_ = public or name in PUBLIC or (name == _QUOTE and self.is_documents(value))
            self.any(value, name, member(path, name), public=open_)

    def number(self, value: Any) -> Any:
        """Types of records are not enforced when they are made: nothing else may pass for a number."""
        if type(value) is not int and type(value) is not float:
            raise TypeError(f"a {type(value).__name__} is no number")
        try:
            return number_alike(value)
        except WrittenOtherwise:
            self.odd = True
            return value

    def is_documents(self, citation: Mapping[str, Any]) -> bool:
        """A quote is the document's, so public, unless its place is unknown (then it is only what a writer
        claimed) or the document is one that the caller supplied."""
        start = citation.get("start")
        version = citation.get("document_version")
        return type(start) is int and start >= 0 and version not in self.caller_supplied


Walk = Callable[[Personal, Any, str], None]


@cache
def plan_of(origin: type[Record], *, public: bool) -> Walk:
    """How to go through a record of this type. Raises TypeError for a field that is no JSON."""
    texts: list[str] = []
    counts: list[str] = []
    measures: list[str] = []
    flags: list[str] = []
    inner: list[tuple[str, Walk]] = []
    several: list[tuple[str, Walk]] = []
    others: list[tuple[str, bool]] = []
    quoted = False
    for field in inspect.type_info(origin).fields:  # type: ignore[attr-defined]
        name, open_ = field.encode_name, public or field.encode_name in PUBLIC
        match _kind(field.type):
            case inspect.StrType() if name == _QUOTE and not open_:
                quoted = True
            case inspect.StrType() | inspect.EnumType():
                texts += [] if open_ else [name]
            case inspect.IntType():
                counts.append(name)
            case inspect.FloatType():
                measures.append(name)
            case inspect.BoolType():
                flags.append(name)
            case inspect.StructType(cls=record):
                inner.append((name, plan_of(record, public=open_)))
            case inspect.VarTupleType(item_type=inspect.StructType(cls=record)):
                several.append((name, plan_of(record, public=open_)))
            case inspect.VarTupleType(item_type=inspect.StrType()) if open_:
                pass
            case _:
                others.append((name, open_))

    def walk(found: Personal, value: dict[str, Any], path: str) -> None:
        for name in texts:
            if value[name]:
                found.places.append((value, name, f"{path}/{name}"))
        if quoted and value[_QUOTE] and not found.is_documents(value):
            found.places.append((value, _QUOTE, f"{path}/{_QUOTE}"))
        for name in counts:
            number = value[name]
            if not (number is None or (type(number) is int and -LARGEST < number < LARGEST)):
                value[name] = found.number(number)
        for name in measures:
            number = value[name]
            # Most are probabilities; whole floats, very small and very large ones are written otherwise.
            if number is not None and not 1e-4 < number < 1:
                value[name] = found.number(number)
        for name in flags:
            if type(value[name]) is not bool:
                raise TypeError(f"{path}/{name}: a {type(value[name]).__name__} is no flag")
        for name, one in inner:
            if value[name] is not None:
                one(found, value[name], f"{path}/{name}")
        for name, one in several:
            for place, item in enumerate(value[name]):
                one(found, item, f"{path}/{name}/{place}")
        for name, open_ in others:
            if value[name]:
                found.any(value, name, f"{path}/{name}", public=open_)

    return walk


def _kind(kind: inspect.Type) -> inspect.Type | None:
    """What a member is when it is not null; None where that is several things."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    return kinds[0] if len(kinds) == 1 else None
