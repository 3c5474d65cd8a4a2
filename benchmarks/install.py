"""What an installation takes, and what ``citewell.verify`` needs of it: ``python -m benchmarks.install``

In: this checkout, requirements/runtime.txt, and PyPI or pip's cache. Builds the wheels and installs them into
fresh virtual environments in a temporary folder. Out: packages, size and seconds of each installation.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.reporting import table, write

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "runtime.txt"
NEEDED = ("msgspec", "numpy", "onnxruntime", "py3langid", "regex", "rfc8785", "syntok", "tokenizers")
"""All that ``citewell.verify`` imports of other projects: the list in docs/verify.md."""

AIM_MB, AIM_PACKAGES = 150, 15
RUNS = 5
_ONE_CHECK = """
import json, time
begun = time.perf_counter()
import citewell
imported = time.perf_counter()
found = citewell.verify(
    answer="The office opened in 2014 [1]. It closed in 2019 [1].",
    sources=["The Lisbon office opened in 2014 and closed in 2020."],
)
done = time.perf_counter()
statuses = [claim.verdict.status for claim in found.claims]
print(json.dumps({"import_s": imported - begun, "verify_s": done - imported, "statuses": statuses}))
"""


class Installed(NamedTuple):
    """``packages`` in MB each, Citewell's own included, without ``bytecode``, which is in MB each as well.
    Seconds are the least of several new processes."""

    name: str
    packages: dict[str, float]
    bytecode: dict[str, float]
    import_s: float
    verify_s: float
    statuses: list[str]

    @property
    def mb(self) -> float:
        return sum(self.packages.values()) + sum(self.bytecode.values())


def pins(text: str) -> dict[str, str]:
    """Each entry of a lock file with its hashes and marker, by name."""
    whole = text.replace("\\\n", " ").splitlines()
    return {line.split("==")[0]: line for line in whole if line and not line.startswith("#")}


def main() -> None:
    locked = pins(LOCK.read_text())
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        short, versions = folder / "short.txt", folder / "versions.txt"
        short.write_text("\n".join(locked[name] for name in NEEDED))
        versions.write_text("\n".join(re.sub(r" *--hash=\S+", "", line) for line in locked.values()))
        own, judge = (_wheel(project, folder) for project in (ROOT, ROOT / "judge"))
        alone = ("--no-deps", "-r", str(short))
        kinds = {
            "default: `requirements/runtime.txt`": (("--no-deps", "-r", str(LOCK)), own),
            "the list, and what it requires": (("--constraint", str(versions), *NEEDED), own),
            "the list alone": (alone, own),
            "the list alone, and `citewell-judge`": (alone, own, judge),
        }
        environments = {
            name: _environment(folder / str(number), *given)
            for number, (name, given) in enumerate(kinds.items())
        }
        runs = [{name: _run(one) for name, one in environments.items()} for _ in range(RUNS)]
        found = [_measured(name, one, [run[name] for run in runs]) for name, one in environments.items()]
        weights = {one.parent.name: one.stat().st_size / 1e6 for one in folder.rglob("weights/*/model.onnx")}
    _write(found, weights)


def _wheel(project: Path, folder: Path) -> str:
    """By the build back end that is installed here."""
    into = folder / f"wheel-{project.name}"
    words = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(into), str(project))
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return str(next(into.glob("*.whl")))


def _environment(folder: Path, requirements: Sequence[str], *wheels: str) -> Path:
    """Without pip and setuptools, which nobody's application needs."""
    venv.create(folder, with_pip=False, symlinks=True)
    for words in (requirements, ("--no-deps", *wheels)):
        given = ("--python", str(folder), "install", "--quiet", *words)
        subprocess.run([sys.executable, "-m", "pip", *given], check=True)
    return folder


def _run(environment: Path) -> dict[str, Any]:
    words = [environment / "bin" / "python", "-I", "-c", _ONE_CHECK]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env={"PATH": os.defpath})
    return dict(json.loads(done.stdout))


def _measured(name: str, environment: Path, runs: Sequence[Mapping[str, Any]]) -> Installed:
    (site,) = environment.glob("lib/python*/site-packages")
    packages, bytecode = {}, {}
    for one in distributions(path=[str(site)]):
        files = [Path(str(each.locate())) for each in one.files or ()]
        sizes = {path: path.stat().st_size / 1e6 for path in files if path.is_file()}
        called = one.name.lower().replace("_", "-")
        bytecode[called] = sum(size for path, size in sizes.items() if path.suffix == ".pyc")
        packages[called] = sum(sizes.values()) - bytecode[called]
    return Installed(
        name=name,
        packages=packages,
        bytecode=bytecode,
        import_s=min(run["import_s"] for run in runs),
        verify_s=min(run["verify_s"] for run in runs),
        statuses=runs[0]["statuses"],
    )


def _write(found: Sequence[Installed], weights: Mapping[str, float]) -> None:
    everything, split, alone, _ = found
    heads = ("installed", "packages", "MB", "MB without bytecode", "import, s", "first check, s", "verdicts")
    rows = [
        [
            one.name,
            f"{len(one.packages)}{_beyond(len(one.packages), AIM_PACKAGES)}",
            *(f"{mb:.0f}{_beyond(mb, AIM_MB)}" for mb in (one.mb, sum(one.packages.values()))),
            f"{one.import_s:.2f}",
            f"{one.verify_s:.2f}",
            ", ".join(one.statuses),
        ]
        for one in found
    ]
    needed = [[*row, "yes" if row[0] in alone.packages else "no"] for row in _by_size(split, split.packages)]
    left = set(everything.packages) - set(split.packages)
    runtime = alone.packages["onnxruntime"] + alone.packages["numpy"]
    models = weights["entailer"] + weights["embedder"]
    body = f"""
The wheel of this checkout in fresh virtual environments without pip, with the versions of
`requirements/runtime.txt`. MB are millions of bytes of installed files, with and without the bytecode that
pip compiles; Citewell counts as a package. Seconds are the least of {RUNS} new processes, because the machine
is shared, with their files in the page cache: `import citewell`, then one `citewell.verify`, which loads the
models.

{table(heads, rows)}

For an installation that only verifies, at most {AIM_PACKAGES} packages and {AIM_MB} MB were aimed at; an
asterisk marks what is above. Without bytecode, ONNX Runtime, NumPy and the weights that a check loads
(entailer and embedder) take {runtime:.0f} + {models:.0f} = {runtime + models:.0f} MB. The
{weights["reading"]:.0f} MB of the reader's weights are in the package as well.

## The list, and what it requires

{table(("package", "MB", "bytecode, MB", "in the list"), needed)}

## What only the default installation has

{table(("package", "MB", "bytecode, MB"), _by_size(everything, left))}
"""
    told = [{**one._asdict(), "mb": one.mb} for one in found]
    write("install", "Size of an installation", body, {"installations": told, "weights_mb": dict(weights)})


def _beyond(value: float, most: float) -> str:
    return "*" if value > most else ""


def _by_size(one: Installed, names: Iterable[str]) -> list[list[str]]:
    """Packages of at least half a MB, largest first, then the rest in one row."""
    ordered = sorted(names, key=lambda name: -one.packages[name])
    shown = [name for name in ordered if one.packages[name] >= 0.5 or name in NEEDED]
    rest = set(ordered) - set(shown)
    rows = [[name, f"{one.packages[name]:.1f}", f"{one.bytecode[name]:.1f}"] for name in shown]
    sums = [f"{sum(part[name] for name in rest):.1f}" for part in (one.packages, one.bytecode)]
    return [*rows, [f"{len(rest)} smaller", *sums]]


if __name__ == "__main__":
    main()
