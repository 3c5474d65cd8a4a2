"""Every dependency has bounds, and is in the lock files, within its bounds, with hashes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = PROJECT["dependency-groups"]
RUNTIME = PROJECT["project"]["dependencies"]
EXTRAS = [one for extra in PROJECT["project"]["optional-dependencies"].values() for one in extra]

ADAPTERS = ("langchain", "llamaindex", "haystack", "pydantic-ai", "dspy", "litellm", "langfuse", "phoenix")


def extras(*names: str) -> list[str]:
    return [one for name in names for one in PROJECT["project"]["optional-dependencies"][name]]


BUILD = PROJECT["build-system"]["requires"]


def group(name: str) -> list[str]:
    return [
        found
        for one in GROUPS[name]
        for found in ([one] if isinstance(one, str) else group(one["include-group"]))
    ]


def entries(text: str) -> list[tuple[str, str, int]]:
    """Name, version and number of hashes of each entry."""
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        if line and not line.startswith("#"):
            pinned, *hashes = line.split(" --hash=")
            requirement = Requirement(pinned.strip())
            (pin,) = requirement.specifier
            assert pin.operator == "==", line
            whole = [one for one in hashes if re.fullmatch(r"sha256:[0-9a-f]{64}", one.strip())]
            found.append((canonicalize_name(requirement.name), pin.version, len(whole)))
    return found


def faults(text: str, required: list[str], optional: list[str]) -> list[str]:
    """The faults of a lock file; an optional requirement may be missing, but not out of bounds."""
    locked = entries(text)
    names = {name for name, _, _ in locked}
    wanted = [Requirement(one) for one in required]
    return [
        *(f"{name} has no hash" for name, _, hashes in locked if not hashes),
        *(f"{one.name} is not locked" for one in wanted if canonicalize_name(one.name) not in names),
        *(
            f"{one.name} {version} is out of bounds"
            for one in [*wanted, *map(Requirement, optional)]
            for name, version, _ in locked
            if name == canonicalize_name(one.name) and version not in one.specifier
        ),
    ]


def lock(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    "one",
    sorted(
        {
            *RUNTIME,
            *EXTRAS,
            *BUILD,
            *group("dev"),
            *group("train"),
            *group("vendors"),
            *group("loaders"),
            *group("apart"),
        }
    ),
)
def test_a_dependency_has_a_lower_and_an_upper_bound(one: str) -> None:
    operators = {bound.operator for bound in Requirement(one).specifier}
    assert operators in ({">=", "<"}, {"=="})


@pytest.mark.parametrize(
    ("name", "required"),
    [
        ("build", [*BUILD, *group("build")]),
        ("runtime", RUNTIME),
        ("dev", [*RUNTIME, *group("dev")]),
        ("server", [*RUNTIME, *extras("openai", "anthropic", "postgres", "otel")]),
        (
            "extras",
            [*RUNTIME, *extras("huggingface", "local", *ADAPTERS), *group("vendors"), *group("loaders")],
        ),
        ("apart/all", [*RUNTIME, *extras("deepeval", "ragas"), *group("apart")]),
    ],
)
def test_the_lock_files_hold_what_is_declared(name: str, required: list[str]) -> None:
    beside = [] if name.startswith("apart/") else [*EXTRAS, *group("train")]
    alone = extras("deepeval", "ragas")
    assert faults(lock(name), required, [one for one in beside if one not in alone]) == []


def test_the_lock_files_agree_and_hold_no_torch() -> None:
    dev = {(name, version) for name, version, _ in entries(lock("dev"))}
    smaller = {
        (name, version) for file in ("build", "runtime", "server") for name, version, _ in entries(lock(file))
    }
    assert smaller <= dev
    assert "torch" not in {name for name, _ in dev}


HASH = f"--hash=sha256:{'0' * 64}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Some_Name[more]==1.4 ; sys_platform == 'win32' \\\n    {HASH} \\\n    {HASH}\n", []),
        (f"# by hand\nother==1.4 {HASH}\n", ["some.name is not locked"]),
        ("some-name==1.4\n", ["some-name has no hash"]),
        ("some-name==1.4 --hash=sha256:00\n", ["some-name has no hash"]),
        (f"some-name==2.0 {HASH}\n", ["some.name 2.0 is out of bounds"]),
        (f"some-name==1.1 {HASH}\n", ["some.name 1.1 is out of bounds"]),
        (f"some-name==1.4 {HASH}\nmay==4 {HASH}\n", ["may 4 is out of bounds"]),
    ],
)
def test_a_lock_file_that_does_not_fit_is_found(text: str, found: list[str]) -> None:
    assert faults(text, ["some.name>=1.2,<2"], ["may<4"]) == found
