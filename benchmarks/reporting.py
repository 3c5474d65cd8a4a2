"""What every measurement reports in the same way: means with n and bootstrap intervals, as table and as JSON.

In: one value per question. Out: two files under ``docs/measurements``. Independent of what is measured.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parents[1] / "docs" / "measurements"
_SEED, _ROUNDS = 20260101, 2_000


def data_folder() -> Path:
    """``CITEWELL_DATA``; exits with a reason if it is unset."""
    folder = os.environ.get("CITEWELL_DATA")
    if not folder:
        sys.exit("CITEWELL_DATA is not set: this measurement needs the public data")
    return Path(folder)


def interval(values: Sequence[float]) -> dict[str, float | int | None]:
    """Mean, n, and the 2.5 and 97.5 percentiles of 2,000 seeded bootstrap means; None without values."""
    if not len(values):
        return {"value": None, "n": 0, "low": None, "high": None}
    array = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(_SEED).integers(0, len(array), (_ROUNDS, len(array)))
    means = array[drawn].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return {"value": float(array.mean()), "n": len(array), "low": float(low), "high": float(high)}


def shown(measure: Mapping[str, Any]) -> str:
    """``.64 [.52, .75]``"""
    if measure["value"] is None:
        return "not measured"
    parts = [f"{measure[key]:.2f}".replace("0.", ".", 1) for key in ("value", "low", "high")]
    return f"{parts[0]} [{parts[1]}, {parts[2]}]"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def write(name: str, title: str, body: str, values: Mapping[str, Any]) -> None:
    """Writes ``docs/measurements/NAME.md`` and ``.json``. The page names its command; the JSON the machine,
    versions and commit."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    command = "" if f"benchmarks.{name}" in body else f"Written by `python -m benchmarks.{name}`.\n\n"
    (RESULTS / f"{name}.md").write_text(f"# {title}\n\n{command}{body.strip()}\n", encoding="utf-8")
    told = {"machine": machine(), "code": code(), **values}
    text = json.dumps(told, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(body)


def code() -> str:
    """The measured commit, with a plus if src or benchmarks differ from it; "" outside a checkout."""
    root = RESULTS.parents[1]

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "benchmarks")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def machine() -> dict[str, Any]:
    """Processor kind, cores and versions: what a figure may depend on."""
    return {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "lancedb": version("lancedb"),
        "onnxruntime": version("onnxruntime"),
    }
