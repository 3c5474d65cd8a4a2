"""Verdicts -> the four components, their mean and the decision."""

from citewell.verification.confidence.arithmetic import needs_arithmetic
from citewell.verification.confidence.consistency import measure_consistency
from citewell.verification.confidence.scoring import report

__all__ = ["measure_consistency", "needs_arithmetic", "report"]
