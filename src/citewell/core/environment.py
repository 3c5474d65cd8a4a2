"""What surrounds a result: the time, behind a port so that tests can freeze it, and the one format it is
written in; and the environment in which results are bit-identical: release, runtime versions, processor
class.

In: this process, a :class:`citewell.core.ports.Clock`. Out: names and versions, for every record (a replay
elsewhere says so); ISO-8601 in UTC with microseconds and a ``Z``, which sorts as text.
"""

from __future__ import annotations

import importlib
import os
import platform
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.core.ports import Clock


def environment() -> dict[str, str]:
    """``citewell`` is this release; ``processor`` names the instruction set that selects the kernels."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    for package in ("citewell", "onnxruntime", "numpy", "tokenizers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found | {"processor": _processor_class()}


@lru_cache(maxsize=1)
def _processor_class() -> str:
    """The instruction set, of those that change how int8 and float kernels round."""
    umath = importlib.import_module("numpy._core._multiarray_umath")
    features: dict[str, bool] = getattr(umath, "__cpu_features__", {})
    wanted = ("AVX512_SPR", "AVX512_ICL", "AVX512_SKX", "AVX512F", "AVX2", "ASIMDDP", "ASIMD")
    return next((name for name in wanted if features.get(name)), "baseline")


_KEPT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LANG", "LC_ALL", "LC_CTYPE",
    "TZ", "TMPDIR", "SYSTEMROOT",
)  # fmt: skip


def bare() -> dict[str, str]:
    """The environment of a process that opens untrusted files: the search paths of programs and libraries,
    one thread, and none of the keys that this process was started with."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


class SystemClock:
    """The machine's clock; it may jump, so nothing is ever ordered by it alone."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def stamp(clock: Clock) -> str:
    """The current time in the format of every record: ``2026-11-21T03:41:09.000000Z``."""
    return format_time(clock.now())


def format_time(moment: datetime) -> str:
    """``moment`` in that format; a naive datetime is taken as UTC."""
    zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
