"""Verdicts -> the four components, their mean and the decision."""

from citewell.confidence.arithmetic import needs_arithmetic
from citewell.confidence.consistency import measure_consistency
from citewell.confidence.scoring import report

__all__ = ["measure_consistency", "needs_arithmetic", "report"]
