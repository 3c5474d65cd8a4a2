"""Tables in plain text: the rows from which exact code reads cells."""

from __future__ import annotations

import pytest
from tests.verification.test_verifier import Fixed

from citewell.core.records import Proof, Status
from citewell.verification.evidence import as_evidence
from citewell.verification.verifier import Verifier

PIPES = """Sales by segment (€ million)

| Segment | 2022 | 2021 |
|:--------|-----:|-----:|
| Tools revenue | 520 | 480 |
| Parts \\| spares | 90 | 85 |

A | B holds.
"""


@pytest.mark.parametrize("table", [PIPES, PIPES.replace("\n| ", "\n").replace(" |\n", "\n")])
def test_a_pipe_table_is_a_table(table: str) -> None:
    evidence = as_evidence(table)
    assert [line.label for line in evidence.lines] == ["Tools revenue", "Parts \\| spares"]
    assert evidence.lines[0].cells == (("520", "2022"), ("480", "2021"))
    verdict = Verifier(Fixed(0.99, 0.0)).verify("Tools revenue was €520 million in 2022.", [table])
    assert (verdict.status, verdict.proof) == (Status.VERIFIED, Proof.NUMERIC)
    other = Verifier(Fixed(0.99, 0.0)).verify("Tools revenue was €480 million in 2022.", [table])
    assert other.status is not Status.VERIFIED


@pytest.mark.parametrize(
    "text", [PIPES, "a | b\nc | d", "|\n|-", "a|b\n-|-\n|c\n\n|", "|a|\r\n|-|\r\n|5|\r\n"]
)
def test_offsets_stay_those_of_the_source(text: str) -> None:
    assert len(as_evidence(text).text) == len(text)


def test_pipes_without_a_rule_are_no_table() -> None:
    assert as_evidence("a | b\nc | d").lines == ()
