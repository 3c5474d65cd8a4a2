"""Who asks, and what they may do and see: the one rule that pages, API, log and receipts obey.

In: a name, groups and roles, as a key, a token or the command line gave them. Out: yes or no. Knows nothing
about keys, tokens or HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from citewell.core.errors import AccessError, UsageError
from citewell.core.records import Record


class Role(StrEnum):
    """``asker`` asks and reads what it asked; ``curator`` also changes documents and reviews; ``auditor``
    reads other people's records; ``admin`` does all of it and manages keys."""

    ASKER = "asker"
    CURATOR = "curator"
    AUDITOR = "auditor"
    ADMIN = "admin"


def texts(name: str, given: object) -> tuple[str, ...]:
    """``given`` as a tuple. Raises UsageError for one text, whose letters it would be, and for no texts."""
    if isinstance(given, str):
        raise UsageError(f"{name} is the single text {given!r}", hint=f"put it in a list: {name}=[...]")
    listed = tuple(given) if isinstance(given, Iterable) else (given,)
    if not isinstance(given, Iterable) or not all(isinstance(one, str) for one in listed):
        raise UsageError(f"{name} is {given!r}", hint=f"give a list of texts: {name}=[...]")
    return listed


class Caller(Record, frozen=True, kw_only=True):
    """Somebody at the door. Empty ``groups`` sees what carries no access list; ``everything`` is the owner of
    the home at its command line, who can read its files anyway."""

    user: str = ""
    groups: tuple[str, ...] = ()
    roles: tuple[Role, ...] = (Role.ASKER,)
    everything: bool = False

    def __post_init__(self) -> None:
        texts("groups", self.groups)

    @property
    def unrestricted(self) -> bool:
        """Whether nothing is kept from the caller."""
        return self.everything or Role.ADMIN in self.roles

    def has(self, *roles: Role) -> bool:
        """Whether one of ``roles`` is held; an admin holds them all."""
        return self.unrestricted or not set(self.roles).isdisjoint(roles)

    def must(self, *roles: Role, to: str) -> None:
        """Raises AccessError unless one of ``roles`` is held; ``to`` says what for."""
        if not self.has(*roles):
            names = " or ".join(role.value for role in dict.fromkeys((*roles, Role.ADMIN)))
            raise AccessError(f"no right to {to}", hint=f"ask somebody who is {names}")

    def name(self, user: str = "") -> str:
        """In whose name something is done: the owner says it, everybody else has their own."""
        if self.everything:
            return user
        if user not in ("", self.user):
            raise AccessError(
                f"no right to act as {user!r}",
                hint="leave the user out: it is whoever the key or token names",
            )
        return self.user

    def narrowed(self, groups: Sequence[str] | None) -> tuple[str, ...] | None:
        """The groups to search with, when ``groups`` are asked for; None looks into everything."""
        own = None if self.unrestricted else self.groups
        groups = None if groups is None else texts("groups", groups)
        if own is not None and groups is not None and not set(groups) <= set(own):
            raise AccessError("no right to ask with groups that are not your own", hint="leave them out")
        if groups is None:
            return () if self.everything else own
        return groups

    def must_see(self, acl: Iterable[str]) -> None:
        """Raises AccessError for an access list that would keep a text from the caller."""
        if not self.sees(acl):
            raise AccessError(
                f"you would not see a document for {', '.join(sorted(acl))}",
                hint="name one of your own groups as well",
            )

    def sees(self, acl: Iterable[str]) -> bool:
        """Whether a text with this access list may reach the caller: an empty list is for everybody."""
        listed = set(acl)
        return self.unrestricted or not listed or not listed.isdisjoint(self.groups)


OWNER = Caller(roles=(Role.ADMIN,), everything=True)
"""Whoever runs commands in the home itself."""

EVALUATION = "evaluation"
"""Who asks in an evaluation, for the record: what watches live traffic leaves those requests out."""
