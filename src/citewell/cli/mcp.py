"""``citewell mcp``: the home as tools for an agent on this machine, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.cli.home import HomeOption, open_home


def register(app: typer.Typer) -> None:
    app.command("mcp")(mcp)


def mcp(
    context: typer.Context,
    user: Annotated[
        str, typer.Option("--user", metavar="U", help="Whose agent it is. [default: the owner of the home]")
    ] = "",
    group: Annotated[
        list[str] | None, typer.Option(metavar="G", help="A group whose documents it sees; repeatable.")
    ] = None,
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Let it ingest and withdraw documents too.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """Serve search, ask, verify_citation, audit_query and get_receipt to an MCP client over stdio."""
    from citewell.core.access import Caller, Role
    from citewell.server.mcp import make_server
    from citewell.server.telemetry import telemetry

    knowledge_base = open_home(context, home)
    roles = (Role.ASKER, Role.CURATOR) if allow_writes else (Role.ASKER,)
    if user or group:
        caller = Caller(user=user, groups=tuple(group or ()), roles=roles)
    else:
        caller = Caller(user="owner", roles=(Role.ADMIN,))
    config = knowledge_base.config
    told = telemetry(documents=config.server.otel_documents, writer=config.generator)
    try:
        make_server(knowledge_base.as_(caller), allow_writes=allow_writes, telemetry=told).run("stdio")
    finally:
        told.close()
