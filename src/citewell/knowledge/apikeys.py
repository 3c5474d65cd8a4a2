"""What the log says of the keys that open the server, and whether the keys themselves still say the same.

In: a key that is made or revoked; later a sound log, and the keys as they are stored. Out: entries; findings:
a key that no entry made, one that may do more than its entry says, one that was revoked and opens again. A
key's owner stands in an entry as a pseudonym. Knows nothing about secrets or how keys are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from citewell.audit.entries import EntryKind
from citewell.audit.tampering import Finding

if TYPE_CHECKING:
    from citewell.audit import Log

ACCESS = "access"
"""The kind of these findings."""
MADE, REVOKED = "made", "revoked"


class Key(Protocol):
    """A key of the server, without its secret."""

    @property
    def key_id(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def groups(self) -> Sequence[str]: ...
    @property
    def roles(self) -> Sequence[str]: ...
    @property
    def scopes(self) -> Sequence[str]: ...
    @property
    def expires_at(self) -> str: ...
    @property
    def revoked_at(self) -> str: ...


def seal_key(log: Log, key: Key, outcome: str) -> None:
    """An entry of a key that is made or revoked. Raises LogError."""
    body: dict[str, Any] = {"outcome": outcome, "key_id": key.key_id}
    if outcome == MADE:
        body |= {"subject": log.keys.subject(key.user).id, **_allowed(key)}
    log.note(EntryKind.ACCESS, body)


def _allowed(key: Key) -> dict[str, Any]:
    lists = {"groups": key.groups, "roles": key.roles, "scopes": key.scopes}
    return {
        **{name: sorted(map(str, values)) for name, values in lists.items()},
        "expires_at": key.expires_at,
    }


def differences(log: Log, keys: Iterable[Key]) -> Iterator[Finding]:
    """Raises LogError."""
    made: dict[str, tuple[int, dict[str, Any]]] = {}
    revoked: dict[str, int] = {}
    for entry in log.entries(EntryKind.ACCESS):
        body = log.body(entry) if entry.body is not None else {}
        if body.get("outcome") == MADE:
            made.setdefault(body["key_id"], (entry.seq, body))
        elif body.get("outcome") == REVOKED:
            revoked.setdefault(body["key_id"], entry.seq)
    stored = {key.key_id: key for key in keys}
    for name, key in stored.items():
        if name not in made:
            yield Finding(ACCESS, 0, f"key {name} of {key.user}: the log has no entry for its creation")
            continue
        seq, body = made[name]
        owner = log.keys.name(body["subject"])
        for what, sealed, found in (
            *((what, body[what], value) for what, value in _allowed(key).items()),
            ("user", owner or key.user, key.user),
        ):
            if sealed != found:
                yield Finding(ACCESS, seq, f"key {name}: its {what} was {sealed!r} and is now {found!r}")
        if name in revoked and not key.revoked_at:
            yield Finding(ACCESS, revoked[name], f"key {name} was revoked but is active again")
        elif key.revoked_at and name not in revoked:
            yield Finding(ACCESS, seq, f"key {name} is revoked, but the log has no entry for it")
    for name, (seq, _) in made.items():
        if name not in stored:
            yield Finding(ACCESS, seq, f"key {name} was created but no longer exists")
