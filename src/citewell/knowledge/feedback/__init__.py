"""What users do with an answer: signals, the flags they raise, and the queue for human review."""

from citewell.knowledge.feedback.signals import Feedback, Signal
from citewell.knowledge.feedback.store import FeedbackStore, Review

__all__ = ["Feedback", "FeedbackStore", "Review", "Signal"]
