"""The HTTP interface of one home: who asks, what they may, and the routes; the pages stand on the same."""

from citewell.server.app import create_app

__all__ = ["create_app"]
