"""Sixty hostile inputs per target; `python -m benchmarks.fuzzing` runs for an hour."""

from __future__ import annotations

import random

import pytest
from benchmarks.fuzzing import TARGETS, Target, fuzz, tried


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_unforeseen_comes_of_hostile_bytes(target: Target) -> None:
    done, faults = fuzz(target, random.Random(7), times=60)
    assert done >= 60
    assert faults == {}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_examples_themselves_are_sound(target: Target) -> None:
    assert [tried(target, seed) for seed in target.seeds()] == [""] * len(target.seeds())
