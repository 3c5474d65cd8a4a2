"""A text contradicts only what it is about; lacking a number or name is not a contradiction."""

from __future__ import annotations

import pytest

from citewell.core.records import Entailment, Maker, Status
from citewell.verification.objections import speaks_of
from citewell.verification.verifier import Verifier

PREMISE = "Revenue was 51.2 billion dollars in fiscal 2023. The plant in Toledo makes engines."


class Denying:
    """Calls everything a contradiction."""

    maker = Maker(name="denying", hash="sha256:1")

    def entail(self, pairs: list[tuple[str, str]]) -> list[Entailment]:
        return [Entailment(entailment=0.02, neutral=0.08, contradiction=0.9) for _ in pairs]


@pytest.mark.parametrize(
    ("claim", "speaks"),
    [
        ("Revenue was 49.1 billion dollars in fiscal 2023.", True),
        ("The plant in Toledo does not make engines.", True),
        ("The plant in Dayton makes engines.", True),  # another name in its place
        ("The plant in Toledo employs 4,100 people.", False),
        ("Margins fell by 3.5 percent.", False),
        ("Maria Cortez founded the firm.", False),
    ],
)
def test_what_a_text_speaks_of(claim: str, speaks: bool) -> None:
    assert speaks_of(claim, PREMISE) is speaks


def test_a_number_that_is_merely_absent_is_unsupported() -> None:
    verdict = Verifier(Denying()).verify("The plant in Toledo employs 4,100 people.", [PREMISE])
    assert verdict.status is Status.UNSUPPORTED
    assert "4,100" in verdict.reason


def test_a_number_that_the_text_denies_is_contradicted() -> None:
    verdict = Verifier(Denying()).verify("Revenue was 49.1 billion dollars in fiscal 2023.", [PREMISE])
    assert verdict.status is Status.CONTRADICTED
    assert "49.1" in verdict.reason


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("Revenue rose by $10 million.", "Results (in millions)\nRevenue was $160 in 2023 and $150 in 2022."),
        ("The margin rose by 3 percentage points.", "The margin rose from 14% to 17%."),
        ("60% of the patients recovered.", "Of 500 patients, 300 recovered."),
        ("The price rose by 25%.", "The price rose from $8 to $10."),
    ],
)
def test_what_is_worked_out_is_not_denied(claim: str, premise: str) -> None:
    assert not speaks_of(claim, premise)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("The monthly rent is $1,540.", "The monthly rent is $1,450."),
        ("70% of the patients recovered.", "Of 500 patients, 300 recovered, which is 60%."),
    ],
)
def test_what_is_worked_out_otherwise_is_denied(claim: str, premise: str) -> None:
    assert speaks_of(claim, premise)


@pytest.mark.parametrize(
    ("claim", "premise"),
    [
        ("The firm has 3 directors.", "The firm has 20 directors."),
        ("Attendance was 40.", "Attendance was 80."),
    ],
)
def test_what_merely_divides_is_denied(claim: str, premise: str) -> None:
    assert speaks_of(claim, premise)
