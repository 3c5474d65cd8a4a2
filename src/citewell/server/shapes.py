"""Requests and responses as values of :mod:`citewell.core.records`, and their schemas in the OpenAPI
document.

In: a request's body or query, and the type it must have. Out: that value, or a problem naming the wrong
member; responses as JSON; the ``components`` of the document. One library (msgspec) decodes, encodes and
describes. Knows nothing about what the types mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from citewell.server.problems import PROBLEM_TYPE, Details, Problem

JSON = "application/json"
REFERENCE = "#/components/schemas/{name}"
HINT = "see /openapi.json for the expected fields"
Shape = TypeVar("Shape")


def body_of(shape: type[Shape]) -> Any:
    """Parameter default: the request's JSON body as ``shape``."""

    async def read(request: Request) -> Shape:
        return decoded(await request.body(), shape)

    return Depends(read)


def decoded(body: bytes, shape: type[Shape]) -> Shape:
    """Raises Problem 422 for invalid JSON or another shape."""
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(422, f"the request body cannot be read: {error}", hint=HINT) from error
    except RecursionError as error:
        raise Problem(422, "the request body is nested too deeply", hint=HINT) from error


def query_of(shape: type[Shape]) -> Any:
    """Parameter default: the query parameters as ``shape``; unknown ones are refused, so that no filter is
    silently ignored."""

    def read(request: Request) -> Shape:
        try:
            return msgspec.convert(dict(request.query_params), shape, strict=False)
        except msgspec.ValidationError as error:
            raise Problem(422, f"the query parameters cannot be read: {error}", hint=HINT) from error

    return Depends(read)


def reply(value: Any, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), headers=headers, media_type=JSON)


# --- the OpenAPI document ---------------------------------------------------------------------------


def described(
    gives: type[Any] | None,
    about: str,
    *,
    body: type[Any] | None = None,
    query: type[Any] | None = None,
    form: dict[str, Any] | None = None,
    media: str = JSON,
) -> dict[str, Any]:
    """Arguments for a route's decorator: the success response (None: bytes), all others being
    :class:`Details`; the JSON body or the schema of a form; a query parameter per member of ``query``."""
    schema = _reference(gives) if gives is not None else {"type": "string", "format": "binary"}
    extra: dict[str, Any] = {}
    if body is not None:
        extra["requestBody"] = {"required": True, "content": {JSON: {"schema": _reference(body)}}}
    if form is not None:
        extra["requestBody"] = {"required": True, "content": {"multipart/form-data": {"schema": form}}}
    if query is not None:
        _, components = msgspec.json.schema_components([query], ref_template=REFERENCE)
        members = components[query.__name__]
        required = members.get("required", [])
        extra["parameters"] = [
            {"name": name, "in": "query", "required": name in required, "schema": member}
            for name, member in members["properties"].items()
        ]
    wrong = {PROBLEM_TYPE: {"schema": _reference(Details)}}
    return {
        "responses": {
            200: {"description": about, "content": {media: {"schema": schema}}},
            "default": {"description": "What went wrong", "content": wrong},
        },
        "openapi_extra": extra,
    }


def add_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """``document`` with the schemas of the types its routes refer to, nested ones included, and the accepted
    credentials."""
    _, found = msgspec.json.schema_components(_NAMED.values(), ref_template=REFERENCE)
    components = document.setdefault("components", {})
    components["schemas"] = {**components.get("schemas", {}), **found}
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "An API key or an OIDC access token."}
    }
    document["security"] = [{"key": []}, {}]
    return document


_NAMED: dict[str, type[Any]] = {}
"""Types that routes refer to, by name; filled as routes are defined."""


def _reference(shape: type[Any]) -> dict[str, str]:
    if _NAMED.setdefault(shape.__name__, shape) is not shape:
        raise TypeError(f"two shapes are named {shape.__name__}: the document could not tell them apart")
    return {"$ref": REFERENCE.format(name=shape.__name__)}
