"""The personal parts of a record are set apart; the rest is canonical JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
import rfc8785
from benchmarks.audit_generator import real_record
from hypothesis import given
from hypothesis import strategies as st

from citewell.audit.entries import PUBLIC, SEALED, fill_in, separate_personal_texts
from citewell.core.identity import plain
from citewell.core.records import AuditRecord, Citation, Conflict

SALT = b"s" * 32
NUMBERS = st.one_of(
    st.floats(-1e15, 1e15),
    st.sampled_from([1e22, -1.5e300, 5e-324, 1e-7, 9007199254740991.0]),
    st.integers(-3, 3).map(float),
    st.integers(-(2**53) + 1, 2**53 - 1),
)


def blind(text: str) -> str:
    return f"blind-{len(text)}"


def altered(number: int, support: float, page: int, text: str) -> AuditRecord:
    """A record with odd numbers, and with texts in fields that are rarely set."""
    record = real_record(number)
    claim = record.claims[0]
    citation: Citation = msgspec.structs.replace(claim.citations[0], page=page, start=-1, end=-1)
    verdict = msgspec.structs.replace(claim.verdict, support=support, reason=text)
    claim = msgspec.structs.replace(claim, verdict=verdict, citations=(citation,), aspect=text)
    return msgspec.structs.replace(
        record,
        claims=(claim, *record.claims[1:]),
        missing=(text, ""),
        conflicts=(Conflict(about=text, sides=(citation,), dates=("2022",)),),
        parameters={
            "filters": {"tags": [text], "\u00e9": support, "a/b": text, "a": {"b": text, "~1": text}},
            "top_k": page,
        },
        latency_ms={"total": support},
        cost=support,
        error=text,
    )


@given(st.integers(0, 50), NUMBERS, st.integers(-(2**53) + 1, 2**53 - 1), st.text('ab"\\/\u00e9\U0001f600'))
def test_what_is_sealed_is_canonical_and_comes_back(
    number: int, support: float, page: int, text: str
) -> None:
    record = altered(number, support, page, text)
    body, texts = separate_personal_texts(record, SALT, blind)
    assert body == rfc8785.dumps(msgspec.json.decode(body))
    back = msgspec.convert(fill_in(body.decode(), SALT, texts), AuditRecord)
    assert rfc8785.dumps(plain(back)) == rfc8785.dumps(plain(record))


def test_no_text_of_a_record_outside_the_public_list_is_left_readable_but_documents_quotes() -> None:
    def left(value: Any, public: bool) -> list[str]:
        if isinstance(value, str):
            return [] if public or not value else [value]
        if isinstance(value, list):
            return [text for item in value for text in left(item, public)]
        if isinstance(value, dict) and SEALED not in value:
            return [text for name, item in value.items() for text in left(item, public or name in PUBLIC)]
        return []

    record = altered(1, 0.5, 3, "somebody's")
    body, _ = separate_personal_texts(record, SALT, blind)
    cited = [citation for claim in record.claims for citation in claim.citations]
    assert left(msgspec.json.decode(body), False) == [one.quote for one in cited if one.start >= 0]


def test_a_text_where_the_type_has_a_number_is_personal_too() -> None:
    """Record types are not enforced at construction."""
    record = msgspec.structs.replace(real_record(1), cost="somebody's words")
    assert b"somebody" not in separate_personal_texts(record, SALT, blind)[0]


def test_what_is_no_number_of_json_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        separate_personal_texts(msgspec.structs.replace(real_record(1), cost=math.nan), SALT, blind)
