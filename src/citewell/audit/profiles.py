"""The searchable facts of a record, derived from its entry alone, so that they can be recomputed at any time.

In: an entry's kind, time, subject and body. Out: :class:`Facts`: a *profile* (properties with few values:
decision, band, verdicts, proofs, models, prompts, failure; shared between records), *keys* (properties with
many values: user, session, documents, versions, chunks) as 64-bit numbers, and all documents that the record
names, which decide who may see it. Independent of tables and queries.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any

from citewell.audit.entries import BLIND, EntryKind
from citewell.core.records import Record, Status

BANDS = ((0.85, "high"), (0.60, "medium"), (0.0, "low"))
NOT_MEASURED = "not measured"
ERROR = "ERROR"
"""The decision of a request that ended in an error."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400_000_000
"""Microseconds."""


class Axis(StrEnum):
    """Properties with so many values that each value has its own list of records."""

    USER = "user"
    SESSION = "session"
    DOCUMENT = "document"
    VERSION = "version"
    CHUNK = "chunk"
    FLAG = "flag"


class Profile(Record, frozen=True, kw_only=True):
    """What records share. ``statuses`` and ``proofs`` of the claims' verdicts; ``broken``: a claim or a
    citation is broken; ``models``: all that contributed; ``prompts``: hashes. Tuples are sorted."""

    decision: str
    band: str
    statuses: tuple[str, ...]
    broken: bool
    proofs: tuple[str, ...]
    failure: str
    models: tuple[str, ...]
    prompts: tuple[str, ...]
    config: str


class Facts(Record, frozen=True, kw_only=True):
    """``time`` in microseconds since 1970; ``keys`` from :func:`axis_key`, without duplicates; ``named`` the
    keys of all documents that the record names, None if its content has expired."""

    time: int
    profile: Profile
    keys: tuple[int, ...]
    named: frozenset[int] | None = None


def confidence_band(overall: float | None) -> str:
    """``high`` from 0.85, ``medium`` from 0.60, else ``low``: fixed, whatever the decision thresholds."""
    if overall is None:
        return NOT_MEASURED
    return next(name for border, name in BANDS if overall >= border or border == 0.0)


def facts_of(kind: str, timestamp: str, subject: str, body: Mapping[str, Any]) -> Facts:
    """The facts of the AuditRecord ``body`` as stored; personal texts may be sealed, as none is read.

    ``subject`` is the pseudonym of the person who asked; the session is the blinded one. Raises KeyError,
    TypeError or ValueError for a body that is not a record.
    """
    claims = body["claims"]
    report = body["confidence_report"]
    makers = body.get("makers", ())
    verdicts = [claim["verdict"] for claim in claims]
    models = {body["generation_model"], body["query_embedding_model"], *(maker["name"] for maker in makers)}
    prompts = {body["generation_prompt_hash"], *(maker.get("prompt_hash", "") for maker in makers)}
    profile = Profile(
        decision=ERROR if kind == EntryKind.ERROR.value else body["response_decision"],
        band=confidence_band(report["overall"] if report else None),
        statuses=tuple(sorted({verdict["status"] for verdict in verdicts})),
        broken=any(_broken(claim) for claim in claims),
        proofs=tuple(sorted({proof for verdict in verdicts if (proof := verdict.get("proof"))})),
        failure=body.get("failure_reason", ""),
        models=tuple(sorted(models - {""})),
        prompts=tuple(sorted(prompts - {""})),
        config=body["config_hash"],
    )
    keys = tuple(dict.fromkeys(axis_key(axis, *values) for axis, *values in _values(subject, body)))
    return Facts(time=microseconds(timestamp), profile=profile, keys=keys, named=_named(body))


@lru_cache(maxsize=200_000)
def axis_key(axis: Axis, *values: str) -> int:
    """A signed 64-bit number for one value of an axis. With ten million values, the probability that two
    collide is 1 in 10^6; a page therefore compares the records it shows with the query again."""
    digest = hashlib.sha256("\0".join((axis.value, *values)).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def microseconds(timestamp: str) -> int:
    """Microseconds since 1970 of a time as ``environment.format_time`` writes it. Raises ValueError."""
    return (datetime.fromisoformat(timestamp).astimezone(UTC) - EPOCH) // timedelta(microseconds=1)


def timestamp_of(time: int) -> str:
    """The inverse of :func:`microseconds`."""
    return (EPOCH + timedelta(microseconds=time)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _values(subject: str, body: Mapping[str, Any]) -> Iterator[tuple[Axis, *tuple[str, ...]]]:
    if subject:
        yield Axis.USER, subject
    session = body["session_id"]
    if type(session) is dict and BLIND in session:
        yield Axis.SESSION, session[BLIND]
    for claim in body["claims"]:
        for citation in claim.get("citations", ()):
            yield Axis.DOCUMENT, citation["document_id"]
            yield Axis.VERSION, citation["document_id"], citation["document_version"]
            yield Axis.CHUNK, citation["chunk_id"]


def _named(body: Mapping[str, Any]) -> frozenset[int]:
    """Same as :func:`citewell.knowledge.visibility.named_by` for the opened record."""
    looked_into = body.get("parameters", {}).get("looked_into", ())
    cited = [citation for claim in body["claims"] for citation in claim.get("citations", ())]
    cited += [side for conflict in body.get("conflicts", ()) for side in conflict["sides"]]
    names = {result["document_id"] for result in body.get("retrieval_results", ())}
    names |= {citation["document_id"] for citation in cited if citation["document_version"]}
    return frozenset(axis_key(Axis.DOCUMENT, name) for name in (names | {*looked_into}) - {""})


def _broken(claim: Mapping[str, Any]) -> bool:
    """Whether the claim or any of its citations is broken: a claim may be verified by its other citations."""
    verdicts = [claim["verdict"], *(citation.get("verdict") for citation in claim.get("citations", ()))]
    return any(verdict is not None and verdict["status"] == Status.BROKEN.value for verdict in verdicts)
