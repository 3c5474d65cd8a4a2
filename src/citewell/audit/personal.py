"""Where the personal texts of a body are, and its numbers set so that they are written as RFC 8785 has them.

In: a body as plain JSON, which is changed in place. Out: the places of its personal texts. A text is personal
unless its member's name is in ``PUBLIC``, and a type that is no JSON raises: what nobody thought of is
protected or refused, never exposed. A record is walked by a table of the members that its types have
(:func:`members_of`), in half the time that looking at everything takes; a text where a type has none is
refused. Whatever else there is, and what a type leaves open, is walked as it is found. Knows nothing about
hashes, keys or storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct, inspect

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

    def of_record(self, body: dict[str, Any], origin: type[Struct]) -> None:
        """In the plain JSON of an ``origin``. Raises TypeError for a value that is not of its type."""
        self._record(body, "", members_of(origin, public=False))

    def of_plain(self, body: dict[str, Any]) -> None:
        """In everything there is. Raises TypeError for what is no JSON."""
        self._dictionary(body, "", public=False)

    def _record(self, value: dict[str, Any], path: str, members: _Members) -> None:
        for name, look, inner in members:
            item = value[name]
            if look is _TEXT:
                # That there is nothing tells of nobody, and half of a record's texts are empty.
                if item and not (name == QUOTE and is_documents(value)):
                    self.places.append((value, name, f"{path}/{name}"))
            elif look is _NUMBER:
                # Most are probabilities; whole, very small and very large ones are written otherwise.
                if item is not None and not (type(item) is float and 1e-4 < item < 1):
                    value[name] = self._number(item)
            elif look is _FLAG:
                if type(item) is not bool:
                    raise _refused(item, f"{path}/{name}")
            elif look is _OPEN:
                self._anything(value, name, f"{path}/{name}", public=inner)
            elif look is _RECORD:
                if item is not None:
                    self._record(item, f"{path}/{name}", inner)
            else:
                for place, one in enumerate(item):
                    self._record(one, f"{path}/{name}/{place}", inner)

    def _dictionary(self, value: dict[str, Any], path: str, *, public: bool) -> None:
        # msgspec sorts names by code points, RFC 8785 by UTF-16: the same for ASCII.
        self.odd = self.odd or not "".join(value).isascii()
        for name in value:
            open_ = public or name in PUBLIC or (name == QUOTE and is_documents(value))
            self._anything(value, name, member(path, name), public=open_)

    def _anything(self, holder: Any, key: Any, path: str, *, public: bool) -> None:
        value = holder[key]
        kind = type(value)
        if kind is str:
            if value and not public:
                self.places.append((holder, key, path))
        elif kind is dict:
            self._dictionary(value, path, public=public)
        elif kind is list or kind is tuple:
            holder[key] = value = list(value)
            for place in range(len(value)):
                self._anything(value, place, f"{path}/{place}", public=public)
        elif kind is int or kind is float:
            holder[key] = self._number(value)
        elif value is not None and kind is not bool:
            raise _refused(value, path)

    def _number(self, value: Any) -> Any:
        """As it is to be written. Types of records are not enforced when they are made, and nothing else may
        pass for a number."""
        if type(value) is not int and type(value) is not float:
            raise TypeError(f"a {type(value).__name__} is not a number")
        try:
            return number_alike(value)
        except WrittenOtherwise:
            self.odd = True
            return value


def _refused(value: object, path: str) -> TypeError:
    return TypeError(f"{path}: a {type(value).__name__} is not allowed here")


def is_documents(citation: Mapping[str, Any]) -> bool:
    """A quote is the document's, so public, unless its place is unknown: then it is only what a writer
    claimed. No command takes a caller's text in as evidence: ``verify`` keeps nothing."""
    start = citation.get("start")
    return type(start) is int and start >= 0


_TEXT, _NUMBER, _FLAG, _OPEN, _RECORD, _RECORDS = "text", "number", "flag", "open", "record", "records"
_Members = tuple[tuple[str, str, Any], ...]
"""Name, how it is looked at, and for what is within it: its own members, or whether it is public."""


@cache
def members_of(origin: type[Struct], *, public: bool) -> _Members:
    """The members of a Record type that have to be looked at: not its public texts."""
    members: list[tuple[str, str, Any]] = []
    for field in inspect.type_info(origin).fields:  # type: ignore[attr-defined]
        name = field.encode_name
        open_ = public or name in PUBLIC
        match _kind(field.type):
            case (
                inspect.StrType() | inspect.EnumType() | inspect.VarTupleType(item_type=inspect.StrType())
            ) if open_:
                pass
            case inspect.StrType() | inspect.EnumType():
                members.append((name, _TEXT, None))
            case inspect.IntType() | inspect.FloatType():
                members.append((name, _NUMBER, None))
            case inspect.BoolType():
                members.append((name, _FLAG, None))
            case inspect.StructType(cls=record):
                members.append((name, _RECORD, members_of(record, public=open_)))
            case inspect.VarTupleType(item_type=inspect.StructType(cls=record)):
                members.append((name, _RECORDS, members_of(record, public=open_)))
            case _:
                members.append((name, _OPEN, open_))
    return tuple(members)


def _kind(kind: inspect.Type) -> inspect.Type | None:
    """What a member is when it is not null; None where that is several things."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    return kinds[0] if len(kinds) == 1 else None
