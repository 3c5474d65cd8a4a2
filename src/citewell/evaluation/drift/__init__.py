"""Quality over time: what the log says of it, and which alerts fire."""

from citewell.evaluation.drift.drifting import BY, Drift, Point, drift, drift_lately

__all__ = ["BY", "Drift", "Point", "drift", "drift_lately"]
