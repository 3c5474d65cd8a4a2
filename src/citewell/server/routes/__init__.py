"""The routes, one module an area."""

from citewell.server.routes import operations

ROUTERS = (operations.router,)

__all__ = ["ROUTERS"]
