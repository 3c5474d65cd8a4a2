"""What users do with an answer: signals, the flags they raise, and the queue in which people review them."""

from citewell.feedback.signals import Feedback, Signal

__all__ = ["Feedback", "Signal"]
