"""Citewell: answers from your documents whose every quote is the source, checked, decided and recorded."""

from citewell.audit.question import AuditQuery
from citewell.core.errors import CitewellError
from citewell.core.records import Answer, Citation, Claim, ConfidenceReport, Decision, Status, Verdict
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open, verify

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
