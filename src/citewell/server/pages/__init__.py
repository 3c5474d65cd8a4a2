"""The web pages: server-rendered, with a small script and stylesheet of our own."""

from citewell.server.pages import access, asking, auditing, documents, rendering, reviewing

ROUTERS = tuple(area.router for area in (rendering, asking, documents, auditing, reviewing, access))

__all__ = ["ROUTERS"]
