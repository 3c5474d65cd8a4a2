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
    missing = [found for found in _strings(text, "missing", notes) if found.strip() and not _echoed(found)]
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
    """The complete objects in the array under ``key``, as written."""
    start = depth = 0
    for place, letter, outside in _scan(text, key):
        if letter == "{" and outside:
            start = place if depth == 0 else start
            depth += 1
        elif letter == "}" and outside:
            depth -= 1
            if depth == 0:
                yield text[start : place + 1]
        elif letter == "]" and outside and depth == 0:
            return


def _strings(text: str, key: str, notes: list[str]) -> list[str]:
    """The complete strings in the array under ``key``. Invalid JSON strings are noted and kept as written:
    dropping a missing part would make it look answered."""
    found: list[str] = []
    start = -1
    for place, letter, outside in _scan(text, key):
        if letter == '"':
            if start < 0:
                start = place
            else:
                try:
                    found.append(msgspec.json.decode(text[start : place + 1], type=str))
                except msgspec.DecodeError as error:
                    notes.append(f"what is missing was taken as it is written: {error}")
                    found.append(" ".join(text[start + 1 : place].split()))
                start = -1
        elif letter == "]" and outside:
            break
    return found


def _scan(text: str, key: str) -> Iterator[tuple[int, str, bool]]:
    """Characters inside the array under ``key``, and whether each is outside strings. Includes the quotation
    marks of strings, but not escaped ones."""
    array = re.search(rf'"{key}"\s*:\s*\[', text) if key != "missing" else _last(rf'"{key}"\s*:\s*\[', text)
    if array is None:
        return
    inside, escaped, depth = False, False, 0
    for place in range(array.end(), len(text)):
        letter = text[place]
        if escaped:
            escaped = False
            continue
        if letter == "\\" and inside:
            escaped = True
            continue
        if letter == '"':
            inside = not inside
        elif inside:
            continue
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        # Closing brackets of inner arrays are skipped; the one that closes this array is not.
        if letter != "]" or depth < 0:
            yield place, letter, not inside


def _last(pattern: str, text: str) -> re.Match[str] | None:
    return next(reversed(list(re.finditer(pattern, text))), None)


def _closed(text: str, begin: int) -> int | None:
    """The end of the object that starts at ``begin``; None if it is truncated or invalid JSON."""
    try:
        return json.JSONDecoder().raw_decode(text, begin)[1]
    except (ValueError, RecursionError):
        return None
