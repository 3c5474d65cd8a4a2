"""Verdicts -> the four confidence components, their mean and the decision."""

from citewell.verification.confidence.scoring import measure_consistency, needs_arithmetic, report

__all__ = ["measure_consistency", "needs_arithmetic", "report"]
