"""For pytest: a test suite that asserts on cases, and on single answers.

In: ``--citewell-cases FILE`` (or the marker ``citewell_cases(FILE)``, from the folder of the test) and
``--citewell-home DIR`` (or ``CITEWELL_HOME``, or ``.citewell``). Out: fixtures.

    citewell_case       each case in turn
    citewell_home       the open KnowledgeBase
    citewell_outcome    the case, asked and judged as in ``citewell eval run``: right, why, claims, scores

And ``from pytest_citewell import assert_supported``, for any answer with its sources. Pytest loads this file
in every run, so it stands outside the package and imports nothing of it before somebody uses a fixture.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from citewell.answering.verifying import Source, VerifyReport
    from citewell.core.records import Case
    from citewell.evaluation.results import CaseOutcome
    from citewell.knowledge.home import KnowledgeBase

_CASE = "citewell_case"
_MARKER = "citewell_cases"


def assert_supported(
    answer: str, sources: Sequence[Source], question: str | None = None, **options: Any
) -> VerifyReport:
    """Fails unless every claim of ``answer`` is verified against ``sources``, and says which is not and why.

    An answer that states nothing fails: nothing to check is no pass. Options as of ``citewell.verify``.
    """
    __tracebackhide__ = True
    from citewell.answering.verifying import verify
    from citewell.core.records import Status

    report = verify(answer, sources, question, **options)
    if not report.claims:
        pytest.fail("the answer states nothing that could be checked", pytrace=False)
    failing = [claim for claim in report.claims if claim.verdict.status is not Status.VERIFIED]
    if failing:
        told = "\n".join(
            f"  {claim.verdict.status.value}: “{claim.text}”: {claim.verdict.reason}" for claim in failing
        )
        pytest.fail(f"{len(failing)} of {len(report.claims)} claims are not supported\n{told}", pytrace=False)
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("citewell")
    group.addoption(
        "--citewell-cases", action="append", default=[], metavar="FILE", help="Cases for citewell_case."
    )
    group.addoption("--citewell-home", metavar="DIR", help="The home that citewell_home opens.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{_MARKER}(file): the cases of this test, from its own folder")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each case; skipped, with what to do, where no file is named."""
    if _CASE not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(_MARKER)
    folder = metafunc.definition.path.parent
    files = [folder / str(name) for name in marker.args] if marker else []
    files += [
        metafunc.config.invocation_params.dir / name for name in metafunc.config.getoption("citewell_cases")
    ]
    if not files:
        skipped = pytest.mark.skip(reason="no cases: give --citewell-cases FILE")
        metafunc.parametrize(_CASE, [pytest.param(None, marks=skipped)], ids=["none"])
        return
    cases = [case for file in files for case in _cases(file)]
    metafunc.parametrize(_CASE, cases, ids=[case.id for case in cases])


@pytest.fixture(scope="session")
def citewell_home(pytestconfig: pytest.Config) -> Iterator[KnowledgeBase]:
    """The KnowledgeBase under test, closed at the end of the session."""
    import citewell

    named = pytestconfig.getoption("citewell_home") or os.environ.get("CITEWELL_HOME") or ".citewell"
    path = Path(named)
    if not path.is_dir():
        told = f"no knowledge base at {path}: make one with `citewell ingest`, or name --citewell-home DIR"
        pytest.fail(told, pytrace=False)
    with citewell.open(path) as kb:
        yield kb


@pytest.fixture(scope="session")
def _citewell_asking(citewell_home: KnowledgeBase) -> Any:
    """The pipeline, made once."""
    from citewell.evaluation.pipelines import HomePipeline

    pipeline = HomePipeline(citewell_home)
    if pipeline.stale:
        warnings.warn(pipeline.stale, stacklevel=1)
    return pipeline


@pytest.fixture
def citewell_outcome(citewell_case: Case, _citewell_asking: Any) -> CaseOutcome:
    """The case's :class:`citewell.evaluation.results.CaseOutcome`; ``error`` is set where asking failed."""
    from citewell.evaluation.running import evaluate

    return evaluate(_citewell_asking, citewell_case)[0]


def _cases(file: Path) -> tuple[Case, ...]:
    from citewell.core.errors import CitewellError
    from citewell.evaluation.cases import load_cases

    try:
        return load_cases(file)
    except CitewellError as error:
        raise pytest.UsageError(str(error)) from error
