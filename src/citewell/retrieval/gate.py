"""The gate before generation: do these passages contain an answer? "About it" is not "answers it".

In: a question, its aspects, passages, an extractor, the settings. Out: :class:`GateResult`: passed or
not, the reason in words, and the unanswered aspects. It passes if at least one aspect has evidence:
a passage above the relevance threshold that names what is asked (company, period) and contains the
cell asked for, or a sentence that answers according to the extractor. For refusals, the nearest passages.
Independent of how answers are written.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.config import Gate
from citewell.core.ports import AnswerCheck, Extractor, GateJudge, GateVerdict
from citewell.core.records import Citation, Likeliest, Passage, Record
from citewell.core.sentences import sentence_spans
from citewell.questions.calculator import calculator
from citewell.questions.evidence import (
    MAX_SENTENCES,
    answer_place,
    choose,
    find_evidence,
    find_stretches,
    sure,
)
from citewell.questions.naming import of_the_named, period_held, usable
from citewell.questions.parsing import ParsedQuestion, read_question
from citewell.questions.quotable import cite
from citewell.questions.rows import CellAnswer, asked_words, label_stems
from citewell.retrieval.quarantine import quarantine_poisoned

MOST, LONGEST = 3, 300
"""Maximum number of nearest passages shown, and characters of each."""


class GateResult(Record, frozen=True, kw_only=True):
    """``missing`` are the aspects without evidence, in the order asked; ``notes`` give the finding for each
    aspect; ``said`` is the judge's verdict, if one was asked."""

    passed: bool
    reason: str
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    said: GateVerdict | None = None


def check_gate(
    question: str,
    aspects: Sequence[str],
    passages: Sequence[Passage],
    extractor: Extractor,
    settings: Gate,
    judge: GateJudge | None = None,
    check: AnswerCheck | None = None,
) -> GateResult:
    """Whether to write at all. Extractor errors are raised, never treated as a pass. A ``judge`` replaces
    the extractor but not the exact checks; a failing judge never passes the gate."""
    asked = tuple(aspects) or (question,)
    open_ = usable(passages)
    if not open_:
        return GateResult(passed=False, reason=_nothing_usable(passages), missing=asked)
    said: dict[str, str] = {}
    missing: list[str] = []
    for aspect in asked:
        wanted = read_question(aspect)
        lacks = _lacks(wanted, open_)
        if judge is None and not lacks:
            held = _answered(wanted, open_, extractor, settings, check)
            lacks = "" if held else "the passages are about it, but none answers it"
            said[aspect] = held or lacks
        else:
            said[aspect] = lacks or "the passages have its names and periods"
        missing += [aspect] if lacks else []
    notes = tuple(f"{aspect}: {why}" for aspect, why in said.items())
    if len(missing) == len(asked):
        reason = f"no passage answers the question: {said[asked[0]]}"
        return GateResult(passed=False, reason=reason, missing=asked, notes=notes)
    if judge is None:
        reason = f"{len(asked) - len(missing)} of {len(asked)} parts of the question have evidence"
        return GateResult(passed=True, reason=reason, missing=tuple(missing), notes=notes)
    word = judge.sufficient(question, open_)
    return GateResult(
        passed=word.passed,
        reason=f"{judge.maker.name}: {word.verdict.value}: {word.reason}",
        missing=tuple(missing) if word.passed else asked,
        notes=notes,
        said=word,
    )


def score_answers(
    aspects: Sequence[str],
    passages: Sequence[Passage],
    extractor: Extractor,
    settings: Gate,
    check: AnswerCheck,
) -> tuple[Passage, ...]:
    """``passages`` in their order, each with the check's probability and its most likely answer span; a
    passage below the ranker's threshold becomes relevant if the check finds an answer in it."""
    read = [passage for passage in passages if not passage.set_aside and passage.relevance is not None]
    answers: dict[str, float] = {}
    likeliest: dict[str, Likeliest] = {}
    for aspect in aspects:
        wanted = read_question(aspect)
        found = find_stretches(wanted, read, extractor, max_no_answer=settings.max_no_answer, check=check)
        for answer in found:
            name, (start, end, _) = answer.passage.chunk.chunk_id, answer_place(answer)
            if name not in likeliest or sure(answer) > likeliest[name].answers:
                likeliest[name] = Likeliest(start=start, end=end, answers=sure(answer))
        for answer in choose(wanted, found, check.least, MAX_SENTENCES):
            name = answer.passage.chunk.chunk_id
            answers[name] = max(sure(answer), answers.get(name, 0.0))
        for cell in calculator().compared(aspect, read):  # no single row of it answers
            name = cell.passage.chunk.chunk_id
            answers[name] = max(cell.passage.relevance or 0.0, answers.get(name, 0.0))
    return tuple(
        msgspec.structs.replace(
            passage,
            relevant=passage.relevant or passage.chunk.chunk_id in answers,
            answers=answers.get(passage.chunk.chunk_id, passage.answers),
            likeliest=likeliest.get(passage.chunk.chunk_id, passage.likeliest),
        )
        for passage in passages
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


def _lacks(wanted: ParsedQuestion, passages: Sequence[Passage]) -> str:
    """The names or periods that no passage has, in words; a cheap check that nothing overrules."""
    mine = of_the_named(wanted, passages)
    if not mine:
        return f"no passage names {', '.join((*wanted.codes, *wanted.names))}"
    absent = _absent(wanted, mine)
    if absent and (wanted.by_cell or len(absent) == len(wanted.periods)):
        return f"no passage has {', '.join(absent)}"
    return ""


def _answered(
    wanted: ParsedQuestion,
    passages: Sequence[Passage],
    extractor: Extractor,
    settings: Gate,
    check: AnswerCheck | None,
) -> str:
    """What answers, in words; "" if nothing does."""
    mine = of_the_named(wanted, passages)
    answers = find_evidence(wanted, mine, extractor, max_no_answer=settings.max_no_answer, check=check)
    if not answers:
        return ""
    where = "a table answers it" if isinstance(answers[0], CellAnswer) else "a sentence answers it"
    absent = _absent(wanted, mine)
    return where + (f"; no passage has {', '.join(absent)}" if absent else "")


# --- what came nearest ----------------------------------------------------------------------------


def nearest_places(question: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """The most likely places of an answer to a refused question: the spans that the answer check ranked
    highest; without a check, the sentence or row of each passage that shares most words. Not verified to
    answer. A passage that would be quarantined is not shown; a quote is cut at a word boundary to at most
    LONGEST characters."""
    asked = asked_words(read_question(question))
    kept = [passage for passage in quarantine_poisoned(question, passages) if not passage.set_aside]
    kept.sort(key=lambda passage: -(passage.likeliest.answers if passage.likeliest else 0.0))
    return tuple(_place(passage, asked) for passage in kept[:MOST])


def _place(passage: Passage, asked: frozenset[str]) -> Citation:
    chunk = passage.chunk
    if passage.likeliest:
        start, end = (at - chunk.start_offset for at in (passage.likeliest.start, passage.likeliest.end))
    else:
        start, end = _most_words(chunk.content, asked)
    if end - start > LONGEST:
        end = start + max(chunk.content[start : start + LONGEST].rfind(" "), LONGEST // 2)
    return cite(chunk, chunk.start_offset + start, chunk.start_offset + end, "nearest")


def _most_words(text: str, asked: frozenset[str]) -> tuple[int, int]:
    def promise(span: tuple[int, int]) -> tuple[int, int]:
        shared = asked.intersection(label_stems(text[slice(*span)]))
        return len(shared), min(span[1] - span[0], LONGEST)  # prefer a sentence to its heading

    return max(sentence_spans(text) or ((0, len(text)),), key=promise)
