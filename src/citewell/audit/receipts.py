"""The proof of one answer as a single file that a stranger can check offline.

In: a sealed entry, its disclosable texts, its place in the tree, a checkpoint. Out: the receipt, as the bytes
of its RFC 8785 JSON. Everything readable in it (``answer``, ``annotations``) is derived from the proven parts
(``entry``, ``body``, ``opened``, ``configuration``) by :func:`readable_answer`, and a check derives it again;
so no byte of it can contradict the log. Spans are W3C Web Annotations (Recommendation of 2017-02-23): a
text-quote and a text-position selector on a document version named by its hash (RFC 6920). Independent of
stores; :mod:`citewell.audit.receipt_check` shares only the format.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote as percent

from citewell.audit.entries import SEALED, Leaf, member
from citewell.core.identity import canonical_json
from citewell.core.records import Record

FORMAT = "citewell-receipt/1"
"""The version of the format; a later one adds a number and a checker, and this one stays checkable."""
ABOUT = (
    "What a question was answered with, and the proof that it was sealed so."
    " Check it with: citewell receipt check FILE --key ISSUER_KEY"
)
PRIVATE = ("/user", "/session_id", "/parameters", "/notes", "/streamed")
"""Who asked, in which session and with which rights: opened only on request."""


class Opened(Record, frozen=True, kw_only=True):
    """A personal text and the salt (hexadecimal) with which it hashes to the value in the body."""

    salt: str
    text: str


class Proven(Record, frozen=True, kw_only=True):
    """Another entry that the receipt relies on, proven by the same checkpoint. ``proof`` in base64."""

    entry: Leaf
    body: dict[str, Any]
    proof: tuple[str, ...]


class Receipt(Record, frozen=True, kw_only=True):
    """``opened`` by JSON pointer into ``body``; texts that are not opened stay secret as salted hashes.

    ``configuration`` is the log's own entry of the settings and prompt files, None if it was not sealed.
    ``key`` is the issuer's public key as the issuer states it (two, one per line, if one handed over to the
    next): compare it with one from another source.
    """

    format: str
    about: str
    entry: Leaf
    body: dict[str, Any]
    opened: dict[str, Opened]
    proof: tuple[str, ...]
    configuration: Proven | None
    checkpoint: str
    key: str
    answer: dict[str, Any]
    annotations: tuple[dict[str, Any], ...]


def receipt_bytes(receipt: Receipt) -> bytes:
    """The file: RFC 8785 JSON and a newline."""
    return canonical_json(receipt) + b"\n"


def may_be_shown(texts: Iterable[str], *, with_user: bool) -> list[str]:
    """The JSON pointers that a receipt opens."""
    return [
        pointer
        for pointer in sorted(texts)
        if with_user or not any(pointer == name or pointer.startswith(f"{name}/") for name in PRIVATE)
    ]


def readable_answer(
    body: Mapping[str, Any], opened: Mapping[str, Opened], configuration: Proven | None
) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
    """``answer`` and ``annotations`` of a receipt. Raises KeyError or TypeError if the body is no record."""
    shown = _filled(body, {pointer: item.text for pointer, item in opened.items()}, "")
    report = shown["confidence_report"] or {}
    settings = configuration.body if configuration else {}
    answer = {
        "request_id": shown["request_id"],
        "timestamp": shown["timestamp"],
        "question": shown["user_query"],
        "text": shown["shown_response"],
        "decision": shown["response_decision"],
        "failure": shown["failure_reason"],
        "confidence": report.get("overall"),
        "calibration_card": report.get("card", ""),
        "weights": report.get("weights", {}),
        "missing": shown["missing"],
        "claims": [_claim(claim) for claim in shown["claims"]],
        "documents": _documents(shown["claims"]),
        "models": shown["makers"],
        "index_version": shown["index_version"],
        "environment": shown["environment"],
        "config_hash": shown["config_hash"],
        "prompts": settings.get("prompts", {}),
        "thresholds": _thresholds(settings.get("config", {})),
    }
    return answer, tuple(_annotations(shown))


def _filled(value: Any, texts: Mapping[str, str], path: str) -> Any:
    """Inserts opened texts; the others stay salted hashes."""
    if type(value) is dict:
        if SEALED in value:
            return texts.get(path, {SEALED: value[SEALED]})
        return {key: _filled(item, texts, member(path, key)) for key, item in value.items()}
    if type(value) is list:
        return [_filled(item, texts, f"{path}/{place}") for place, item in enumerate(value)]
    return value


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    verdict = claim["verdict"]
    return {
        "text": claim["text"],
        "kind": claim["kind"],
        "shown": claim["shown"],
        "start": claim["answer_start"],
        "end": claim["answer_end"],
        "status": verdict["status"],
        "proof": verdict["proof"],
        "failure": verdict["failure"],
        "support": verdict["support"],
        "reason": verdict["reason"],
        "maker": verdict["maker"],
        "citations": len(claim["citations"]),
    }


def _documents(claims: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Each cited version, with the hash of its bytes."""
    named = {
        (citation["document_id"], citation["document_version"])
        for claim in claims
        for citation in claim["citations"]
    }
    return [{"document_id": document, "version": version} for document, version in sorted(named)]


def _thresholds(config: Mapping[str, Any]) -> dict[str, Any]:
    sections = ("retrieval", "gate", "verification", "confidence")
    return {section: config[section] for section in sections if section in config}


def _annotations(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One per citation with a span in a document; broken ones have none."""
    found = []
    for number, claim in enumerate(record["claims"], 1):
        for place, citation in enumerate(claim["citations"], 1):
            if citation["start"] < 0:
                continue
            found.append(
                {
                    "@context": "http://www.w3.org/ns/anno.jsonld",
                    "id": f"urn:citewell:{record['request_id']}:{number}:{place}",
                    "type": "Annotation",
                    "motivation": "linking",
                    "body": {"type": "TextualBody", "format": "text/plain", "value": claim["text"]},
                    "target": {
                        "type": "SpecificResource",
                        "source": source_uri(citation["document_version"]),
                        "selector": [
                            {"type": "TextQuoteSelector", "exact": citation["quote"]},
                            {
                                "type": "TextPositionSelector",
                                "start": citation["start"],
                                "end": citation["end"],
                            },
                        ],
                    },
                }
            )
    return found


def source_uri(version: str) -> str:
    """The name of a document version by the hash of its bytes: ``ni:///sha-256;...`` (RFC 6920)."""
    if re.fullmatch(r"sha256:[0-9a-f]{64}", version):
        digest = bytes.fromhex(version.removeprefix("sha256:"))
        return f"ni:///sha-256;{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
    return f"urn:citewell:version:{percent(version, safe='')}"
