"""``citewell init`` and ``models``: create a home, list the models. ``citewell doctor``: tests every part of
the installation and home, then optional ones: API keys, model servers on this machine, extra packages. What
is present is tested; for the rest it says what to do.

A key or server is tested by asking for its list of models, which costs nothing. Keys are never printed.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.cli.commands import CommandResult, Home, app, command
from citewell.cli.printing import ERROR, OK, aside, format_columns, say
from citewell.core.errors import CitewellError, UsageError
from citewell.core.files import make_file, make_folder

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.core.ports import Entailer
    from citewell.core.records import Maker
    from citewell.knowledge.assembly import Assembly

TEMPLATE = """\
# Citewell: every key is optional; docs/configuration.md lists them all.
# generator = "extractive"

# [retrieval]
# pool = 50
# top_k = 5
"""


@command(app)
def init(home: Home, force: bool = False) -> None:
    """Create an empty home with its citewell.toml. (`citewell ingest` creates one too.)

    --force: Overwrite citewell.toml if it exists.
    """
    from citewell.knowledge.assembly import CONFIG_FILE

    path = home.path / CONFIG_FILE
    if path.exists() and not force:
        raise UsageError(f"{path} already exists", hint="overwrite it with --force")
    try:
        make_folder(home.path)
        make_file(path)
        path.write_text(TEMPLATE, encoding="utf-8")
    except OSError as error:
        raise CitewellError(
            f"{home.path} cannot be created ({error.strerror})", hint="choose another folder with --home"
        ) from error
    say(f"Created {path}. Next, run `citewell --home {home.path} ingest PATH`.")


@command(app)
def models(home: Home) -> CommandResult:
    """List each model with the hashes of its files and its card. Exits with 1 if one cannot be opened."""
    assembly = home.parts()
    listed = {name: _described(maker) for name, maker in _makers(assembly).items()}
    listed = {name: said for name, said in listed.items() if said}
    assembly.close()
    rows = [row for name, said in listed.items() for row in _rows(name, said)]
    failed = any("error" in said for said in listed.values())
    return CommandResult(listed, lambda: format_columns(rows), ERROR if failed else OK)


def _makers(assembly: Assembly) -> dict[str, Callable[[], Maker | None]]:
    """Row name -> function returning its maker, or None if nothing is configured for it."""
    from citewell.knowledge.assembly import MODELS

    def made(name: str) -> Maker | None:
        part = getattr(assembly, name)
        return part.maker if part is not None else None

    def members(entailer: Any) -> list[Entailer]:
        found = getattr(entailer, "members", None)
        return [one for member in found for one in members(member)] if found else [entailer]

    panel: list[Entailer] = []
    with suppress(Exception):  # reported for the entailer itself
        panel = members(assembly.entailer)
    return {
        **{name: partial(made, name) for name in (*MODELS, "questioner", "gate_judge", "answer_judge")},
        **{
            f"entailer {number}": partial(getattr, member, "maker")
            for number, member in enumerate(panel if len(panel) > 1 else (), 1)
        },
        "support": lambda: assembly.support_maker,
        "card": lambda: _calibration(assembly),
    }


def _calibration(assembly: Assembly) -> Maker | None:
    from citewell.core.records import Maker

    card = assembly.card_state()
    if card.note:
        aside(f"warning: {card.note}")
    return Maker(name=card.path, hash=card.card) if card.card else None


def _described(make: Callable[[], Maker | None]) -> dict[str, Any]:
    """The maker's fields, with the files and model card of a packaged model; or the error."""
    from citewell.core.identity import plain
    from citewell.core.weights import packaged_model

    try:
        maker = make()
    except Exception as error:  # noqa: BLE001 - one failure must not hide the others
        return {"error": f"{type(error).__name__}: {error}"}
    if maker is None:
        return {}
    said: dict[str, Any] = plain(maker)
    if found := packaged_model(maker.hash):
        card, files = found
        said |= {"files": files, "model_card": str(card)}
    return said


def _rows(name: str, said: dict[str, Any]) -> list[tuple[str, ...]]:
    if "error" in said:
        return [(name, "FAILS", said["error"], "")]
    beside = {file: found for file, found in said.get("files", {}).items() if found != said["hash"]}
    return [
        (name, said["name"], said["hash"], said.get("model_card", "")),
        *(("", file, found, "") for file, found in beside.items()),
    ]


# --- doctor ------------------------------------------------------------------------------------------

WAIT_S = 5.0
SHOWN = 3
"""Maximum names shown of a server's models."""


class Service(NamedTuple):
    """A source of models: ``package`` is its SDK, ``key`` the variable of its key ("" if none is needed),
    ``address`` the URL below which ``/models`` lists its models, ``use`` the option to write with one."""

    name: str
    package: str
    key: str
    address: str
    use: str


def _services() -> tuple[Service, ...]:
    from citewell.models.openai import ollama_address

    openai = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
    anthropic = os.environ.get("ANTHROPIC_BASE_URL", "https://api.anthropic.com").rstrip("/")
    local = "http://127.0.0.1:8080/v1"
    use = f"--model openai/{{}} with OPENAI_BASE_URL={local} OPENAI_API_KEY=any"
    return (
        Service("openai", "openai", "OPENAI_API_KEY", openai, "--model openai/{}"),
        Service("anthropic", "anthropic", "ANTHROPIC_API_KEY", f"{anthropic}/v1", "--model anthropic/{}"),
        Service("ollama", "openai", "", ollama_address(), "--model ollama/{}"),
        Service("llama.cpp", "openai", "", local, use),
    )


PACKAGES = {
    "judge": ("citewell_judge", "a larger model that checks claims"),
    "local": ("llguidance", "writing with a local model, run by transformers"),
    "huggingface": ("transformers", "any cross-encoder or NLI model"),
    "ocr": ("rapidocr", "scanned pages and pictures, read by OCR"),
    "postgres": ("psycopg", "the log, traces and signals in PostgreSQL"),
    "otel": ("opentelemetry.sdk", "OpenTelemetry spans"),
}
"""Extra -> (module it installs, what that adds)."""


@command(app)
def doctor(home: Home) -> CommandResult:
    """Test every part of this installation and home, and look for models to write with. Exits with 1 if a
    part fails, and says how to fix it. API keys that are set are tested with their provider."""
    from citewell.core.environment import environment
    from citewell.knowledge.assembly import MODELS

    assembly = home.parts()
    checks: dict[str, Callable[[], str]] = {
        "runtime": lambda: ", ".join(f"{name} {value}" for name, value in environment().items()),
        "configuration": lambda: assembly.config.hash,
        "home": lambda: _home(assembly.home),
        **{name: partial(_maker, assembly, name) for name in MODELS},
    }
    if assembly.home.is_dir():
        checks["log"] = lambda: f"{assembly.log.size()} entries"
        checks["evidence"] = lambda: f"{len(assembly.evidence.catalogue())} documents"
        checks["index"] = lambda: assembly.index.version()
        checks["card"] = lambda: _card(assembly)
    results = [(name, *_tried(check)) for name, check in checks.items()]
    assembly.close()
    failed = not all(works for _, works, _ in results)
    options = [(service.name, *_service(service)) for service in _services()]
    options += [(f"citewell[{extra}]", *_package(extra, *found)) for extra, found in PACKAGES.items()]
    parts, optional = (
        [{"part": name, "ok": works, "says": says} for name, works, says in rows]
        for rows in (results, options)
    )

    def tell() -> None:
        format_columns([("ok" if works else "FAILS", name, says) for name, works, says in results])
        say("\nOptional:")
        format_columns([("ok" if works else "-", name, says) for name, works, says in options])

    return CommandResult(
        {"ok": not failed, "parts": parts, "optional": optional}, tell, ERROR if failed else OK
    )


def _service(service: Service) -> tuple[bool, str]:
    """(whether it can be used now, its models or what to do)."""
    if service.key and not os.environ.get(service.key):
        return False, f"no key: set {service.key} to use its models as writers"
    missing = importlib.util.find_spec(service.package) is None
    names = _listed(service)
    if isinstance(names, str):
        return False, names
    if missing:
        return False, f"answers, but its SDK is missing: pip install 'citewell[{service.package}]'"
    if not names:
        hint = "ollama pull llama3.2" if service.name == "ollama" else "load one"
        return False, f"answers, but has no model: {hint}"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return True, f"{', '.join(names[:SHOWN])}{more}: citewell ask {service.use.format(names[0])}"


def _listed(service: Service) -> list[str] | str:
    """The names of its models, or the problem."""
    import httpx2

    key = os.environ.get(service.key, "") if service.key else ""
    headers = {"Authorization": f"Bearer {key}"} if service.name == "openai" else {}
    if service.name == "anthropic":
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    try:
        found = httpx2.get(f"{service.address}/models", headers=headers, timeout=WAIT_S)
        if found.status_code in (401, 403):
            return f"{service.key or 'the server'} is not accepted (HTTP {found.status_code}): check the key"
        found.raise_for_status()
        return sorted(str(model["id"]) for model in found.json().get("data") or ())
    except (httpx2.HTTPStatusError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"does not list its models ({type(error).__name__}): check its address"
    except Exception as error:  # noqa: BLE001 - as for every part
        do = "check the network" if service.key else "start it to write with your own model"
        return f"not reached ({type(error).__name__}): {do}"


def _package(extra: str, module: str, gives: str) -> tuple[bool, str]:
    try:
        there = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package
        there = False
    return there, gives if there else f"{gives}: pip install 'citewell[{extra}]'"


def _home(home: Path) -> str:
    return f"{home}" if home.is_dir() else f"{home} does not exist yet; `citewell ingest` creates it"


def _card(assembly: Assembly) -> str:
    card = assembly.card_state()
    if card.note:
        raise CitewellError(card.note, hint="create a new one with `citewell calibrate`")
    return f"{card.path} {card.card[:23]}, fresh" if card.card else "none"


def _maker(assembly: Assembly, name: str) -> str:
    maker: Any = getattr(assembly, name).maker
    return f"{maker.name} {maker.hash[:23]}"


def _tried(check: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, check()
    except Exception as error:  # noqa: BLE001 - the doctor reports every kind of failure and continues
        return False, f"{type(error).__name__}: {error}"
