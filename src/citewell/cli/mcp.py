"""``citewell mcp``: the home as tools for an agent on this machine, over standard input and output."""

from __future__ import annotations

from pathlib import Path

from citewell.cli.commands import app, command
from citewell.core.errors import AccessError, UsageError
from citewell.knowledge.home import KnowledgeBase


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
