"""What users do with an answer: signals, the flags they raise, and the queue in which people review them."""

from citewell.feedback.causes import documents_of, failing_stage
from citewell.feedback.signals import Feedback, Signal, flags_of, standing
from citewell.feedback.store import FeedbackStore, Review

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
