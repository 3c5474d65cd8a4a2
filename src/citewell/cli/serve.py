"""``citewell serve``, ``proxy`` and ``mcp``, and ``citewell keys`` for access to the server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from citewell.cli.commands import AtLeastOne, CommandResult, Home, Port, Words, app, command, group, members
from citewell.cli.printing import aside, format_columns, say
from citewell.core.errors import AccessError, UsageError
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from datetime import timedelta

    from citewell.server.keys import ApiKeys

keys = group("keys", "Manage API keys, which decide who may use the server.")


@command(app)
def serve(home: Home, host: str = "", port: Port = None, workers: AtLeastOne = None) -> None:
    """Serve the HTTP API and the web pages. Only this machine can reach them until you create a key.

    --workers N: Processes; more than one needs PostgreSQL.
    """
    home.must_be_there()
    _serve(home, {"server": {"host": host, "port": port, "workers": workers}}, "/")


@command(app)
def proxy(
    home: Home,
    to: str = "",
    policy: str = "",
    unchecked: str = "",
    sources: str = "",
    host: str = "",
    port: Port = None,
) -> None:
    """Check the answers that another system gets from its model. Point its `base_url` at the address that
    this prints; nothing else changes.

    --to URL: The API to pass requests on to. [proxy.to]
    --policy P: observe, annotate or withhold. [default: annotate]
    --unchecked U: pass or withhold what could not be checked. [default: pass]
    --sources REGEX: How prompts hold sources: groups `id` and `text`.
    """
    from citewell.core.files import make_folder

    make_folder(home.path)
    given = {"to": to, "policy": policy, "unchecked": unchecked, "sources": sources}
    _serve(home, {"proxy": given, "server": {"host": host, "port": port}}, "/proxy")


def _serve(home: Home, given: dict[str, dict[str, Any]], path: str) -> None:
    """Serves the home with the options ``given``, by section of the configuration."""
    from citewell.server.routes.proxy import validate_proxy as refuse_proxy
    from citewell.server.serving import serve as run
    from citewell.server.serving import validate_serving

    said = {
        f"CITEWELL_{section}_{name}".upper(): str(value)
        for section, options in given.items()
        for name, value in options.items()
        if value not in ("", None)
    }
    config = home.config(said)
    settings = config.server
    validate_serving(home.path, config)
    if path == "/proxy":
        refuse_proxy(config.proxy)
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    aside(f"http://{shown}:{settings.port}{path.rstrip('/')} (stop with Ctrl-C)")
    run(home.path, config, said)


@command(app)
def mcp(
    kb: KnowledgeBase,
    user: str = "",
    group: list[str] | None = None,
    allow_writes: bool = False,
    folder: list[Path] | None = None,
) -> None:
    """Serve search, ask, verify_citation, audit_query and get_receipt to an MCP client over stdio.

    --user U: The user the agent acts for. [default: the owner of the home]
    --group G: A group whose documents the agent may see; repeatable.
    --allow-writes: Also let the agent ingest and withdraw documents; a named user needs a curator's key.
    --folder DIR: Allow ingesting from this folder only; repeatable, required for a named user.
    """
    from citewell.core.access import Caller, Role
    from citewell.server.keys import ApiKeys, Scope
    from citewell.server.mcp import make_server
    from citewell.server.telemetry import telemetry

    keys = ApiKeys(kb.home)

    def may_write() -> None:
        if (user or group) and keys.roles_of(user, Scope.INGEST).isdisjoint((Role.CURATOR, Role.ADMIN)):
            raise AccessError(
                f"{user or 'a user without a name'} may not change documents",
                hint=f"create a key with `citewell keys create --user {user or 'U'} --role curator`",
            )

    if allow_writes:
        may_write()
        if (user or group) and not folder:
            raise UsageError(
                "no folder to ingest from was named", hint="name at least one folder with --folder DIR"
            )
    roles = (Role.ASKER, Role.CURATOR) if allow_writes else (Role.ASKER,)
    if user or group:
        caller = Caller(user=user, groups=tuple(group or ()), roles=roles)
    else:
        caller = Caller(user="owner", roles=(Role.ADMIN,))
    config = kb.config
    told = telemetry(documents=config.server.otel_documents, writer=config.generator)
    try:
        make_server(
            kb.as_(caller),
            allow_writes=allow_writes,
            folders=folder or (),
            may_write=may_write,
            telemetry=told,
        ).run("stdio")
    finally:
        told.close()
        keys.close()


@command(keys)
def create(
    home: Home,
    user: str,
    role: Words = None,
    group: Words = None,
    scope: Words = None,
    expires: str = "90d",
) -> CommandResult:
    """Create a key. It is shown only once and stored as a hash.

    --user U: The user the key belongs to.
    --role R: asker, curator, auditor or admin; repeatable. [default: asker]
    --group G: A group whose documents the user may see; repeatable.
    --scope S: Limit the key to ask, verify, read, ingest, feedback, audit, metrics, pages; repeatable.
    --expires SPAN: 90d, 12h, ..., or never.
    """
    from citewell.core.access import Role
    from citewell.knowledge.sealing import MADE
    from citewell.server.keys import Scope

    log = home.open().log
    key, text = _keys(home).create(
        user,
        groups=group or (),
        roles=members(Role, role, "role") or (Role.ASKER,),
        scopes=members(Scope, scope, "scope"),
        lasts=_span(expires),
        seal=lambda key: log.seal_key(key, MADE),
    )

    def tell() -> None:
        say(text)
        ends = f"until {key.expires_at[:19]}Z" if key.expires_at else "without expiry"
        aside(f"key {key.key_id} of {user}, {ends}: save it now, it cannot be shown again")

    return CommandResult({"key": text, "about": key}, tell)


@command(keys, "list")
def list_(home: Home) -> CommandResult:
    """List every key ever created, without its secret."""
    from citewell.server.keys import KEYS_FILE

    found = _keys(home).all()
    if not found:
        told = "No keys yet. Until you create one, anybody on this machine has the owner's rights."
        if home.open().log.had_api_keys():
            told = (
                f"No keys in {home.path / KEYS_FILE}, but keys were created in this home: they open nothing"
                " any more, and nobody is let in. Restore that file from a backup, or create new keys with"
                " `citewell keys create`."
            )
        return CommandResult({"keys": found}, lambda: say(told))
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
        for key in found
    ]
    return CommandResult({"keys": found}, lambda: format_columns([head, *rows]))


@command(keys)
def revoke(
    home: Home,
    key: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `keys list` prints it.")],
) -> None:
    """Revoke a key and close the sessions opened with it, now."""
    from citewell.knowledge.sealing import REVOKED

    # Revoked first, so that it takes effect even if the log cannot be written, which is then an error.
    ended = _keys(home).revoke(key)
    home.open().log.seal_key(ended, REVOKED)
    say(f"Revoked {ended.key_id} of {ended.user}.")


def _keys(home: Home) -> ApiKeys:
    from citewell.server.keys import ApiKeys

    home.must_be_there()
    found = ApiKeys(home.path)
    home.context.call_on_close(found.close)
    return found


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
