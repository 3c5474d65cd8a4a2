"""``citewell init``, ``models``: create a home, list the models."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.cli.commands import CommandResult, app, command
from citewell.cli.home import Home
from citewell.cli.printing import ERROR, OK, aside, format_columns, say
from citewell.core.errors import CitewellError, UsageError
from citewell.core.files import make_file, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable

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
    listed = {name: _listed(maker) for name, maker in _makers(assembly).items()}
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


def _listed(make: Callable[[], Maker | None]) -> dict[str, Any]:
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
