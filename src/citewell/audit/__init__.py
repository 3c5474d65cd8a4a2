"""The sealed log: asked, found, written, checked, decided; each entry chained to the one before."""

from citewell.audit.check import CheckReport, Finding
from citewell.audit.entries import Entry, EntryKind
from citewell.audit.log import SqliteLog
from citewell.audit.queries import AuditQuery, Page

__all__ = ["AuditQuery", "CheckReport", "Entry", "EntryKind", "Finding", "Page", "SqliteLog"]
