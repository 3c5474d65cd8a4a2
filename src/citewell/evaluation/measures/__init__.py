"""Every measure, in reporting order; docs/evaluation.md describes each by name."""

from citewell.evaluation.measures.answers import ANSWERS, CITATIONS, RETRIEVAL
from citewell.evaluation.measures.decisions import ABSTENTION, CALIBRATION
from citewell.evaluation.measures.measure import EFFORT, CaseMeasure, Judge, Latency, latencies

FAMILIES: dict[str, tuple[CaseMeasure, ...]] = {
    "Citations": CITATIONS,
    "Answers": ANSWERS,
    "Retrieval": RETRIEVAL,
    "Abstention": ABSTENTION,
    "Calibration": CALIBRATION,
    "Effort": EFFORT,
}
ALL: tuple[CaseMeasure, ...] = tuple(measure for family in FAMILIES.values() for measure in family)
BY_NAME = {measure.name: measure for measure in ALL}

__all__ = ["ALL", "BY_NAME", "FAMILIES", "CaseMeasure", "Judge", "Latency", "latencies"]
