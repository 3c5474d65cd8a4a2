"""The judge: used where it is named, its pieces checked, right on plain cases."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import citewell
from citewell.core.errors import ConfigError, ModelChangedError
from citewell.core.metering import Meter, metered
from citewell.core.records import Status
from citewell.core.weights import judge_folder, packaged_model
from citewell.models import naming
from citewell.models.naming import entailer_named
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.verification.support import card_of

LEASE = (
    "The tenant clears blocked outlets. The landlord mends broken pipes, provided that the tenant has "
    "reported them within seven days. The board discussed a lower rent and has not decided."
)


@pytest.fixture(scope="module")
def folder() -> Path:
    found = judge_folder()
    assert found is not None, "make setup installs citewell-judge"
    return found


@pytest.fixture(scope="module")
def judge(folder: Path) -> OnnxEntailer:
    return OnnxEntailer(folder)


def test_the_judge_is_the_entailer_where_it_is_named() -> None:
    report = citewell.verify(
        answer="The landlord has to repair a burst pipe that was reported in time [1].",
        sources=[LEASE],
        entailer="judge",
    )
    (claim,) = report.claims
    assert "citewell-judge-1" in claim.verdict.maker.name
    assert claim.verdict.maker.card.startswith("sha256:")


def test_the_default_weighs_both_entailers_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    report = citewell.verify(answer="The landlord repairs a burst pipe [1].", sources=[LEASE])
    (claim,) = report.claims
    assert claim.verdict.maker.name.endswith("citewell-entailer-2 & citewell-judge-1")
    assert claim.verdict.maker.card == card_of(entailer_named("judge").maker)
    monkeypatch.setattr(naming, "installed_judge", lambda: None)
    assert entailer_named("embedded").maker.name == "citewell-entailer-2"


def test_naming_the_judge_where_it_is_not_installed_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "installed_judge", lambda: None)
    with pytest.raises(ConfigError, match="citewell-judge is not installed"):
        entailer_named("judge")


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ("Clearing a blocked outlet is up to the tenant.", True),
        ("The landlord mends broken pipes in every case.", False),
        ("The board has lowered the rent.", False),
    ],
)
def test_a_dropped_condition_and_an_open_matter_are_not_passed(claim: str, holds: bool) -> None:
    (said,) = citewell.verify(answer=f"{claim} [1]", sources=[LEASE]).claims
    assert (said.verdict.status is Status.VERIFIED) is holds


def test_same_bits_alone_among_others_and_in_threads(judge: OnnxEntailer) -> None:
    pairs = [
        (LEASE, "The tenant clears blocked outlets."),
        (LEASE * 12, "The rent is lower."),
        ("Yes.", "No."),
    ]
    together = judge.entail(pairs)
    with ThreadPoolExecutor(3) as pool:
        threaded = [result[0] for result in pool.map(lambda pair: judge.entail([pair]), pairs)]
    assert together == [judge.entail([pair])[0] for pair in pairs] == threaded


def test_a_changed_piece_is_refused(folder: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(folder, tmp_path / "judge")
    last = copied / "model.onnx.3"
    data = last.read_bytes()
    last.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelChangedError, match=r"model\.onnx\.3"):
        OnnxEntailer(copied)


def test_no_piece_is_over_fifty_megabytes_and_the_card_says_what_it_was_made_from(
    folder: Path, judge: OnnxEntailer
) -> None:
    found = packaged_model(judge.maker.hash)
    assert found is not None
    card, files = found
    assert all((folder / name).stat().st_size < 50_000_000 for name in files)
    told = card.read_text(encoding="utf-8")
    assert "Trained on" in told
    assert "Bad at" in told


def test_a_text_is_read_once_for_all_that_is_claimed_of_it(judge: OnnxEntailer) -> None:
    claims = ["The tenant clears blocked outlets.", "The landlord mends pipes.", "The rent is lower."]

    def reads(asked: list[str]) -> float:
        meter = Meter()
        with metered(meter):
            judge.entail([(LEASE, claim) for claim in asked])
        return meter.reads

    assert reads(claims) < sum(reads([claim]) for claim in claims) * 0.6
