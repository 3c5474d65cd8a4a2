"""Who is asking, and what they may do and see: one rule for pages, API, log and receipts.

In: a name, groups and roles, from a key, a token or the command line. Out: yes or no. Knows nothing about
keys, tokens or HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from citewell.core.errors import AccessError, UsageError
from citewell.core.records import Record


class Role(StrEnum):
    """``asker`` asks and reads what it asked; ``curator`` also changes documents and reviews; ``auditor``
    reads other people's records; ``admin`` does all of this and manages keys."""

    ASKER = "asker"
    CURATOR = "curator"
    AUDITOR = "auditor"
    ADMIN = "admin"


def string_tuple(name: str, given: object) -> tuple[str, ...]:
    """``given`` as a tuple of strings. Raises UsageError for a single string, which would be split into
    letters, and for anything but strings inside."""
    if isinstance(given, str):
        raise UsageError(
            f"{name} is a single text, {given!r}, not a list", hint=f"put it in a list: {name}=[...]"
        )
    listed = tuple(given) if isinstance(given, Iterable) else (given,)
    if not isinstance(given, Iterable) or not all(isinstance(one, str) for one in listed):
        raise UsageError(
            f"{name} is {given!r}, not a list of texts", hint=f"give a list of texts: {name}=[...]"
        )
    return listed


class Caller(Record, frozen=True, kw_only=True):
    """The user behind a request. With empty ``groups``, the caller sees only what has no access list;
    ``everything`` marks the owner of the home at its command line, who can read its files anyway."""

    user: str = ""
    groups: tuple[str, ...] = ()
    roles: tuple[Role, ...] = (Role.ASKER,)
    everything: bool = False

    def __post_init__(self) -> None:
        string_tuple("groups", self.groups)

    @property
    def unrestricted(self) -> bool:
        """Whether the caller may see everything."""
        return self.everything or Role.ADMIN in self.roles

    def has(self, *roles: Role) -> bool:
        """Whether the caller has one of ``roles``; an admin has them all."""
        return self.unrestricted or not set(self.roles).isdisjoint(roles)

    def must(self, *roles: Role, to: str) -> None:
        """Raises AccessError unless the caller has one of ``roles``; ``to`` names the action."""
        if not self.has(*roles):
            names = " or ".join(role.value for role in dict.fromkeys((*roles, Role.ADMIN)))
            raise AccessError(f"you do not have permission to {to}", hint=f"this needs the role {names}")

    def name(self, user: str = "") -> str:
        """The user to act as: the owner may name anyone, all others act as themselves."""
        if self.everything:
            return user
        if user not in ("", self.user):
            raise AccessError(
                f"you do not have permission to act as {user!r}",
                hint="leave the user out; the key or token already names it",
            )
        return self.user

    def narrowed(self, groups: Sequence[str] | None) -> tuple[str, ...] | None:
        """The groups to search with when ``groups`` are requested; None searches everything."""
        own = None if self.unrestricted else self.groups
        groups = None if groups is None else string_tuple("groups", groups)
        if own is not None and groups is not None and not set(groups) <= set(own):
            raise AccessError(
                "you do not have permission to ask with groups that are not your own", hint="leave them out"
            )
        if groups is None:
            return () if self.everything else own
        return groups

    def must_see(self, acl: Iterable[str]) -> None:
        """Raises AccessError for an access list that would hide a text from the caller."""
        if not self.sees(acl):
            raise AccessError(
                f"you could not see a document restricted to {', '.join(sorted(acl))} yourself",
                hint="also name one of your own groups",
            )

    def sees(self, acl: Iterable[str]) -> bool:
        """Whether a text with this access list may reach the caller: an empty list admits everybody."""
        listed = set(acl)
        return self.unrestricted or not listed or not listed.isdisjoint(self.groups)


OWNER = Caller(roles=(Role.ADMIN,), everything=True)
"""The user who runs commands in the home itself."""

EVALUATION = "evaluation"
"""The user on record for evaluation requests; monitoring of live traffic leaves them out."""
