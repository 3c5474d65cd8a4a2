"""An SBOM made from what is installed lists all of it, at the versions that are locked."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
OWN = {"citewell", "citewell-judge"}


@pytest.fixture(scope="module")
def sbom() -> dict[str, Any]:
    """The SBOM of the environment that runs the tests, made as `make sbom` makes that of the default
    install; the schema, which takes seconds, is checked there."""
    made = subprocess.run(
        [
            *(sys.executable, "-m", "cyclonedx_py", "environment", sys.executable),
            *("--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible", "--no-validate"),
        ],
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(made.stdout)
    return found


def names(sbom: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Name and version of each component, by reference."""
    return {
        one["bom-ref"]: (canonicalize_name(one["name"]), one.get("version", "")) for one in sbom["components"]
    }


def locked() -> dict[str, str]:
    """The default install on this platform."""
    lines = (ROOT / "requirements/runtime.txt").read_text().replace("\\\n", " ").splitlines()
    wanted = [Requirement(line.split(" --hash=")[0]) for line in lines if line and not line.startswith("#")]
    return {
        canonicalize_name(one.name): next(iter(one.specifier)).version
        for one in wanted
        if not one.marker or one.marker.evaluate()
    }


def test_it_is_cyclonedx_and_lists_what_is_installed(sbom: dict[str, Any]) -> None:
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")
    installed = {(canonicalize_name(one.metadata["Name"]), one.version) for one in distributions()}
    assert {one for one in names(sbom).values() if one[0] not in OWN} == {
        one for one in installed if one[0] not in OWN
    }
    assert all(one["purl"] for one in sbom["components"] if canonicalize_name(one["name"]) not in OWN)


def test_what_is_installed_is_what_is_locked() -> None:
    assert {name: version(name) for name in locked()} == locked()


def test_it_says_who_needs_whom_down_to_the_last(sbom: dict[str, Any]) -> None:
    needs = {one["ref"]: one.get("dependsOn", []) for one in sbom["dependencies"]}
    reached, waiting = set[str](), [sbom["metadata"]["component"]["bom-ref"]]
    while waiting:
        if (one := waiting.pop()) not in reached:
            reached.add(one)
            waiting += needs[one]
    found = {names(sbom)[one][0] for one in reached if one in names(sbom)}
    assert locked().keys() <= found
