"""Find what answers an aspect: cells, rows or sentences of passages, the same for the gate and the writer.

In: the parsed question, passages, an extractor. Out: answers, best first, none if nothing answers. A
statement value is read from its cell; text from sentences that the extractor selects, widened to what can be
quoted (a sentence with the one its pronoun refers to, a line with its lead-in); a row if it fits better. Text
about another period or subject than asked, or without a number where one is asked, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from citewell.core.ports import AnswerCheck, Candidate, Extractor, Reading
from citewell.core.records import Passage, Record
from citewell.core.sentences import blanked, next_on_line
from citewell.questions.calculator import calculator
from citewell.questions.naming import calendar, of_another, of_the_named, period_held
from citewell.questions.parsing import ParsedQuestion, QuestionKind, label_words
from citewell.questions.periods import Period, covers, periods_in
from citewell.questions.quotable import Pointed, heading_above, pointed_at
from citewell.questions.rows import (
    CellAnswer,
    RowText,
    asked_words,
    differing_cell,
    find_rows,
    label_stems,
    likely_rows,
    named_cells,
    named_columns,
    row_text,
    text_of,
)

_TABULAR = 0.7
MAX_SENTENCES = 3
SIMILAR = 0.85
MIN_PROBABILITY = 0.2
BESIDE = 0.5  # minimum fraction of the best answer's probability for a further answer
STRICT_PERIOD = 0.35
MOST_JUDGED, MOST_CELLS, MOST_CELLED = 12, 8, 2
"""What the answer check reads for one part of a question: sentences and rows, then the cells of a row, for so
many rows."""
FEWEST_ECHOED = 3  # minimum words of a question for a sentence to count as merely repeating it

_NUMBER = re.compile(
    r"(?<![A-Za-z\d])\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|"
    r"billion|half|third|quarter|twice|no|none|zero|double[ds]?|once|several|daily|weekly|monthly|annually|never)\b",
    re.I,
)
_DATE = re.compile(
    r"\b(?:1\d|20)\d\d\b|\b\d{1,2}[:/.]\d|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|"
    r"\b\d+ (?:day|week|month|year|hour|minute)",
    re.I,
)
_COMPARED = re.compile(r"\b(?:compared (?:to|with)|versus|vs\.?|than|since|(?:up|down) from)\b", re.I)
_FOOTNOTE = re.compile(r"^\W*\(?\d{1,2}\)?\s+")
_WORD = re.compile(r"\w+")
_NEEDS = {QuestionKind.NUMBER: _NUMBER, QuestionKind.WHEN: _DATE}


class SentenceAnswer(Record, frozen=True, kw_only=True):
    """``[start, end)`` in the document; ``probability`` that it answers, by the extractor or the answer
    check. ``lead`` is the lead-in of its list if other items come between, ``old`` the wording that it
    changes."""

    passage: Passage
    start: int
    end: int
    text: str
    probability: float
    lead: tuple[int, int] | None = None
    old: str = ""


Answer = CellAnswer | SentenceAnswer


def find_evidence(
    wanted: ParsedQuestion,
    passages: Sequence[Passage],
    extractor: Extractor,
    *,
    max_no_answer: float,
    check: AnswerCheck | None = None,
) -> tuple[Answer, ...]:
    """The calculator's cells, or at most MAX_SENTENCES sentences or rows, best first, none nearly the same;
    () if nothing answers. The ``check`` rescores what the extractor selects; without it, passages whose
    no-answer probability is above ``max_no_answer`` are left out."""
    if cells := calculator().evidence(wanted, passages):
        return tuple(cells)
    found = find_stretches(wanted, passages, extractor, max_no_answer=max_no_answer, check=check)
    pointed = choose(wanted, found, check.least if check else MIN_PROBABILITY, MAX_SENTENCES)
    rows = [] if wanted.by_cell and not wanted.words else find_rows(wanted, passages)
    rows = [row for row in rows if not differing_cell(wanted.question, row.passage, row.row)]
    if rows and (not pointed or _row_wins(wanted, rows[0], pointed[0])):
        return tuple(_keyed(wanted, row) for row in rows if row.score >= 0.95 * rows[0].score)[:MAX_SENTENCES]
    return tuple(_keyed(wanted, answer) for answer in pointed)


def _keyed(wanted: ParsedQuestion, answer: Answer) -> Answer:
    """The answer; a cell also gets the cells that distinguish its row from others with the same label."""
    if isinstance(answer, SentenceAnswer):
        return answer
    return msgspec.structs.replace(answer, keys=named_cells(wanted.question, answer.passage, answer.row))


def _row_wins(wanted: ParsedQuestion, row: CellAnswer, pointed: Answer) -> bool:
    tabular = wanted.ask in (QuestionKind.NUMBER, QuestionKind.WHICH)
    return tabular and row.score >= max(_TABULAR, sure(pointed))


def find_stretches(
    wanted: ParsedQuestion,
    passages: Sequence[Passage],
    extractor: Extractor,
    *,
    max_no_answer: float,
    check: AnswerCheck | None = None,
) -> list[Answer]:
    """Sentences and rows that may answer, most likely first, including those below the threshold."""
    mine = [
        passage
        for passage in of_the_named(wanted, passages)
        if not wanted.periods or any(period_held(asked, passage.chunk) for asked in wanted.periods)
    ]
    if not mine:
        return []
    found: list[Answer] = []
    max_no_answer = 1.0 if check else max_no_answer
    readings = extractor.extract(wanted.question, [passage.chunk.in_context for passage in mine])
    for passage, reading in zip(mine, readings, strict=True):
        if reading.no_answer <= max_no_answer:
            pointed = pointed_at(passage.chunk, reading)
            sentences = (_sentence(wanted, passage, at, needs=check is None) for at in pointed)
            found += [answer for answer in sentences if answer]
    found += _amended(wanted, mine, extractor)
    rows = [row for row in likely_rows(wanted, mine) if _holds_code(wanted, row.text)]
    readings = extractor.extract(wanted.question, [row.text for row in rows]) if rows else []
    for row, reading in zip(rows, readings, strict=True):
        cell = _cell(wanted, row, reading) if reading.no_answer <= max_no_answer else None
        found += [cell] if cell else []
    if check and found:
        found = _weighed(wanted.question, found, check)
        best = sorted((one for one in found if isinstance(one, CellAnswer) and one.cell), key=sure)
        cells = {one.key: _at_best_cell(wanted, one, check) for one in best[-MOST_CELLED:]}
        found = [cells.get(one.key, one) if isinstance(one, CellAnswer) else one for one in found]
    found = [answer for answer in found if not any(_told_better(wanted, answer, other) for other in found)]
    return sorted(found, key=lambda answer: -round(sure(answer), 6))


def _amended(
    wanted: ParsedQuestion, passages: Sequence[Passage], extractor: Extractor
) -> Iterator[SentenceAnswer]:
    """The words that change a passage found, read behind the wording that they change."""
    places = [(passage, one) for passage in passages for one in passage.amends]
    said = [text_of(passage, one.start, one.end) for passage, one in places]
    texts = [f"{one.old}\n{text}" for (_, one), text in zip(places, said, strict=True)]
    readings = extractor.extract(wanted.question, texts) if texts else []
    for (passage, one), text, reading in zip(places, said, readings, strict=True):
        base = passage.chunk.start_offset
        at = Pointed(start=one.start - base, end=one.end - base, share=1.0 - reading.no_answer)
        if text.strip() and (answer := _sentence(wanted, passage, at, needs=False)):
            yield msgspec.structs.replace(answer, old=one.old)


def choose(wanted: ParsedQuestion, found: Sequence[Answer], least: float, limit: int) -> list[Answer]:
    """At most ``limit`` different answers of those found, best first, with probability ``least`` or more."""
    kept: list[Answer] = []
    for answer in found:
        if sure(answer) < least:
            break
        # After the best one, keep only answers that contain as much of the question.
        fits = not kept or (
            sure(answer) >= BESIDE * sure(kept[0])
            and len(_held(wanted, answer)) >= len(_held(wanted, kept[0]))
        )
        if fits and not any(_alike(answer, other) for other in kept):
            kept.append(answer)
        if len(kept) == limit:
            break
    return kept


def _weighed(question: str, found: Sequence[Answer], check: AnswerCheck) -> list[Answer]:
    """The MOST_JUDGED most promising answers, with the check's probabilities."""
    first = sorted(found, key=lambda answer: -round(sure(answer) * (answer.passage.relevance or 0.0), 6))
    first = first[:MOST_JUDGED]
    candidates = [
        Candidate(text=framed_text(answer), reader=sure(answer), ranker=answer.passage.relevance or 0.0)
        for answer in first
    ]
    weights = check.weigh(question, candidates)
    return [
        msgspec.structs.replace(answer, probability=p)
        if isinstance(answer, SentenceAnswer)
        else msgspec.structs.replace(answer, probability=p, score=p)
        for answer, p in zip(first, weights, strict=True)
    ]


def framed_text(answer: Answer, *, alone: bool = False) -> str:
    """The sentence, the row or the cell ``alone``, under its title and headings, as the check reads it."""
    chunk = answer.passage.chunk
    if isinstance(answer, SentenceAnswer):
        above = heading_above(chunk.content, answer.start - chunk.start_offset)
        return framed((chunk.title, *chunk.section_path, above, answer.old), answer.text)
    row = answer.row
    if alone and answer.cell:
        row = msgspec.structs.replace(row, cells=(answer.cell,))
    return framed((chunk.title, *chunk.section_path), row_text(answer.passage, row).text)


def framed(heads: Iterable[str], said: str) -> str:
    """The text under its title and headings, each once and none that it already contains: only its heading
    may say that a limit is for hotels."""
    return "\n".join([*(head for head in dict.fromkeys(heads) if head and head not in said), said])


def next_sentence(answer: SentenceAnswer) -> SentenceAnswer | None:
    """The sentence behind the answer, if it stands on the same line of the same chunk."""
    chunk = answer.passage.chunk
    base, content = chunk.start_offset, chunk.content
    after = next_on_line(content, answer.end - base)
    if after is None:
        return None
    start, end = after
    return msgspec.structs.replace(
        answer, start=base + start, end=base + end, text=content[start:end], lead=None, old=""
    )


def sure(answer: Answer) -> float:
    """The probability that it answers; 0 if there is none."""
    return answer.probability or 0.0


def _sentence(wanted: ParsedQuestion, passage: Passage, at: Pointed, *, needs: bool) -> SentenceAnswer | None:
    """With ``needs``, require a number or date if one is asked for, which the extractor alone misses."""
    text = passage.chunk.content[at.start : at.end]
    beside = _echoes(wanted, text) or of_another(wanted, text)
    fit = 0.0 if beside else _fits(wanted, passage, text, needs=needs)
    base = passage.chunk.start_offset
    if fit <= 0.0:
        return None
    return SentenceAnswer(
        passage=passage,
        start=base + at.start,
        end=base + at.end,
        text=text,
        probability=at.share * fit,
        lead=(base + at.lead[0], base + at.lead[1]) if at.lead else None,
    )


def _echoes(wanted: ParsedQuestion, text: str) -> bool:
    """Whether the text contains the question word for word, as a manual's example or planted text does."""
    asked = _WORD.findall(wanted.question.lower())
    return len(asked) >= FEWEST_ECHOED and " ".join(asked) in " ".join(_WORD.findall(text.lower()))


def _cell(wanted: ParsedQuestion, row: RowText, reading: Reading) -> CellAnswer | None:
    """The whole row if it is self-explanatory, else the cell that contains the most likely span."""
    best = max(reading.candidates, key=lambda span: span.probability, default=None)
    cell = row.cell_at(best.start, best.end) if best and not row.says else None
    values = [cell] if cell else [each for _, _, each in row.cells]
    said = " ".join(text_of(row.passage, value.start, value.end) for value in values)
    if wanted.ask is QuestionKind.NUMBER and not _NUMBER.search(said):
        return None
    sure = 1.0 - reading.no_answer
    return CellAnswer(passage=row.passage, row=row.row, cell=cell, score=sure, probability=sure)


def _at_best_cell(wanted: ParsedQuestion, answer: CellAnswer, check: AnswerCheck) -> CellAnswer:
    """The row's answer at the cell that answers by itself, as the extractor, which reads the row as one line,
    may point at a neighbour; of cells nearly as likely, one whose head the question names. The whole row if
    no cell answers."""
    each = [msgspec.structs.replace(answer, cell=cell) for cell in answer.row.cells[:MOST_CELLS]]
    said = check.answers([(framed_text(one, alone=True), wanted.question) for one in each])
    if max(said) < check.border:
        return msgspec.structs.replace(answer, cell=None)
    named = named_columns(wanted, answer.row)
    likely = [(one, p) for one, p in zip(each, said, strict=True) if p >= BESIDE * max(said)]
    return max(likely, key=lambda one: (one[0].cell in named, one[1], one[0].cell == answer.cell))[0]


def _holds_code(wanted: ParsedQuestion, text: str) -> bool:
    """Whether the text has one of the identifiers asked for: a row about another setting does not answer."""
    return not wanted.codes or any(code in text for code in wanted.codes)


def _fits(wanted: ParsedQuestion, passage: Passage, text: str, *, needs: bool) -> float:
    """1 if the sentence may answer, less if its period matches only by company convention, 0 if not."""
    named = periods_in(text)
    plain = blanked(_FOOTNOTE.sub("", text), named)
    shape = _NEEDS.get(wanted.ask) if needs else None
    if shape and not shape.search(text if wanted.ask is QuestionKind.WHEN else plain):
        return 0.0
    if wanted.by_cell and not _states_value(wanted, plain):
        return 0.0
    named = _not_compared(text, named)
    if not wanted.periods or not named:
        return 0.0 if wanted.by_cell and wanted.periods else 1.0
    known = calendar(passage.chunk)
    best = max(covers(found, asked, known) for found in named for asked in wanted.periods)
    if wanted.by_cell:
        return best if best > STRICT_PERIOD else 0.0
    years = {asked.year for asked in wanted.periods}
    return max(0.5 + 0.5 * best if best else 0.0, 0.8 if any(p.year in years for p in named) else 0.0)


def _not_compared(text: str, named: Sequence[Period]) -> tuple[Period, ...]:
    """The periods a sentence is about: "rose to 5 compared to 4 in fiscal 2021" is not about 2021."""
    compared = _COMPARED.search(text)
    return tuple(found for found in named if compared is None or found.start < compared.start())


def _states_value(wanted: ParsedQuestion, plain: str) -> bool:
    """Whether a sentence states a value: a number outside its periods, and the item asked for."""
    said = {mention.name for mention in calculator().named_in(plain).items}
    return bool(re.search(r"\d", plain)) and bool(said.intersection(wanted.operands))


def _alike(one: Answer, other: Answer) -> bool:
    (start, end, said), (from_, to, told) = answer_place(one), answer_place(other)
    a, b = set(label_words(said)), set(label_words(told))
    overlapping = (
        one.passage.chunk.document_version == other.passage.chunk.document_version
        and start < to
        and from_ < end
    )
    # Rows of one table share words but state different things.
    rows = isinstance(one, CellAnswer) or isinstance(other, CellAnswer)
    return overlapping or len(a & b) >= (1.0 if rows else SIMILAR) * max(1, min(len(a), len(b)))


def _told_better(wanted: ParsedQuestion, answer: Answer, other: Answer) -> bool:
    """Whether another cell contains everything of the question that this one does, and more."""
    return (
        isinstance(answer, CellAnswer)
        and isinstance(other, CellAnswer)
        and sure(other) >= BESIDE * sure(answer)
        and _held(wanted, answer) < _held(wanted, other)
    )


def _held(wanted: ParsedQuestion, answer: Answer) -> frozenset[str]:
    """The question words it contains; for a cell, in its label and head, not in neighbouring values."""
    said = answer_place(answer)[2]
    if isinstance(answer, CellAnswer):
        said = f"{answer.row.label} {answer.cell.head}" if answer.cell else f"{answer.row.label} {said}"
    return asked_words(wanted).intersection(label_stems(said))


def answer_place(answer: Answer) -> tuple[int, int, str]:
    """``[start, end)`` in the document, and its text."""
    if isinstance(answer, SentenceAnswer):
        return answer.start, answer.end, answer.text
    return answer.row.start, answer.row.end, text_of(answer.passage, answer.row.start, answer.row.end)
