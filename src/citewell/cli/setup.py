"""``citewell init``, ``doctor``, ``models``: create a home, test the installation, list the models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.commands import Found, command
from citewell.cli.home import Home
from citewell.cli.printing import ERROR, OK, aside, columns, say
from citewell.core.errors import CitewellError, UsageError
from citewell.core.private import make_file, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.core.records import Maker
    from citewell.knowledge.assembly import Assembly

TEMPLATE = """\
# Citewell: every key is optional; docs/configuration.md lists them all.
# generator = "extractive"

# [retrieval]
# pool = 50
# top_k = 5
"""


def register(app: typer.Typer) -> None:
    for function in (init, doctor, models):
        command(app)(function)


def init(
    home: Home,
    force: Annotated[bool, typer.Option(help="Overwrite citewell.toml if it exists.")] = False,
) -> None:
    """Create an empty home with its citewell.toml. (`citewell ingest` creates one too.)"""
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


def doctor(home: Home) -> Found:
    """Test every part of this installation and home. Exits with 1 if one fails, and says how to fix it."""
    from citewell.knowledge.assembly import MODELS

    assembly = _assembly(home.path)
    checks: dict[str, Callable[[], str]] = {
        "runtime": _runtime,
        "configuration": lambda: assembly.config.hash,
        "home": lambda: _home(assembly.home),
        **{name: lambda name=name: _maker(assembly, name) for name in MODELS},  # type: ignore[misc]  # a default binds
    }
    if assembly.home.is_dir():
        checks["log"] = lambda: f"{assembly.log.size()} entries"
        checks["evidence"] = lambda: f"{len(assembly.evidence.catalogue())} documents"
        checks["index"] = lambda: assembly.index.version()
        checks["card"] = lambda: _card(assembly)
    results = {name: _tried(check) for name, check in checks.items()}
    assembly.close()
    failed = [name for name, (works, _) in results.items() if not works]
    found = [{"part": name, "ok": works, "says": says} for name, (works, says) in results.items()]
    rows = [("ok" if works else "FAILS", name, says) for name, (works, says) in results.items()]
    return Found({"ok": not failed, "parts": found}, lambda: columns(rows), ERROR if failed else OK)


def models(home: Home) -> Found:
    """List each model with the hashes of its files and its card. Exits with 1 if one cannot be opened."""
    assembly = _assembly(home.path)
    listed = {name: _listed(maker) for name, maker in _makers(assembly).items()}
    listed = {name: said for name, said in listed.items() if said}
    assembly.close()
    rows = [row for name, said in listed.items() for row in _rows(name, said)]
    failed = any("error" in said for said in listed.values())
    return Found(listed, lambda: columns(rows), ERROR if failed else OK)


def _makers(assembly: Assembly) -> dict[str, Callable[[], Maker | None]]:
    """What to call for each row; the call gives None if nothing is configured for it."""
    from citewell.knowledge.assembly import MODELS
    from citewell.models.naming import panel_of

    def made(name: str) -> Maker | None:
        part = getattr(assembly, name)
        return part.maker if part is not None else None

    def member(place: int) -> Maker:
        maker: Maker = assembly.entailer.members[place].maker  # type: ignore[attr-defined]  # of a panel
        return maker

    panel = range(len(panel_of(assembly.config.entailer)[1]))
    return {
        **{name: partial(made, name) for name in (*MODELS, "questioner", "gate_judge", "answer_judge")},
        **{f"entailer {place + 1}": partial(member, place) for place in panel},
        "support": lambda: assembly.support_maker,
        "card": lambda: _calibration(assembly),
    }


def _calibration(assembly: Assembly) -> Maker | None:
    from citewell.core.records import Maker

    card = assembly.card_state()
    if card.note:
        aside(f"warning: {card.note}")
    return Maker(name=card.path, hash=card.card) if card.card else None


def _listed(make: Callable[[], Maker | None]) -> dict[str, Any]:
    """The maker's fields, with the files and model card of a packaged model; or the error."""
    from citewell.core.identity import plain
    from citewell.core.weights import packaged

    try:
        maker = make()
    except Exception as error:  # noqa: BLE001 - one that fails must not hide the others
        return {"error": f"{type(error).__name__}: {error}"}
    if maker is None:
        return {}
    said: dict[str, Any] = plain(maker)
    if found := packaged(maker.hash):
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


def _assembly(home: Path) -> Assembly:
    from citewell.knowledge.assembly import Assembly, load_config

    return Assembly(home, load_config(home))


def _runtime() -> str:
    from citewell.core.environment import environment

    return ", ".join(f"{name} {value}" for name, value in environment().items())


def _home(home: Path) -> str:
    return f"{home}" if home.is_dir() else f"{home} does not exist yet; `citewell ingest` creates it"


def _card(assembly: Assembly) -> str:
    card = assembly.card_state()
    if card.note:
        raise CitewellError(card.note, hint="create a new one with `citewell calibrate`")
    return f"{card.path} {card.card[:23]}, fresh" if card.card else "none"


def _maker(assembly: Assembly, name: str) -> str:
    maker = getattr(assembly, name).maker
    return f"{maker.name} {maker.hash[:23]}"


def _tried(check: Callable[[], str]) -> tuple[bool, str]:
    try:
        return True, check()
    except Exception as error:  # noqa: BLE001 - the doctor reports every kind of failure, and goes on
        return False, f"{type(error).__name__}: {error}"
