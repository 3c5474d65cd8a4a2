"""Ids and hashes: the same value has the same hash on any machine, whatever the order of its keys."""

from __future__ import annotations

import hashlib
import hmac

import msgspec
import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.core.identity import (
    canonical_json,
    chunk_id,
    field_salts,
    hash_bytes,
    hash_text,
    hash_value,
    keyed_hash,
    opens,
    salted_hash,
)
from citewell.core.records import Box, Citation, Maker, Status, Verdict

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), json_values))
def test_key_order_never_matters(value: dict[str, object]) -> None:
    backwards = dict(reversed(list(value.items())))
    assert hash_value(value) == hash_value(backwards)


def test_rfc_8785_numbers() -> None:
    """Python's float repr is not canonical: 1e-07 and 1.0 must become 1e-7 and 1."""
    assert canonical_json([1e-07, 1.0, 333333333.33333329]) == b"[1e-7,1,333333333.3333333]"


def test_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="nan"):
        canonical_json({"score": float("nan")})


def test_hashes_are_tagged_sha256() -> None:
    assert hash_bytes(b"abc") == "sha256:" + hashlib.sha256(b"abc").hexdigest()
    assert hash_text("é") == hash_bytes("é".encode())


def test_a_chunk_id_depends_on_each_of_its_parts() -> None:
    parts = ("sha256:1", 0, 5, "hello")
    others = [
        ("sha256:2", 0, 5, "hello"),
        ("sha256:1", 1, 5, "hello"),
        ("sha256:1", 0, 6, "hello"),
        ("sha256:1", 0, 5, "hullo"),
    ]
    assert len({chunk_id(*parts), *(chunk_id(*other) for other in others)}) == 5
    assert chunk_id(*parts) == chunk_id(*parts)


def test_records_survive_a_round_trip() -> None:
    verdict = Verdict(
        status=Status.VERIFIED, reason="the words are the source's", maker=Maker(name="verbatim/1")
    )
    citation = Citation(
        chunk_id="sha256:c",
        document_id="d",
        document_version="sha256:v",
        start=3,
        end=9,
        quote="quoted",
        answer_start=0,
        answer_end=6,
        boxes=(Box(start=3, end=9, page=1, x0=0, y0=0, x1=9.5, y1=9),),
        verdict=verdict,
    )
    assert msgspec.json.decode(canonical_json(citation), type=Citation) == citation


@given(st.binary(min_size=32, max_size=32), st.text(st.characters(exclude_categories=["Cs"])))
def test_hashes_of_texts_are_what_their_names_say(key: bytes, text: str) -> None:
    assert keyed_hash(key, text) == "hmac-sha256:" + hmac.digest(key, text.encode(), "sha256").hex()
    assert salted_hash(key, text) == "salted-sha256:" + hashlib.sha256(key + text.encode()).hexdigest()


def test_a_hash_opens_as_its_own_text_and_not_as_the_end_of_it_under_a_longer_salt() -> None:
    salt, sealed = b"s" * 32, salted_hash(b"s" * 32, "not proven")
    assert opens(salt, "not proven", sealed)
    assert not opens(salt + b"not ", "proven", sealed)
    assert not opens(salt[:-1], "snot proven", sealed)
    assert not opens(salt, "proven", sealed)
    assert not opens(salt, "", "")


def test_the_salts_of_fields_are_one_stream_whatever_their_number() -> None:
    salts = field_salts(b"s" * 32, 5)
    assert b"".join(salts) == hashlib.shake_256(b"s" * 32).digest(160)
    assert field_salts(b"s" * 32, 2) == salts[:2]
    assert field_salts(b"s" * 32, 0) == []


NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-10, 10).map(lambda number: round(number, 3)),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.integers(-1000, 1000).map(float),
)
WORDS = st.text('ab\x00\x1f\x7f"\\/é\u2028\ufb33😀', max_size=5)
VALUES = st.recursive(
    st.one_of(NUMBERS, WORDS, st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(WORDS, inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(VALUES)
def test_the_quick_way_writes_what_the_reference_writes(value: object) -> None:
    assert canonical_json(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": (2**60,)}])
def test_numbers_that_json_cannot_hold_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"2|nan|inf|NaN"):
        canonical_json(value)
