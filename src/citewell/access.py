"""Who asks, and what they may do and see: the one rule that pages, API, log and receipts obey.

In: a name, groups and roles, as a key, a token or the command line gave them. Out: yes or no. Knows nothing
about keys, tokens or HTTP.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from citewell.errors import AccessError
from citewell.records import Record


class Role(StrEnum):
    """``asker`` asks and reads what it asked; ``curator`` also changes documents and reviews; ``auditor``
    reads other people's records; ``admin`` does all of it and manages keys."""

    ASKER = "asker"
    CURATOR = "curator"
    AUDITOR = "auditor"
    ADMIN = "admin"


class Caller(Record, frozen=True, kw_only=True):
    """Somebody at the door. Empty ``groups`` sees what carries no access list; ``everything`` is the owner of
    the home at its command line, who can read its files anyway."""

    user: str = ""
    groups: tuple[str, ...] = ()
    roles: tuple[Role, ...] = (Role.ASKER,)
    everything: bool = False

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

    def sees(self, acl: Iterable[str]) -> bool:
        """Whether a text with this access list may reach the caller: an empty list is for everybody."""
        listed = set(acl)
        return self.unrestricted or not listed or not listed.isdisjoint(self.groups)


OWNER = Caller(roles=(Role.ADMIN,), everything=True)
"""Whoever runs commands in the home itself."""

EVALUATION = "evaluation"
"""Who asks in an evaluation, for the record: what watches live traffic leaves those requests out."""
