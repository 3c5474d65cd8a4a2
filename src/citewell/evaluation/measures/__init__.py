"""Every measure, in the order in which they are reported; a name a line in docs/evaluation.md."""

from citewell.evaluation.measures import abstention, answers, calibration, citations, effort, retrieval
from citewell.evaluation.measures.effort import Latency, latencies
from citewell.evaluation.measures.measure import Judge, Measure

FAMILIES: dict[str, tuple[Measure, ...]] = {
    "Citations": citations.MEASURES,
    "Answers": answers.MEASURES,
    "Retrieval": retrieval.MEASURES,
    "Abstention": abstention.MEASURES,
    "Calibration": calibration.MEASURES,
    "Effort": effort.MEASURES,
}
ALL: tuple[Measure, ...] = tuple(measure for family in FAMILIES.values() for measure in family)
BY_NAME = {measure.name: measure for measure in ALL}

__all__ = ["ALL", "BY_NAME", "FAMILIES", "Judge", "Latency", "Measure", "latencies"]
