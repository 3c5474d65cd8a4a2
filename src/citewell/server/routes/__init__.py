"""The routes of the HTTP API, one module per area."""

from citewell.server.routes import answers, asking, audit, chat, documents, operations

ROUTERS = tuple(area.router for area in (asking, chat, answers, documents, audit, operations))

__all__ = ["ROUTERS"]
