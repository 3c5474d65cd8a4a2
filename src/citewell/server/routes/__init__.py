"""The routes of the HTTP API, one module per area."""

from citewell.server.routes import answers, asking, audit, chat, documents, grounding, operations

ROUTERS = tuple(area.router for area in (asking, grounding, chat, answers, documents, audit, operations))

__all__ = ["ROUTERS"]
