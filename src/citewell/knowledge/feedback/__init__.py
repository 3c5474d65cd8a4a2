"""What users do with an answer: signals, the flags they raise, and the queue in which people review them."""

from citewell.knowledge.feedback.causes import documents_of, failing_stage
from citewell.knowledge.feedback.signals import Feedback, Signal, flags_of, standing
from citewell.knowledge.feedback.store import FeedbackStore, Review

__all__ = [
    "Feedback",
    "FeedbackStore",
    "Review",
    "Signal",
    "documents_of",
    "failing_stage",
    "flags_of",
    "standing",
]
