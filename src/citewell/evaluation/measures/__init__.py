"""Every measure, in the order in which they are reported; a name a line in docs/evaluation.md."""

from citewell.evaluation.measures import abstention, answers, calibration, citations, effort, retrieval
from citewell.evaluation.measures.effort import Latency, latencies
from citewell.evaluation.measures.measure import Judge, Measure

ALL: tuple[Measure, ...] = tuple(
    measure
    for family in (citations, answers, retrieval, abstention, calibration, effort)
    for measure in family.MEASURES
)
BY_NAME = {measure.name: measure for measure in ALL}

__all__ = ["ALL", "BY_NAME", "Judge", "Latency", "Measure", "latencies"]
