"""The files that build, start and release Citewell name only what exists; needs no engine and no runner."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import typer.main
import yaml
from hatchling.builders.sdist import SdistBuilder

from citewell.cli import app
from citewell.core.config import RESERVED, Config, load
from citewell.models.openai import ollama_address
from citewell.server.guards import is_loopback
from citewell.server.routes import operations
from citewell.server.serving import GRACE_S, LAST_S

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def parsed(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


COMPOSE: dict[str, Any] = parsed("compose.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = re.sub(r"(?m)^#.*\n", "", (ROOT / "Dockerfile").read_text()).replace("\\\n", " ")
INSTRUCTIONS = [tuple(line.split(None, 1)) for line in DOCKERFILE.splitlines() if line.strip()]
FINAL = INSTRUCTIONS[max(n for n, (name, _) in enumerate(INSTRUCTIONS) if name == "FROM") :]
WORKFLOWS: dict[str, dict[str, Any]] = {
    path.name: yaml.safe_load(path.read_text()) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}
HOOKS: list[dict[str, Any]] = parsed(".pre-commit-hooks.yaml")
STEPS = [
    step
    for workflow in WORKFLOWS.values()
    for job in workflow["jobs"].values()
    for step in job.get("steps", [])
]
USED = [step["uses"] for step in STEPS if "uses" in step]


def last(name: str) -> str:
    return [value for instruction, value in FINAL if instruction == name][-1]


ENVIRONMENT = dict(word.split("=", 1) for word in shlex.split(last("ENV")))


def configured(extra: dict[str, str]) -> Config:
    """The configuration of the container; raises ConfigError for a variable that is no key."""
    return load(None, {**ENVIRONMENT, **extra})


def command(words: list[str]) -> Any:
    """The command that ``citewell WORDS`` runs."""
    found: Any = typer.main.get_command(app)
    for word in words:
        if word.startswith("-") or word not in getattr(found, "commands", {}):
            break
        found = found.commands[word]
    return found


def examples() -> list[dict[str, str]]:
    """The `.env` files that the page shows."""
    page = (ROOT / "docs/containers.md").read_text()
    return [
        dict(line.split("=", 1) for line in block.splitlines())
        for block in re.findall(r"^```ini\n(.*?)^```", page, flags=re.M | re.S)
    ]


def test_the_image_is_built_from_files_that_the_build_may_read() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[0] == "*"
    allowed = {line[1:] for line in ignored if line.startswith("!")}
    copied = {
        source
        for name, value in INSTRUCTIONS
        if name == "COPY" and "--from" not in value
        for source in value.split()[:-1]
    }
    assert copied
    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert {source.split("/")[0] for source in copied} == allowed
    locked = re.findall(r"-r (\S+)", DOCKERFILE)
    assert locked
    assert set(locked) <= copied
    assert DOCKERFILE.count("--require-hashes") == len(locked)
    wanted = [PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml"]
    assert set(wanted) <= copied  # hatchling reads them


def test_the_container_serves_the_volume_as_an_unprivileged_user_on_the_port_it_declares() -> None:
    settings = configured({}).server
    assert not is_loopback(settings.host)
    assert last("EXPOSE") == str(settings.port)
    assert last("VOLUME") == ENVIRONMENT["CITEWELL_HOME"] == last("WORKDIR")
    assert last("USER").split(":")[0] not in {"0", "root"}
    (program,) = json.loads(last("ENTRYPOINT"))
    assert program in PROJECT["scripts"]
    assert command(json.loads(last("CMD"))).name == "serve"
    released = {word for line in PROJECT["classifiers"] for word in re.findall(r":: (3\.\d+)$", line)}
    assert all(
        re.search(r"^python:(3\.\d+)-slim", value)[1] in released  # type: ignore[index]
        for name, value in INSTRUCTIONS
        if name == "FROM"
    )


def test_the_health_check_asks_a_path_that_the_server_has() -> None:
    check = json.loads(last("HEALTHCHECK").split("CMD", 1)[1])[-1]
    compile(check, "health check", "exec")
    path = re.search(r"http://127\.0\.0\.1:\{os\.environ\[\"(\w+)\"\]\}(/\w+)'", check)
    assert path
    assert path[1] in ENVIRONMENT
    assert path[2] in {getattr(route, "path", "") for route in operations.router.routes}


def test_compose_sets_variables_that_exist_and_mounts_the_home() -> None:
    service = SERVICES["citewell"]
    names = {name for name in service["environment"] if name.startswith("CITEWELL_")} - RESERVED
    # Names are refused before values are read, so that the value need not fit.
    for name in names:
        value = "2" if name.endswith("WORKERS") else "x:y"
        assert configured({name: value}) != configured({})
    assert service["volumes"] == [f"home:{ENVIRONMENT['CITEWELL_HOME']}"]
    assert service["ports"] == [f"127.0.0.1:{last('EXPOSE')}:{last('EXPOSE')}"]
    assert float(service["stop_grace_period"].removesuffix("s")) > GRACE_S + LAST_S
    mounted = {mount.split(":")[0] for one in SERVICES.values() for mount in one.get("volumes", [])}
    assert mounted == set(COMPOSE["volumes"])


def test_the_profiles_lead_to_the_services_that_citewell_then_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = SERVICES["citewell"]["environment"]
    monkeypatch.setenv("OLLAMA_HOST", passed["OLLAMA_HOST"])
    profiles = {profile: name for name, one in SERVICES.items() for profile in one.get("profiles", [])}
    seen = set()
    for example in examples():
        profile = example["COMPOSE_PROFILES"]
        seen.add(profile)
        service = profiles[profile]
        assert not SERVICES["citewell"]["depends_on"][service]["required"]
        settings = {name: value for name, value in example.items() if name.startswith("CITEWELL_")}
        assert set(settings) <= set(passed)
        config = configured(settings)
        if profile == "local-model":
            assert config.generator.startswith("ollama:")
            assert urlsplit(ollama_address()).hostname == service
        else:
            assert urlsplit(config.audit.database).hostname == service
            assert (
                urlsplit(config.audit.database).username == SERVICES[service]["environment"]["POSTGRES_USER"]
            )
            assert (
                urlsplit(config.audit.database).path == f"/{SERVICES[service]['environment']['POSTGRES_DB']}"
            )
            assert "${POSTGRES_PASSWORD:-}" in passed["PGPASSWORD"]
            assert "POSTGRES_PASSWORD" in example
    assert seen == set(profiles)


def test_the_page_about_containers_runs_commands_that_exist() -> None:
    page = (ROOT / "docs/containers.md").read_text().replace("\\\n", " ")
    run = re.findall(r"^\$ docker .* citewell(?::local)? ((?!ollama)\w.*)$", page, flags=re.M)
    assert len(run) > 3
    for line in run:
        found = command(shlex.split(line))
        assert not hasattr(found, "commands"), line
        options = {option for parameter in found.params for option in parameter.opts}
        assert set(re.findall(r"--\w+", line)) <= options, line


def test_workflows_call_targets_and_scripts_that_exist_and_pin_what_they_use() -> None:
    makefile = (ROOT / "Makefile").read_text()
    scripts = "\n".join(step["run"] for step in STEPS if "run" in step)
    targets = re.findall(r"\bmake ([a-z]+)", scripts)
    assert {"test", "sbom"} <= set(targets)
    assert [one for one in targets if not re.search(rf"^{one}:", makefile, flags=re.M)] == []
    assert (ROOT / ".ci/run").stat().st_mode & 0o111
    assert ".ci/run" in scripts
    assert [one for one in re.findall(r"-r (\S+)", scripts) if not (ROOT / one).is_file()] == []
    assert [one for one in USED if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", one)] == []
    # What comes from outside reaches a script as a variable, never as its text.
    assert "${{" not in scripts


def test_a_release_attests_and_publishes_what_it_builds() -> None:
    jobs = WORKFLOWS["release.yml"]["jobs"]
    assert jobs["check"]["uses"] == "./.github/workflows/ci.yml"
    assert [jobs[name]["needs"] for name in ("build", "publish", "release")] == ["check", "build", "publish"]
    steps = {step["uses"].split("@")[0]: step for step in jobs["build"]["steps"] if "uses" in step}
    (sbom,) = re.findall(r"--output-file (\S+)", (ROOT / "Makefile").read_text())
    assert steps["actions/attest"]["with"]["sbom-path"] == sbom
    names = [PROJECT["name"], "citewell-judge"]
    built = [f"dist/{name.replace('-', '_')}-0.1.0.tar.gz" for name in names]
    # The SBOM is that of the first only.
    assert [fnmatch(one, steps["actions/attest"]["with"]["subject-path"]) for one in built] == [True, False]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert not re.search(r"secrets\.|password", (ROOT / ".github/workflows/release.yml").read_text())


@pytest.mark.parametrize("project", [".", "judge"])
def test_a_source_distribution_holds_its_own_files_and_fits_the_limit_of_pypi(project: str) -> None:
    files = list(SdistBuilder(str(ROOT / project)).recurse_included_files())
    names = {file.distribution_path.split("/")[0] for file in files}
    assert {"src", "README.md", "LICENSE"} <= names
    assert "judge" not in names
    assert sum(Path(file.path).stat().st_size for file in files) < 120 << 20  # compressed, under 100 MiB


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_a_command_with_options_that_it_has(hook: dict[str, Any]) -> None:
    program, *words = shlex.split(hook["entry"])
    assert program in PROJECT["scripts"]
    found = command(words)
    assert not hasattr(found, "commands")
    given = [word for word in (*words, *hook["args"]) if word.startswith("--")]
    assert set(given) <= {option for parameter in found.params for option in parameter.opts}
    # `verify` takes further files for sources, the others one file.
    assert hook["pass_filenames"] is False
    assert all((ROOT / one / "pyproject.toml").is_file() for one in hook["additional_dependencies"])
    assert f"id: {hook['id']}" in (ROOT / "docs/evaluation.md").read_text()
    made = found.make_context(hook["id"], [*words[words.index(found.name) + 1 :], *hook["args"]])
    assert made.command is found


def test_this_repositorys_hooks_run_what_make_lint_runs() -> None:
    lint = (ROOT / "Makefile").read_text().split("\nlint:")[1].split("\n\n")[0].replace("$(BIN)", ".venv/bin")
    hooks = [hook for repo in parsed(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert hooks
    for hook in hooks:
        assert f"{hook['entry'].removesuffix(' --force-exclude')} ." in lint
