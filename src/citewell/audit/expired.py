"""What stays known of records whose content was taken out.

In: the log's rows. Out: the profile that an expiry entry kept of each. An expiry entry holds ``entries``
(seqs), ``profiles`` and ``records`` (pairs of a seq and the number of its profile). Knows nothing about when
something may be taken out.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from citewell.audit.database import Rows
from citewell.audit.entries import EntryKind
from citewell.audit.expiries import entries_named
from citewell.audit.profiles import Profile


def profiles_kept(rows: Rows) -> dict[int, Profile]:
    """By seq, what stays known of records whose content has expired."""
    found: dict[int, Profile] = {}
    for (text,) in rows.execute(
        "SELECT body FROM entries WHERE kind = ? AND body IS NOT NULL ORDER BY seq", (EntryKind.EXPIRY.value,)
    ).fetchall():
        # What is no expiry hides nothing and stops no question: `check` names it.
        with suppress(ValueError, LookupError, TypeError):
            body = msgspec.json.decode(text)
            entries_named(body)
            profiles = [msgspec.convert(profile, Profile) for profile in body["profiles"]]
            found |= {seq: profiles[number] for seq, number in body["records"]}
    return found
