"""Text supplied by a caller keeps the caller's own offsets and is marked as such."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from citewell.core.identity import hash_text
from citewell.documents.text import caller_document

WRAPPED = """Revenue was $5 million in the year, as the company said in its
report, and it grew by 3 %.

- Europe: $2 million
- Asia: $3 million
"""


def test_caller_text_is_marked_and_hashed() -> None:
    document = caller_document("SOURCE_1", WRAPPED, title="Annual report")
    assert document.caller_supplied
    assert document.document_id == "SOURCE_1"
    assert document.text_hash == hash_text(document.text)
    assert document.title is not None
    assert document.title.value == "Annual report"
    assert document.version != caller_document("SOURCE_1", WRAPPED + "x").version


def test_wrapped_lines_are_joined_in_place_and_lists_are_not() -> None:
    text = caller_document("s", WRAPPED).text
    assert "in its report, and it grew" in text
    assert "\n- Europe: $2 million\n- Asia: $3 million\n" in text
    assert len(text) == len(WRAPPED)


def test_empty_text_is_a_source_without_anything_in_it() -> None:
    assert caller_document("s", "").text == ""


@given(st.text())
def test_no_offset_moves(text: str) -> None:
    kept = caller_document("s", text).text
    whole = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    assert len(kept) == len(whole)
    assert all(a == b or (a, b) == (" ", "\n") for a, b in zip(kept, whole, strict=True))
