"""The writer never marks its own work.

In: a configuration, or two makers. Out: nothing, or SameModelError before anything is written. Knows nothing
about how models are made.
"""

from __future__ import annotations

from citewell.config import Config
from citewell.errors import SameModelError
from citewell.records import Maker


def refuse_same_maker(writer: Maker, verifier: Maker) -> None:
    """Raises SameModelError when one model would write and verify."""
    if writer.name == verifier.name or (writer.hash and writer.hash == verifier.hash):
        raise SameModelError(
            f"{writer.name} would verify what {verifier.name} wrote, and they are one model",
            hint="choose another generator or entailer",
        )


def refuse_same_model(config: Config) -> None:
    """By the lines of the configuration, before anything is made or called."""
    parts = {part.strip() for side in config.entailer.split(" + ") for part in side.split(" > ")}
    judging = {
        "entailer": parts,
        "judges.gate": {config.judges.gate},
        "judges.answer": {config.judges.answer},
    }
    for key, names in judging.items():
        if config.generator in names:
            raise SameModelError(
                f"generator and {key} are both {config.generator}: the writer never marks its own work",
                hint=f"choose another generator or {key}",
            )
