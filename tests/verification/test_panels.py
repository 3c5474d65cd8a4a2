"""A panel is no weaker than its members: each score under its own calibration, exact code above all."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from citewell.core.errors import ConfigError
from citewell.core.ports import Entailer
from citewell.core.records import Entailment, Maker, Status
from citewell.core.weights import WEIGHTS, judge_folder
from citewell.models.naming import entailer_named
from citewell.models.panel import BORDERLINE, AgreementEntailer, EscalatingEntailer, JointEntailer
from citewell.verification.support import calibration_card, card_of
from citewell.verification.verifier import Verifier

PLAIN = ("The board met in Leeds and chose a new chair.", "A new chair was chosen when the board met.")
EXCHANGED = ("Adams sued Baker.", "Baker sued Adams.")
OVERSTATED = (
    "Some of the engineers left the firm in spring.",
    "All of the engineers left the firm in spring.",
)
WORDS = [number / 20 for number in range(1, 20)]


class Fixed:
    """Always returns the same score, under the packaged entailer's hash or another."""

    def __init__(self, name: str, entailment: float, contradiction: float = 0.0, *, packaged: bool = False):
        self.maker = Maker(
            name=name, hash=calibration_card(WEIGHTS / "entailer")["entailer"]["hash"] if packaged else ""
        )
        self.said = Entailment(
            entailment=entailment, neutral=1 - entailment - contradiction, contradiction=contradiction
        )
        self.asked = 0

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        self.asked += len(pairs)
        return [self.said for _ in pairs]


def embedded(entailment: float, contradiction: float = 0.0) -> Fixed:
    return Fixed("embedded", entailment, contradiction, packaged=True)


def other(entailment: float, contradiction: float = 0.0) -> Fixed:
    return Fixed("openai:x", entailment, contradiction)


def support(entailer: Entailer, pair: tuple[str, str]) -> float:
    premise, claim = pair
    found = Verifier(entailer).verify(claim, [premise]).support
    assert found is not None
    return found


@pytest.mark.parametrize("pair", [EXCHANGED, OVERSTATED])
@pytest.mark.parametrize("make", [AgreementEntailer, EscalatingEntailer])
def test_exact_code_holds_down_whoever_reads(
    pair: tuple[str, str], make: type[AgreementEntailer] | type[EscalatingEntailer]
) -> None:
    for entailer in (embedded(0.95), other(0.95), make([embedded(0.95), other(0.95)])):
        assert support(entailer, pair) < 0.5


@pytest.mark.parametrize("word", WORDS)
def test_beside_one_that_says_yes_to_all_a_panel_is_as_sure_as_the_packaged_member(
    word: float,
) -> None:
    assert support(AgreementEntailer([other(1.0), embedded(word)]), PLAIN) == support(embedded(word), PLAIN)


def test_what_is_borderline_is_told_by_the_calibrated_probability() -> None:
    for word in WORDS:
        second = other(0.33)
        escalating = support(EscalatingEntailer([embedded(word), second]), PLAIN)
        alone = support(embedded(word), PLAIN)
        low, high = BORDERLINE
        borderline = low <= alone <= high
        assert (escalating, second.asked) == ((0.33, 1) if borderline else (alone, 0))


def test_who_answered_last_in_an_escalation_answers_by_its_own_calibration() -> None:
    word = support(embedded(0.6), PLAIN)
    assert support(EscalatingEntailer([other(0.5), embedded(0.6)]), PLAIN) == word


def test_a_panel_names_the_calibration_that_joins_a_members_word() -> None:
    packaged = card_of(embedded(0.5).maker)
    assert packaged.startswith("sha256:")
    for panel in (
        AgreementEntailer([other(0.5), embedded(0.5)]),
        EscalatingEntailer([embedded(0.5), other(0.5)]),
    ):
        assert card_of(panel.maker) == packaged
    without = AgreementEntailer([other(0.5), Fixed("openai:y", 0.5)])
    assert card_of(without.maker) == card_of(other(0.5).maker) != packaged


def test_a_contradiction_is_not_lost_to_a_member_that_has_no_opinion() -> None:
    """One contradicts at .95, the other has no opinion and is the more doubtful one."""
    premise, claim = "The plant in Leeds was shut in May.", "The plant in Leeds was not shut in May."
    for members in ([other(0.02, 0.95), embedded(0.0)], [embedded(0.0), other(0.02, 0.95)]):
        panel = AgreementEntailer(members)
        assert Verifier(panel).verify(claim, [premise]).status is Status.CONTRADICTED
        (said,) = panel.entail([(premise, claim)])
        assert (said.entailment, said.contradiction) == (0.0, 0.95)


def test_what_a_panel_says_sums_to_one() -> None:
    (said,) = AgreementEntailer([other(0.6, 0.0), Fixed("openai:y", 0.7, 0.2)]).entail([("a", "b")])
    assert (said.entailment, said.contradiction) == (0.6, 0.2)
    (said,) = AgreementEntailer([other(0.6, 0.4), Fixed("openai:y", 0.55, 0.45)]).entail([("a", "b")])
    assert said.entailment is not None
    assert said.neutral is not None
    assert said.contradiction is not None
    assert said.entailment + said.neutral + said.contradiction == pytest.approx(1.0)


def test_a_panel_says_how_little_of_a_long_text_a_member_read() -> None:
    class Skimming(Fixed):
        def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
            return [msgspec.structs.replace(said, read=3, units=90) for said in super().entail(pairs)]

    (said,) = AgreementEntailer([other(0.6), Skimming("openai:y", 0.7)]).entail([("a", "b")])
    assert (said.read, said.units) == (3, 90)


class Judge(Fixed):
    """Always returns the same score, under the judge's hash."""

    def __init__(self, entailment: float, contradiction: float = 0.0) -> None:
        super().__init__("judge", entailment, contradiction)
        folder = judge_folder()
        assert folder is not None, "make setup installs citewell-judge"
        self.maker = Maker(name="judge", hash=calibration_card(folder)["entailer"]["hash"])


def test_both_entailers_together_count_each_word_and_neither_alone() -> None:
    def together(small: float, judge: float) -> float:
        return support(JointEntailer([embedded(small), Judge(judge)]), PLAIN)

    assert together(0.2, 0.2) < together(0.2, 0.8) < together(0.8, 0.8)
    assert together(0.2, 0.8) < together(0.8, 0.8)
    strict = support(AgreementEntailer([embedded(0.1), Judge(0.9)]), PLAIN)
    alone = support(embedded(0.1), PLAIN), support(Judge(0.9), PLAIN)
    assert strict == min(alone) < max(alone), "where both must agree, the least sure decides"


def test_of_both_together_the_judge_says_what_is_contradicted() -> None:
    said = JointEntailer([embedded(0.1, 0.8), Judge(0.1, 0.0)]).entail([PLAIN])[0]
    assert said.contradiction == 0.0
    assert [voice.said.contradiction for voice in said.voices] == [0.8, 0.0]


def test_only_those_that_were_fitted_together_are_weighed_together() -> None:
    with pytest.raises(ConfigError, match="no combination was fitted for these"):
        entailer_named("openai:m & judge")
