"""Labelled claims are read in every shape that data sets use; anything unreadable is one clear error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from citewell.core.errors import UsageError
from citewell.evaluation.cases import load_labelled, looks_labelled


def test_rows_are_read_in_every_shape_and_gzipped(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"claim": "a", "sources": ["b", {"id": "x", "text": "c"}], "label": "supported"},
        {"hypothesis": "a", "premise": "b", "label": "neutral", "meta": {}},
        {"response": "a b", "context": "b", "label": "hallucinated", "question": "q"},
        {"answer": "a b", "sources": "b", "label": True, "group": 7},
    ]
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    assert looks_labelled(path)
    found = load_labelled(path)
    assert [(row.supported, row.whole) for row in found] == [
        (True, False),
        (False, False),
        (False, True),
        (True, True),
    ]
    assert found[0].sources == ("b", "c")
    assert (found[2].question, found[3].group) == ("q", "7")


GOOD = '{"claim": "a", "sources": ["s"], "label": true}'


@pytest.mark.parametrize("begin", ["\ufeff", "\ufeff\n"])
def test_a_file_that_an_editor_began_with_a_mark_is_read(tmp_path: Path, begin: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{begin}{GOOD}", encoding="utf-8")
    assert looks_labelled(path)
    assert [row.claim for row in load_labelled(path)] == ["a"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2 is not JSON"),
        ("[]", "line 2 is not a JSON object"),
        ('{"claim": "a", "sources": [], "label": true}', "line 2 has no claim or no sources"),
        ('{"claim": "a", "sources": [3], "label": true}', "line 2 has no claim or no sources"),
        ('{"sources": ["s"], "label": true}', "line 2 has no claim or no sources"),
        ('{"claim": "a", "answer": "b", "sources": ["s"], "label": true}', "or two claims"),
        ('{"claim": "a", "sources": ["b"], "label": "maybe"}', "line 2: the label 'maybe' is not known"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{GOOD}\n{line}")
    with pytest.raises(UsageError, match=said):
        load_labelled(path)


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xff\xfe"])
def test_a_file_without_rows_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        load_labelled(path)


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    whole = gzip.compress(GOOD.encode() * 50)
    for content in (whole[:-9], whole[:20] + b"xxxx" + whole[24:], b"no gzip"):
        path = tmp_path / "rows.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(UsageError):
            load_labelled(path)
