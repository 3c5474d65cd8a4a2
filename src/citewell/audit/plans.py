"""How to go through a record of one type, written out once as a function of its own.

In: a Record type. Out: a function that finds, in the plain JSON of such a record, what
:class:`citewell.audit.personal.Personal` finds by going through everything; a test holds them equal. Each
answer is walked before it is sealed, and a loop over the fields of its types took three times as long. What a
type does not say (an open dictionary, a union) is gone through as it is found, and what is not as its type
says is refused. Knows nothing about bodies or hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from msgspec import Struct, inspect

from citewell.audit.personal import PUBLIC, QUOTE, Personal
from citewell.core.identity import LARGEST

Walk = Callable[[Personal, dict[str, Any]], None]


@cache
def plan_of(origin: type[Struct]) -> Walk:
    """Raises TypeError for a type that holds itself."""
    lines = [
        "def walk(found, at):",
        " add = found.places.append",
        *_indented(_lines(origin, "at", "", False, ())),
    ]
    written: dict[str, Any] = {"largest": LARGEST}
    # Made of the names of our own types' members, and of nothing that came with a record.
    exec("\n".join(lines), written)  # noqa: S102
    walk: Walk = written["walk"]
    return walk


def _lines(
    origin: type[Struct], at: str, path: str, public: bool, within: tuple[type[Struct], ...]
) -> Iterator[str]:
    """What is to be done to ``at``, the name that a plain ``origin`` has in the function; ``path`` is its
    pointer as an f-string has it."""
    if origin in within:
        raise TypeError(f"a {origin.__name__} holds itself")
    within = (*within, origin)
    for field in inspect.type_info(origin).fields:  # type: ignore[attr-defined]
        name = field.encode_name
        open_ = public or name in PUBLIC
        member, pointer, own = f'{at}["{name}"]', f"{path}/{name}", f"{at}_{name}"
        add = f' add(({at}, "{name}", f"{pointer}"))'
        match _kind(field.type):
            case inspect.StrType() if name == QUOTE and not open_:
                yield from (f"if {member} and not found.is_documents({at}):", add)
            case inspect.StrType() | inspect.EnumType() if not open_:
                yield from (f"if {member}:", add)
            case inspect.IntType():
                yield from (
                    f"{own} = {member}",
                    f"if type({own}) is not int or not -largest < {own} < largest:",
                )
                yield f" {member} = found.number({own})"
            case inspect.FloatType():
                # Most are probabilities; whole, very small and very large ones are written otherwise.
                yield f"{own} = {member}"
                yield f"if {own} is not None and not 1e-4 < {own} < 1:"
                yield f" {member} = found.number({own})"
            case inspect.BoolType():
                yield from (f"if type({member}) is not bool:", f' found.refuse({member}, f"{pointer}")')
            case inspect.StructType(cls=record):
                yield from (f"{own} = {member}", f"if {own} is not None:", " pass")
                yield from _indented(_lines(record, own, pointer, open_, within))
            case inspect.VarTupleType(item_type=inspect.StructType(cls=record)):
                yield f"for {own}_place, {own} in enumerate({member}):"
                yield from _indented(_lines(record, own, f"{pointer}/{{{own}_place}}", open_, within))
            case inspect.StrType() | inspect.EnumType():
                pass
            case inspect.VarTupleType(item_type=inspect.StrType()) if open_:
                pass
            case inspect.DictType() | inspect.VarTupleType():
                yield f"if {member}:"
                yield f' found.any({at}, "{name}", f"{pointer}", public={open_})'
            case _:
                yield f'found.any({at}, "{name}", f"{pointer}", public={open_})'


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f" {line}" for line in lines)


def _kind(kind: inspect.Type) -> inspect.Type | None:
    """What a member is when it is not null; None where that is several things."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    return kinds[0] if len(kinds) == 1 else None
