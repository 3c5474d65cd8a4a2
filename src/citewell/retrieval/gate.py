"""The gate before generation: do these passages contain an answer? "About it" is not "answers it".

In: a question, its aspects, passages, an extractor, the settings. Out: :class:`GateResult`: passed or
not, why in words, and the aspects nothing answers. It passes when at least one aspect has evidence:
a passage over the relevance threshold that names what is asked (company, period) and that holds the
asked cell or a sentence that, by the extractor, answers. Knows nothing about how answers are written.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.config import Gate
from citewell.core.ports import Extractor, GateJudge, GateVerdict
from citewell.core.records import Passage, Record
from citewell.questions.cells import CellAnswer
from citewell.questions.evidence import find_evidence
from citewell.questions.naming import of_the_named, period_held, usable
from citewell.questions.parsing import ParsedQuestion, read_question


class GateResult(Record, frozen=True, kw_only=True):
    """``missing`` are the aspects without evidence, in the order asked; ``notes`` say why, one each;
    ``said`` is the judge's word, where one was asked."""

    passed: bool
    reason: str
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    said: GateVerdict | None = None


class _Finding(Record, frozen=True, kw_only=True):
    held: bool
    why: str


def check_gate(
    question: str,
    aspects: Sequence[str],
    passages: Sequence[Passage],
    extractor: Extractor,
    settings: Gate,
    judge: GateJudge | None = None,
) -> GateResult:
    """Whether to write at all. An error of the extractor is raised, never read as a pass. A ``judge`` takes
    the extractor's place, not that of the exact checks; one that fails has not let anything pass."""
    asked = tuple(aspects) or (question,)
    open_ = usable(passages)
    if not open_:
        return GateResult(passed=False, reason=_nothing_usable(passages), missing=asked)
    if judge is not None:
        return _judged(question, asked, open_, judge)
    findings = [_look(read_question(aspect), open_, extractor, settings) for aspect in asked]
    missing = tuple(aspect for aspect, finding in zip(asked, findings, strict=True) if not finding.held)
    notes = tuple(f"{aspect}: {finding.why}" for aspect, finding in zip(asked, findings, strict=True))
    if len(missing) == len(asked):
        return GateResult(
            passed=False,
            reason=f"no passage answers the question: {findings[0].why}",
            missing=missing,
            notes=notes,
        )
    answered = len(asked) - len(missing)
    reason = f"{answered} of {len(asked)} parts of the question have evidence"
    return GateResult(passed=True, reason=reason, missing=missing, notes=notes)


def _judged(
    question: str, asked: tuple[str, ...], passages: Sequence[Passage], judge: GateJudge
) -> GateResult:
    found = [_exactly(read_question(aspect), passages) for aspect in asked]
    missing = tuple(aspect for aspect, finding in zip(asked, found, strict=True) if not finding.held)
    notes = tuple(f"{aspect}: {finding.why}" for aspect, finding in zip(asked, found, strict=True))
    if len(missing) == len(asked):
        return GateResult(passed=False, reason=found[0].why, missing=missing, notes=notes)
    said = judge.sufficient(question, passages)
    reason = f"{judge.maker.name}: {said.verdict.value}: {said.reason}"
    return GateResult(
        passed=said.passed,
        reason=reason,
        missing=missing if said.passed else asked,
        notes=notes,
        said=said,
    )


def _nothing_usable(passages: Sequence[Passage]) -> str:
    aside = sum(bool(passage.set_aside) for passage in passages)
    relevant = sum(passage.relevant for passage in passages)
    if not passages:
        return "no passage was found"
    if relevant and aside:
        return f"all {relevant} relevant passages were set aside as suspicious"
    return f"none of the {len(passages)} passages found is relevant enough"


def _absent(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[str]:
    return [
        period.name
        for period in wanted.periods
        if not any(period_held(period, passage.chunk) for passage in passages)
    ]


def _exactly(wanted: ParsedQuestion, passages: Sequence[Passage]) -> _Finding:
    """Names and periods: cheap, and nothing overrules them."""
    mine = of_the_named(wanted, passages)
    if not mine:
        return _Finding(held=False, why=f"no passage names {', '.join((*wanted.codes, *wanted.names))}")
    absent = _absent(wanted, mine)
    if absent and (wanted.by_cell or len(absent) == len(wanted.periods)):
        return _Finding(held=False, why=f"no passage has {', '.join(absent)}")
    return _Finding(held=True, why="the passages have its names and periods")


def _look(
    wanted: ParsedQuestion, passages: Sequence[Passage], extractor: Extractor, settings: Gate
) -> _Finding:
    exactly = _exactly(wanted, passages)
    if not exactly.held:
        return exactly
    mine = of_the_named(wanted, passages)
    absent = _absent(wanted, mine)
    answers = find_evidence(wanted, mine, extractor, max_no_answer=settings.max_no_answer)
    if answers:
        best = answers[0]
        where = "a table answers it" if isinstance(best, CellAnswer) else "a sentence answers it"
        partly = f"; no passage has {', '.join(absent)}" if absent else ""
        return _Finding(held=True, why=where + partly)
    return _Finding(held=False, why="the passages are about it, but none answers it")
