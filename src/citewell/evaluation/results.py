"""The result of an evaluation: one file, deterministic apart from its timings.

In: a file. Out: a :class:`Run`. Everything that differs between two runs of the same cases on the same home
(clock, latency, request ids) is under ``timings`` only, so that the rest of two files can be compared byte by
byte. Knows nothing about how answers are made or measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from citewell.core.display import InTables, Row
from citewell.core.errors import UsageError
from citewell.core.records import Case, Claim, ConfidenceReport, Conflict, Maker, Record, Stage, TokenUsage
from citewell.evaluation.cases import write_file

FORMAT = 1


class MeasureResult(Record, frozen=True, kw_only=True):
    """One measure over all cases. ``value`` is None when ``n`` is 0: not measured.

    ``n`` counts what was scored (citations, claims or cases, depending on the measure), ``unscored`` what
    should have been but could not be; ``low`` and ``high`` bound the 95 % interval.
    """

    name: str
    value: float | None
    n: int
    unscored: int = 0
    low: float | None = None
    high: float | None = None
    maker: str = ""

    @property
    def cells(self) -> tuple[str, str]:
        """A share and its interval in words."""
        if self.value is None:
            return "not measured", ""
        known = self.low is not None and self.high is not None
        return f"{self.value:.2f}", f"{self.low:.2f} to {self.high:.2f}" if known else ""


class Score(Record, frozen=True, kw_only=True):
    """One case's contribution to one measure: its points (a value each, or a pair such as probability and
    label), the number unscored, and why."""

    points: tuple[tuple[float, ...], ...] = ()
    unscored: int = 0
    reason: str = ""


class RetrievedPassage(Record, frozen=True, kw_only=True):
    """A retrieved passage. ``expected``: it overlaps a span of the case; None if the case's spans are
    unknown."""

    chunk_id: str
    document_id: str
    document_version: str
    start: int
    end: int
    text: str
    page: int | None = None
    similarity: float | None = None
    relevance: float | None = None
    relevant: bool = False
    used: bool = False
    set_aside: str = ""
    expected: bool | None = None


class CaseOutcome(Case, frozen=True, kw_only=True, omit_defaults=False):
    """A case and its outcome. ``error`` says why there is none; its measures are then unscored.

    ``decision`` is "" if the answer came without one; ``right`` is None if unknown; ``why`` is the reason for
    ``right``, or the error. ``scores`` are the case's scores by measure. ``index`` and ``prompt`` are the
    index version and the prompt hash that it was answered with.
    """

    error: str = ""
    decision: str = ""
    answered: bool | None = None
    right: bool | None = None
    why: str = ""
    answer: str = ""
    claims: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    confidence: ConfidenceReport | None = None
    gate_passed: bool | None = None
    passages: tuple[RetrievedPassage, ...] = ()
    failure_reason: str = ""
    usage: TokenUsage | None = None
    cost: float | None = None
    index: str = ""
    prompt: str = ""
    notes: tuple[str, ...] = ()
    scores: dict[str, Score] = {}


class RunKey(Record, frozen=True, kw_only=True):
    """What a run's figures apply to; changing any of these makes it another experiment.

    ``model`` and ``prompt`` (a hash) are the writer's, "" if unknown (recorded answers); ``answers`` is the
    hash of the file of recorded answers, "" for answers made in the run. ``top_k`` is the number of passages
    requested, 0 if unknown; ``judge`` is the verifier's name, hash and prompt hash.
    """

    cases: str
    config: str = ""
    model: str = ""
    prompt: str = ""
    index: str = ""
    answers: str = ""
    runs: int = 1
    top_k: int = 0
    judge: str = ""
    citewell: str = ""


class CaseTiming(Record, frozen=True, kw_only=True):
    """Ids for looking up a case (``citewell audit show``, ``citewell trace``), and how long it took."""

    request_id: str = ""
    session_id: str = ""
    record_hash: str = ""
    total_ms: float | None = None
    stages: tuple[Stage, ...] = ()


class Timings(Record, frozen=True, kw_only=True):
    """Everything that may differ between identical runs. ``cases`` by id; ``entry`` is the hash of the
    evaluation's entry in the home's log, "" if there is none."""

    started: str = ""
    took_ms: float = 0.0
    entry: str = ""
    measures: tuple[MeasureResult, ...] = ()
    cases: dict[str, CaseTiming] = {}


class Run(InTables, Record, frozen=True, kw_only=True):
    """The result file. ``notes`` apply to all its figures, for instance that the calibration card in use was
    stale."""

    format: int = FORMAT
    key: RunKey
    makers: tuple[Maker, ...] = ()
    environment: dict[str, str] = {}
    measures: tuple[MeasureResult, ...] = ()
    cases: tuple[CaseOutcome, ...] = ()
    notes: tuple[str, ...] = ()
    timings: Timings = Timings()

    def measure(self, name: str) -> MeasureResult | None:
        """The measure of that name, including latencies; None if the run has none."""
        everything = (*self.measures, *self.timings.measures)
        return next((result for result in everything if result.name == name), None)

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        from citewell.evaluation.report import run_tables

        return run_tables(self)


def write_run(run: Run, path: Path) -> None:
    """Writes indented JSON atomically, keys in field order. Raises UsageError when it cannot be written."""
    data = msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n"
    write_file(path, data)


def read_run(path: Path) -> Run:
    """Raises UsageError for a file that is not a result of ``eval run``."""
    try:
        data = path.read_bytes()
        return msgspec.json.decode(data, type=Run)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint="check the path") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        whole = "whole " if data.startswith(b"{\n") else ""
        raise UsageError(
            f"{path} is not a {whole}result of `citewell eval run`: {error}",
            hint="create one with --out FILE",
        ) from error
