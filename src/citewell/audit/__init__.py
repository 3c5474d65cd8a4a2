"""The sealed log: what was asked, found, written, checked and decided, in a signed Merkle tree.

The interface that the rest of Citewell may rely on:

**Writing.** ``Log.append(record)`` and ``Log.note(kind, body, subject=name)`` return the leaf's tagged hash
once the entry, the tree and a signed checkpoint are durable. ``subject`` is a person's *name*; the log stores
their pseudonym. Every text of a record, and of a noted body with a subject, is personal unless its member's
name is in ``entries.PUBLIC``.

**Reading.** ``Log.get(request_id)``, ``Log.at(seq)``, ``Log.latest(kind)``, ``Log.entries(kind, after=seq)``
return an :class:`Entry` as sealed; ``Log.body(entry)`` opens it: a dict with its personal texts, or with the
placeholders of ``entries.UNREADABLE`` if they or their key are gone. ``Log.record(request_id)`` returns the
AuditRecord. ``Log.texts(entry)`` returns the entry's salt and its texts by JSON pointer;
``entries.salted_texts(salt, texts)`` the salt that opens each text, and no other, to a stranger.
``Log.database`` runs SQL (:mod:`citewell.audit.database`), ``Log.keys`` holds the keys: ``find(name)`` for a
pseudonym, ``destroy(name)`` to forget.

**Proving.** ``Log.checkpoint()``, ``Log.prove(seq)``, ``Log.check(...)``.

**Removing.** ``entries.body`` may be set to null and rows of ``private`` deleted (retention, erasure):
leaves, tree, counts and checks are unaffected. Nothing else in ``entries``, ``tree``, ``head`` ever changes.
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
