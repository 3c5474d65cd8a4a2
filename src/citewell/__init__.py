"""Citewell: answers from your documents whose every quote is the source, checked, decided and recorded."""

from citewell.audit.question import AuditQuery
from citewell.errors import CitewellError
from citewell.knowledge import KnowledgeBase, open, verify
from citewell.records import Answer, Citation, Claim, ConfidenceReport, Decision, Status, Verdict

__all__ = [
    "Answer",
    "AuditQuery",
    "Citation",
    "CitewellError",
    "Claim",
    "ConfidenceReport",
    "Decision",
    "KnowledgeBase",
    "Status",
    "Verdict",
    "open",
    "verify",
]
