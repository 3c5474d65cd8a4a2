"""The sealed log: asked, found, written, checked, decided; a Merkle tree over all of it, signed with each
group.

What the rest of Citewell, and the uses of the log, may rely on:

**Writing.** ``Log.append(record)`` and ``Log.note(kind, body, subject=name)`` return the leaf's tagged hash
once the entry, the tree and a signed checkpoint are durable. ``subject`` is a person's *name*; the log stores
their pseudonym. Every text of a record, and of a noted body with a subject, is personal unless its member's
name is in ``personal.PUBLIC``.

**Reading.** ``Log.get(request_id)``, ``Log.at(seq)``, ``Log.latest(kind)``, ``Log.entries(kind, after=seq)``
give an :class:`Entry` as sealed; ``Log.body(entry)`` opens it: a dict whose personal texts are filled in, or
read as ``bodies.UNREADABLE`` has it without them or their key. ``Log.record(request_id)`` is the AuditRecord.
``Log.texts(entry)`` gives the entry's salt and its texts by JSON pointer; ``bodies.opened(salt, texts)`` the
salt of each, which opens that field to a stranger and no other. ``Log.database`` runs SQL
(:mod:`citewell.audit.database`), ``Log.keys`` holds the keys: ``find(name)`` for a pseudonym,
``destroy(name)`` to forget.

**Proving.** ``Log.checkpoint()``, ``Log.prove(seq)``, ``Log.check(...)``.

**Taking out.** ``entries.body`` may be set to null and rows of ``private`` deleted (retention, erasure):
leaves, tree, counts and checks stay as they were. Nothing else in ``entries``, ``tree``, ``head`` is ever
changed.
"""

from citewell.audit.checker import CheckReport
from citewell.audit.entries import Entry, EntryKind
from citewell.audit.log import Log, SqliteLog
from citewell.audit.pages import Counts, Page, Queries
from citewell.audit.question import AuditQuery
from citewell.audit.tampering import Finding

__all__ = [
    "AuditQuery",
    "CheckReport",
    "Counts",
    "Entry",
    "EntryKind",
    "Finding",
    "Log",
    "Page",
    "Queries",
    "SqliteLog",
]
