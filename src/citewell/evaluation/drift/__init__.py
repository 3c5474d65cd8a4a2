"""Quality over time: what the log shows, where it changed, which alerts fire."""

from citewell.evaluation.drift.drifting import (
    BY,
    Canary,
    Drift,
    DriftPoint,
    canary,
    drift,
    drift_lately,
)

__all__ = ["BY", "Canary", "Drift", "DriftPoint", "canary", "drift", "drift_lately"]
