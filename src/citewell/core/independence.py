"""The writer never judges its own work: the checks that run before anything is written.

In: a configuration, or two makers. Out: nothing, or SameModelError. The model names that servers report are
compared in :mod:`citewell.core.metering`. Knows nothing about how models are built.
"""

from __future__ import annotations

from citewell.core.config import Config
from citewell.core.errors import SameModelError
from citewell.core.records import Maker


def refuse_same_maker(writer: Maker, verifier: Maker) -> None:
    """Raises SameModelError if one model would both write and verify."""
    if writer.name == verifier.name or (writer.hash and writer.hash == verifier.hash):
        raise SameModelError(
            f"the same model, {writer.name}, would both write and verify",
            hint="choose another generator or entailer",
        )


def refuse_same_model(config: Config) -> None:
    """Checks the configuration alone, before any model is loaded or called. Raises SameModelError."""
    parts = {part.strip() for side in config.entailer.split(" + ") for part in side.split(" > ")}
    judging = {
        "entailer": parts,
        "judges.gate": {config.judges.gate},
        "judges.answer": {config.judges.answer},
    }
    for key, names in judging.items():
        if config.generator in names:
            raise SameModelError(
                f"generator and {key} are both {config.generator}, but a writer must not judge its own work",
                hint=f"choose another generator or {key}",
            )
