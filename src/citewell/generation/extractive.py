"""The embedded writer. It quotes what answers, one claim each, and never writes a fact of its own.

In: a question, its aspects and passages. Out: a :class:`Draft` whose claims are verbatim: whole
sentences, or a row's label and the cell asked for; and, marked as inferences, what a question asks to be
worked out from such cells, with the whole calculation. What nothing answers is missing. Same input, same
bits. Knows nothing about how claims are checked, confidence or the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from citewell.core.config import Gate
from citewell.core.ports import Extractor, GenerationRequest
from citewell.core.prompts.loading import hash_of
from citewell.core.records import Draft, DraftClaim, Kind, Maker, Passage, Quote, Record
from citewell.generation.frames import CELL, JOINER, LEFT_OPEN, ROW, WORKED, cell_frame, place_of
from citewell.generation.working import WORKING, Worked, work_out
from citewell.questions.calculation.formulae import is_answer
from citewell.questions.cells import CellAnswer, label_span, text_of
from citewell.questions.evidence import find_evidence
from citewell.questions.naming import usable
from citewell.questions.parsing import left_open, read_question
from citewell.questions.prose import SentenceAnswer
from citewell.questions.rows import joined

NAME = "citewell-extractive/1"
FRAMES = (CELL, ROW, LEFT_OPEN, WORKED, WORKING)
"""The files that its words are made with."""
_STRICTER = 0.5


class _Piece(Record, frozen=True, kw_only=True):
    """A claim before it has a place in the answer."""

    lead: str
    text: str
    quotes: tuple[Quote, ...]
    aspect: str
    answers: float | None = None
    reasoning: str = ""


class ExtractiveGenerator:
    """``max_no_answer``: a passage above this no-answer probability gives no sentence."""

    def __init__(self, extractor: Extractor, *, max_no_answer: float = Gate().max_no_answer) -> None:
        self._extractor = extractor
        self._max_no_answer = max_no_answer
        self.maker = Maker(
            name=f"{NAME} + {extractor.maker.name}",
            hash=extractor.maker.hash,
            prompt_hash=hash_of(FRAMES),
            threshold=max_no_answer,
            card=extractor.maker.card,
        )

    def generate(self, request: GenerationRequest) -> Draft:
        """A draft from passages that are relevant and not set aside; ``strict`` claims stay out."""
        passages = usable(request.passages)
        banned = {_bare(text) for text in request.strict}
        limit = self._max_no_answer * (_STRICTER if request.strict else 1.0)
        answers: list[CellAnswer | SentenceAnswer] = []
        pieces: list[_Piece] = []
        missing: list[str] = []
        for aspect in request.aspects or (request.question,):
            answered = self._answer(aspect, passages, limit)
            found = [(a, p) for a in answered if _bare((p := _piece(a, aspect)).text) not in banned]
            if found:
                answers += [answer for answer, _ in found]
                pieces += [piece for _, piece in found]
            else:
                missing.append(aspect)
        pieces = _once(pieces)
        wanted = read_question(request.question)
        cells = [answer for answer in answers if isinstance(answer, CellAnswer)]
        results = [
            p
            for one in work_out(request.question, cells, passages)
            if _bare((p := _worked_piece(one)).text) not in banned
        ]
        pieces += results
        told = bool(results) and is_answer(request.question, len(results))
        if sum(len(piece.quotes) > 1 for piece in pieces) > 1 and left_open(wanted) and not told:
            # Values to be compared or divided are given; the comparison is written nowhere.
            missing.append(LEFT_OPEN.fill(question=request.question).strip())
        return self._draft(pieces, missing, request)

    def _answer(
        self, aspect: str, passages: Sequence[Passage], limit: float
    ) -> tuple[CellAnswer | SentenceAnswer, ...]:
        return find_evidence(read_question(aspect), passages, self._extractor, max_no_answer=limit)

    def _draft(self, pieces: Sequence[_Piece], missing: Sequence[str], request: GenerationRequest) -> Draft:
        text = ""
        claims = []
        for piece in pieces:
            text += ("\n" if text else "") + piece.lead
            start = len(text)
            text += piece.text
            claims.append(
                DraftClaim(
                    text=piece.text,
                    start=start,
                    end=len(text),
                    quotes=piece.quotes,
                    kind=Kind.INFERENCE if piece.reasoning else Kind.CITED,
                    aspect=piece.aspect,
                    answers=piece.answers,
                    reasoning=piece.reasoning,
                )
            )
        notes = [] if not request.strict else [f"stricter retry without {len(request.strict)} failed claims"]
        return Draft(
            text=text,
            raw=text,
            claims=tuple(claims),
            maker=self.maker,
            missing=tuple(missing),
            notes=tuple(notes),
            deterministic=True,
        )


def _piece(answer: CellAnswer | SentenceAnswer, aspect: str) -> _Piece:
    if isinstance(answer, CellAnswer):
        return _cell_piece(answer, aspect)
    return _sentence_piece(answer, aspect)


def _worked_piece(worked: Worked) -> _Piece:
    _, units = place_of(worked.cells[0])
    return _Piece(
        lead=WORKED.fill(units=f" ({units})" if units else "").rstrip("\n"),
        text=worked.text,
        quotes=tuple(dict.fromkeys(quote for cell in worked.cells for quote in _quotes(cell))),
        aspect="",
        reasoning=worked.reasoning,
    )


def _cell_piece(answer: CellAnswer, aspect: str) -> _Piece:
    quotes = _quotes(answer)
    said = [quote.text for quote in quotes]
    return _Piece(
        lead=cell_frame(answer),
        text=JOINER.join(said) if answer.cell else joined(said),
        quotes=quotes,
        aspect=aspect,
        answers=answer.probability,
    )


def _quotes(answer: CellAnswer) -> tuple[Quote, ...]:
    """The row's label, the cells that tell it from other rows of that label, and the cell; or all its
    cells."""
    chunk, cells = answer.passage.chunk, answer.row.cells
    if answer.cell is not None:
        cells = (*(key for key in answer.keys if key != answer.cell), answer.cell)
    spans = [label_span(answer.passage, answer.row), *((cell.start, cell.end) for cell in cells)]
    return tuple(
        Quote(source=chunk.chunk_id, text=text_of(answer.passage, start, end), start=start, end=end)
        for start, end in spans
        if end > start
    )


def _sentence_piece(answer: SentenceAnswer, aspect: str) -> _Piece:
    quote = Quote(source=answer.passage.chunk.chunk_id, text=answer.text, start=answer.start, end=answer.end)
    return _Piece(
        lead="", text=answer.text, quotes=(quote,), aspect=aspect, answers=min(1.0, answer.probability)
    )


def _once(pieces: Iterable[_Piece]) -> list[_Piece]:
    """The same quote for the same aspect once; for two aspects it stays two claims."""
    seen: dict[tuple[str, str, str], _Piece] = {}
    for piece in pieces:
        seen.setdefault((piece.aspect, piece.lead, piece.text), piece)
    return list(seen.values())


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()
