"""Spot checks: claims drawn for people to judge, what they said, how far it agrees with the verifier."""

from citewell.evaluation.sampling.agreement import Agreement, agreement
from citewell.evaluation.sampling.drawing import (
    ANSWERS,
    Item,
    Sample,
    SampleInfo,
    Shown,
    draw,
    open_sample,
    record_label,
    samples,
)

__all__ = [
    "ANSWERS",
    "Agreement",
    "Item",
    "Sample",
    "SampleInfo",
    "Shown",
    "agreement",
    "draw",
    "open_sample",
    "record_label",
    "samples",
]
