"""``citewell serve``, and ``citewell keys``: who may use the server."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from citewell.cli.home import HomeOption, JsonOption, home_of, open_home
from citewell.cli.printing import aside, columns, say, say_json
from citewell.core.errors import CitewellError, UsageError

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

    from citewell.server.keys import ApiKeys

Named = TypeVar("Named", bound=StrEnum)

group = typer.Typer(
    help="Manage API keys, which decide who may use the server.", no_args_is_help=True, rich_markup_mode=None
)


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("proxy")(proxy)
    app.add_typer(group, name="keys")


def serve(
    context: typer.Context,
    host: Annotated[
        str, typer.Option(metavar="H", help="The address to listen on. [default: 127.0.0.1]")
    ] = "",
    port: Annotated[
        int | None, typer.Option(metavar="P", min=0, max=65535, help="The port to listen on. [default: 8000]")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes; more than one needs PostgreSQL.")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Serve the HTTP API and the web pages. Only this machine can reach them until you create a key."""
    _serve(_home(context, home), {"server": {"host": host, "port": port, "workers": workers}}, "/")


def proxy(
    context: typer.Context,
    to: Annotated[str, typer.Option(metavar="URL", help="The API to pass requests on to. [proxy.to]")] = "",
    policy: Annotated[
        str, typer.Option(metavar="P", help="observe, annotate or withhold. [default: annotate]")
    ] = "",
    unchecked: Annotated[
        str,
        typer.Option(metavar="U", help="pass or withhold what could not be checked. [default: pass]"),
    ] = "",
    sources: Annotated[
        str,
        typer.Option(metavar="REGEX", help="How prompts hold sources: groups `id` and `text`."),
    ] = "",
    host: Annotated[
        str, typer.Option(metavar="H", help="The address to listen on. [default: 127.0.0.1]")
    ] = "",
    port: Annotated[
        int | None, typer.Option(metavar="P", min=0, max=65535, help="The port to listen on. [default: 8000]")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Check the answers that another system gets from its model. Point its `base_url` at the address that
    this prints; nothing else changes."""
    from citewell.core.private import make_folder

    folder = home_of(context, home)
    make_folder(folder)
    given = {"to": to, "policy": policy, "unchecked": unchecked, "sources": sources}
    _serve(folder, {"proxy": given, "server": {"host": host, "port": port}}, "/proxy")


def _serve(folder: Path, given: dict[str, dict[str, Any]], path: str) -> None:
    """With the options that are ``given``, by section."""
    from citewell.knowledge.assembly import load_config
    from citewell.server.routes.proxy import refuse as refuse_proxy
    from citewell.server.serving import refuse
    from citewell.server.serving import serve as run

    said = {
        f"CITEWELL_{section}_{name}".upper(): str(value)
        for section, options in given.items()
        for name, value in options.items()
        if value not in ("", None)
    }
    config = load_config(folder, said)
    settings = config.server
    refuse(folder, config)
    if path == "/proxy":
        refuse_proxy(config.proxy)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    aside(f"http://{shown}:{settings.port}{path.rstrip('/')} (stop with Ctrl-C)")
    run(folder, config, said)


@group.command("create")
def create(
    context: typer.Context,
    user: Annotated[str, typer.Option("--user", metavar="U", help="The user the key belongs to.")],
    role: Annotated[
        list[str] | None,
        typer.Option(metavar="R", help="asker, curator, auditor or admin; repeatable. [default: asker]"),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="G", help="A group whose documents the user may see; repeatable."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="S",
            help="Limit the key to ask, verify, read, ingest, feedback, audit, metrics, pages; repeatable.",
        ),
    ] = None,
    expires: Annotated[str, typer.Option(metavar="SPAN", help="90d, 12h, ..., or never.")] = "90d",
    json: JsonOption = False,
    home: HomeOption = None,
) -> None:
    """Create a key. It is shown only once and stored as a hash."""
    from citewell.core.access import Role
    from citewell.knowledge.apikeys import MADE
    from citewell.server.keys import Scope

    knowledge_base = open_home(context, home)
    key, text = _keys(context, home).create(
        user,
        groups=group or (),
        roles=_named(Role, role, "role") or (Role.ASKER,),
        scopes=_named(Scope, scope, "scope"),
        lasts=_span(expires),
        seal=lambda key: knowledge_base.log.seal_key(key, MADE),
    )
    if json:
        return say_json({"key": text, "about": key})
    say(text)
    ends = f"until {key.expires_at[:19]}Z" if key.expires_at else "without expiry"
    aside(f"key {key.key_id} of {user}, {ends}: save it now, it cannot be shown again")
    return None


@group.command("list")
def list_(context: typer.Context, json: JsonOption = False, home: HomeOption = None) -> None:
    """List every key ever created, without its secret."""
    keys = _keys(context, home)
    if json:
        return say_json({"keys": keys.all()})
    head = ("id", "user", "roles", "groups", "scopes", "expires", "last used", "revoked")
    rows = [
        (
            key.key_id,
            key.user,
            " ".join(key.roles),
            " ".join(key.groups),
            " ".join(key.scopes) or "all",
            key.expires_at[:10] or "never",
            key.last_used_at[:19] or "never",
            key.revoked_at[:19],
        )
        for key in keys.all()
    ]
    return (
        columns([head, *rows])
        if rows
        else say("No keys yet. Until you create one, anybody on this machine has the owner's rights.")
    )


@group.command("revoke")
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `keys list` prints it.")],
    home: HomeOption = None,
) -> None:
    """Revoke a key and close the sessions opened with it, now."""
    from citewell.knowledge.apikeys import REVOKED

    # First it ends: also where the log cannot be written, which is an error then.
    ended = _keys(context, home).revoke(key)
    open_home(context, home).log.seal_key(ended, REVOKED)
    say(f"Revoked {ended.key_id} of {ended.user}.")


def _home(context: typer.Context, home: str | None) -> Path:
    folder = home_of(context, home)
    if not folder.is_dir():
        raise CitewellError(f"no knowledge base at {folder}", hint="create one with `citewell ingest PATH`")
    return folder


def _keys(context: typer.Context, home: str | None) -> ApiKeys:
    from citewell.server.keys import ApiKeys

    keys = ApiKeys(_home(context, home))
    context.call_on_close(keys.close)
    return keys


def _named(kind: type[Named], given: list[str] | None, what: str) -> tuple[Named, ...]:
    known = [str(item) for item in kind]
    for name in given or ():
        if name not in known:
            raise UsageError(f"unknown {what} {name!r}", hint=f"use one of {', '.join(known)}")
    return tuple(kind(name) for name in given or ())


def _span(text: str) -> timedelta | None:
    import re
    from datetime import timedelta

    if text == "never":
        return None
    shape = re.fullmatch(r"([1-9]\d{0,4})([mhdw])", text)
    if shape is None:
        raise UsageError(f"{text!r} is not a duration", hint="write 90d, 12h, 4w or never")
    units = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
    return timedelta(**{units[shape[2]]: int(shape[1])})
