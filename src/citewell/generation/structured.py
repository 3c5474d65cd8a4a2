"""The structured form: one JSON object in which evidence precedes its claim.

In: a completion, complete or truncated. Out: its complete claims, and what it reports missing. What does not
fit is noted, never guessed at. Independent of models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from citewell.core.records import Kind
from citewell.generation.marked import EvidenceRange, MarkedDraft, read_marked
from citewell.generation.sources import LabelledSources
from citewell.verification.claims.structured import (
    StructuredClaim,
    claim_separator,
    is_structured,
    parse_claim,
)

_EVIDENCE = {
    "type": "object",
    "properties": {"source": {"type": "string"}, "quote": {"type": "string"}},
    "required": ["source", "quote"],
    "additionalProperties": False,
}
_CLAIM = {
    "type": "object",
    "properties": {
        "evidence": {"type": "array", "items": _EVIDENCE},
        "kind": {"type": "string", "enum": ["cited", "inference"]},
        "reasoning": {"type": "string"},
        "part": {"type": "integer"},
        "claim": {"type": "string"},
    },
    "required": ["evidence", "kind", "reasoning", "part", "claim"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "claims": {"type": "array", "items": _CLAIM},
        "missing": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["claims", "missing"],
    "additionalProperties": False,
}
"""Servers that enforce a schema write its keys in this order: evidence, then the claim."""

_FORM = re.compile(r'\{\s*"claims"\s*:\s*\[\s*[{\]]')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*(?P<closed>")?|[\[\]{}]', re.DOTALL)
_FENCE = re.compile(r"```\w*\s*$")
# Placeholders in the prompt's form (``writer_schema.txt``).
PLACEHOLDERS = frozenset(("the statement", "what the sources do not say", "exact words of that source"))


def read_structured(
    completion: str, sources: LabelledSources, aspects: Sequence[str], *, whole: bool = True
) -> MarkedDraft | None:
    """None if it contains no such object: then it is prose. ``whole`` is False for a partial completion."""
    begin = _begin(completion)
    if begin is None:
        return None
    closed = _closed(completion, begin)
    text, before = completion[begin:], _FENCE.sub("", completion[:begin]).strip()
    behind = completion[closed:].strip().removeprefix("```").strip() if closed else ""
    notes = [f"words before the object were left out: “{before[:80]}”"] if before else []
    notes += [f"words after the object were left out: “{behind[:80]}”"] if behind else []
    unread = False
    stated: list[StructuredClaim] = []
    for raw in _members(text, "claims"):
        try:
            stated.append(parse_claim(raw))
        except (msgspec.DecodeError, RecursionError) as error:
            unread = True
            notes.append(f"a claim does not fit the schema and was left out: {error}")
            continue
        if raw.find('"claim"') < raw.find('"evidence"'):
            notes.append("the claim was written before its evidence")
    if not stated and '"claims"' not in text:
        return None
    missing = [found for found in _missing(text, notes) if found.strip() and not _echoed(found)]
    if any(_echoed(one.claim) for one in stated):
        notes.append("text of the schema was returned as a claim and left out")
        stated = [one for one in stated if not _echoed(one.claim)]
    if whole and closed is None:
        notes.append("the object is incomplete; its complete parts were read")
    body, ranges = "", []
    for one in stated:
        said = " ".join(sources.named(one.claim).split())
        if not said:
            continue
        body += claim_separator(body)
        start = len(body)
        body += said
        quotes = tuple(sources.quoted(evidence.source, evidence.quote) for evidence in one.evidence)
        ranges.append(
            EvidenceRange(
                start=start, end=len(body), quotes=quotes, stated=True, reasoning=one.reasoning,
                kind=Kind.INFERENCE if one.inference else Kind.CITED,
                aspect=aspects[one.part - 1] if 1 <= one.part <= len(aspects) else "",
            )
        )  # fmt: skip
    written = read_marked(body, ranges, sources, missing=missing)
    told = (*written.notes, *dict.fromkeys(notes))
    abstains = written.abstains or (not stated and not unread and closed is not None)
    return msgspec.structs.replace(written, notes=told, abstains=abstains)


def _begin(completion: str) -> int | None:
    """The start of the object; models may put words or a code fence before it."""
    if is_structured(completion):
        return completion.index("{")
    found = _FORM.search(completion)
    return found.start() if found else None


def _echoed(text: str) -> bool:
    """Whether a weak model returned a placeholder of the form as if it were an answer."""
    return text.strip().rstrip(".") in PLACEHOLDERS


def _members(text: str, key: str) -> Iterator[str]:
    """The complete objects and strings of the array under ``key``, as written. A model may state the missing
    parts twice; the last time counts."""
    arrays = list(re.finditer(rf'"{key}"\s*:\s*\[', text))
    at = arrays[-1 if key == "missing" else 0].end() if arrays else len(text)
    start = depth = 0
    for token in _TOKEN.finditer(text, at):
        start = token.start() if depth == 0 else start
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth < 0:
            return
        if depth == 0 and (token[0] == "}" or token["closed"]):
            yield text[start : token.end()]


def _missing(text: str, notes: list[str]) -> Iterator[str]:
    """The parts reported missing. Invalid JSON strings are noted and kept as written: dropping one would make
    it look answered."""
    for raw in _members(text, "missing"):
        try:
            yield msgspec.json.decode(raw, type=str)
        except msgspec.DecodeError as error:
            notes.append(f"what is missing was taken as it is written: {error}")
            yield " ".join(raw.strip('"').split())


def _closed(text: str, begin: int) -> int | None:
    """The end of the object that starts at ``begin``; None if it is truncated or invalid JSON."""
    try:
        return json.JSONDecoder().raw_decode(text, begin)[1]
    except (ValueError, RecursionError):
        return None
