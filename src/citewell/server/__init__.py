"""The HTTP interface of one home: authentication, authorisation, routes, and the pages built on them."""

from citewell.server.app import create_app

__all__ = ["create_app"]
