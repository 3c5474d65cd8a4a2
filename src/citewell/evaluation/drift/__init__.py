"""Quality over time: what the log says of it, where it changed, who is told."""

from citewell.evaluation.drift.alerts import tell
from citewell.evaluation.drift.drifting import (
    BY,
    Canary,
    Drift,
    Metric,
    Point,
    canary,
    drift,
    drift_metrics,
)

__all__ = ["BY", "Canary", "Drift", "Metric", "Point", "canary", "drift", "drift_metrics", "tell"]
