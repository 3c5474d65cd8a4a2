"""Every measure, in reporting order; docs/evaluation.md describes each by name."""

from citewell.evaluation.measures.answers import ANSWERS, CITATIONS, RETRIEVAL
from citewell.evaluation.measures.decisions import ABSTENTION, CALIBRATION
from citewell.evaluation.measures.measure import EFFORT, Judge, Latency, Measure, latencies

FAMILIES: dict[str, tuple[Measure, ...]] = {
    "Citations": CITATIONS,
    "Answers": ANSWERS,
    "Retrieval": RETRIEVAL,
    "Abstention": ABSTENTION,
    "Calibration": CALIBRATION,
    "Effort": EFFORT,
}
ALL: tuple[Measure, ...] = tuple(measure for family in FAMILIES.values() for measure in family)
BY_NAME = {measure.name: measure for measure in ALL}

__all__ = ["ALL", "BY_NAME", "FAMILIES", "Judge", "Latency", "Measure", "latencies"]
