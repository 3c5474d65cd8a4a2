"""Requests and responses as values of :mod:`citewell.core.records`, and their schemas in the OpenAPI
document.

In: a request's body or query, and the shape it must have. Out: that value, or a problem that says which
member is wrong; responses as JSON; the ``components`` of the document. One library (msgspec) reads, writes
and describes. Knows nothing about what the shapes mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from citewell.server.problems import PROBLEM_TYPE, Details, Problem

JSON = "application/json"
REFERENCE = "#/components/schemas/{name}"
Shape = TypeVar("Shape")

HINT = "see /openapi.json for the expected fields"


def body_of(shape: type[Shape]) -> Callable[[Request], Any]:
    """A dependency: the request's JSON body as ``shape``."""

    async def read(request: Request) -> Shape:
        return decoded(await request.body(), shape)

    return read


def decoded(body: bytes, shape: type[Shape]) -> Shape:
    """Raises Problem 422 for what is no JSON or of another shape."""
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(422, f"the request body cannot be read: {error}", hint=HINT) from error
    except RecursionError as error:
        raise Problem(422, "the request body is nested too deeply", hint=HINT) from error


def query_of(shape: type[Shape]) -> Callable[[Request], Shape]:
    """A dependency: the query parameters as ``shape``; one that it does not know is refused, so that no
    filter is dropped in silence."""

    def read(request: Request) -> Shape:
        try:
            return msgspec.convert(dict(request.query_params), shape, strict=False)
        except msgspec.ValidationError as error:
            raise Problem(422, f"the query parameters cannot be read: {error}", hint=HINT) from error

    return read


def reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, dict(headers or {}), JSON)


# --- the document -----------------------------------------------------------------------------------


def takes(shape: type[Any]) -> dict[str, Any]:
    """For ``openapi_extra``: the body of a route."""
    return {"requestBody": {"required": True, "content": {JSON: {"schema": _reference(shape)}}}}


def asks(shape: type[Any]) -> dict[str, Any]:
    """For ``openapi_extra``: the query parameters of a route, one for each member of ``shape``."""
    (_, components) = msgspec.json.schema_components([shape], ref_template=REFERENCE)
    described = components[shape.__name__]
    required = described.get("required", [])
    return {
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in described["properties"].items()
        ]
    }


def gives(shape: type[Any] | None, about: str, *, media: str = JSON) -> dict[int | str, dict[str, Any]]:
    """For ``responses``: the good one; every other status is :class:`Details`."""
    schema = _reference(shape) if shape is not None else {"type": "string", "format": "binary"}
    return {
        200: {"description": about, "content": {media: {"schema": schema}}},
        "default": {
            "description": "What went wrong",
            "content": {PROBLEM_TYPE: {"schema": _reference(Details)}},
        },
    }


def described(document: dict[str, Any]) -> dict[str, Any]:
    """``document`` with the schemas of what its routes name and of all that they hold, and the ways to be
    known."""
    _, found = msgspec.json.schema_components(_NAMED.values(), ref_template=REFERENCE)
    components = document.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **found}
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key or an OIDC access token."}
    }
    document["security"] = [{"key": []}, {}]
    return document


_NAMED: dict[str, type[Any]] = {}
"""What routes refer to, by name; filled while they are defined."""


def _reference(shape: type[Any]) -> dict[str, str]:
    if _NAMED.setdefault(shape.__name__, shape) is not shape:
        raise TypeError(f"two shapes are named {shape.__name__}: the document could not tell them apart")
    return {"$ref": REFERENCE.format(name=shape.__name__)}
