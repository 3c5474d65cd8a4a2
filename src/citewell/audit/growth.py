"""That today's log only added to the one somebody kept a checkpoint of: an RFC 9162 consistency proof.

In: a log, a kept checkpoint. Out: a :class:`Growth` that any RFC 6962 tool checks with the two roots. Knows
nothing about what the entries say.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from citewell.audit.notes import read_checkpoint
from citewell.audit.writer import stored_tree
from citewell.core.errors import LogIntegrityError, UsageError
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log


class Growth(Record, frozen=True, kw_only=True):
    """``hashes`` (base64) lead from the root of the first ``old_size`` leaves to the root that ``checkpoint``
    signs, of ``size``."""

    old_size: int
    size: int
    hashes: tuple[str, ...]
    checkpoint: str


def growth_since(log: Log, kept: str) -> Growth:
    """Raises UsageError for what is no checkpoint of this log, LogIntegrityError when the log does not go on
    from it: then there is no proof."""
    try:
        old = read_checkpoint(kept)
    except ValueError as error:
        raise UsageError(f"this is not a checkpoint: {error}", hint="pass the kept file unchanged") from error
    text = log.checkpoint()
    new = read_checkpoint(text)
    if old.origin != new.origin:
        raise UsageError(
            f"the checkpoint belongs to log {old.origin!r}, but this is {new.origin!r}",
            hint="pass a checkpoint of this log",
        )
    with log.database.reading() as rows:
        tree = stored_tree(rows, new.size)
        if old.size > new.size or tree.root(old.size) != old.root:
            raise LogIntegrityError(
                f"the log with {new.size} entries does not continue the checkpoint of {old.size}",
                hint="`citewell audit check --checkpoint FILE` shows what happened",
            )
        hashes = tree.consistency(old.size, new.size)
    return Growth(
        old_size=old.size,
        size=new.size,
        hashes=tuple(base64.b64encode(digest).decode() for digest in hashes),
        checkpoint=text,
    )
