"""The embedded writer. It quotes what answers, one claim each, and never states a fact of its own; "Yes." or
"No." comes before a quote that says so.

In: a question, its aspects and passages. Out: a :class:`Draft` whose claims are verbatim: whole sentences, or
a row's label and the cell asked for; and, marked as inferences, results that the question asks to compute
from such cells, with the full calculation. Aspects that nothing answers are missing. Same input, same bits.
Independent of verdicts, confidence and the index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from citewell.core.config import Gate
from citewell.core.ports import AnswerCheck, Extractor, GenerationRequest
from citewell.core.prompts.loading import hash_prompts, load_prompt
from citewell.core.records import Chunk, Draft, DraftClaim, Kind, Maker, Quote
from citewell.questions.calculator import CalculationResult, calculator
from citewell.questions.evidence import Answer, SentenceAnswer, find_evidence, framed_text, next_sentence
from citewell.questions.naming import usable
from citewell.questions.parsing import read_question, wants_yes_or_no
from citewell.questions.periods import periods_in
from citewell.questions.rows import CellAnswer, label_span, row_forms, text_of
from citewell.verification.standing import remark_on

NAME = "citewell-extractive/1"
CELL = load_prompt("frame_cell", ("place", "head", "units"))
VALUE = load_prompt("frame_value", ("place", "head", "units"))
ROW = load_prompt("frame_row", ("place", "units"))
LEFT_OPEN = load_prompt("frame_left_open", ("question",))
WORKED = load_prompt("frame_worked", ("units",))
WORKING = load_prompt("frame_working", ("what", "working", "result"))
COMPARED = load_prompt("frame_compared", ("what", "working"))
UNDER = load_prompt("frame_under", ("words",))
REMARK = load_prompt("frame_remark", ("words",))
FRAMES = (CELL, VALUE, ROW, LEFT_OPEN, WORKED, WORKING, COMPARED, UNDER, REMARK)
"""The prompt files that its own words come from."""
JOINER = " … "
MAX_NAME = 80
_STRICTER = 0.5
_Piece = tuple[str, DraftClaim]
"""The lead-in of a claim, and the claim before it has a place in the answer."""


class ExtractiveGenerator:
    """``max_no_answer``: a passage with a higher no-answer probability yields no sentence."""

    def __init__(
        self,
        extractor: Extractor,
        *,
        max_no_answer: float = Gate().max_no_answer,
        check: AnswerCheck | None = None,
    ) -> None:
        self._extractor = extractor
        self._check = check
        self._max_no_answer = max_no_answer
        self.maker = Maker(
            name=" + ".join([NAME, extractor.maker.name, *([check.maker.name] if check else [])]),
            hash=extractor.maker.hash,
            prompt_hash=hash_prompts(FRAMES),
            threshold=check.least if check else max_no_answer,
            card=extractor.maker.card,
        )

    def generate(self, request: GenerationRequest) -> Draft:
        """A draft from passages that are relevant and not set aside; ``strict`` claims stay out."""
        passages = usable(request.passages)
        banned = {_bare(text) for text in request.strict}
        limit = self._max_no_answer * (_STRICTER if request.strict else 1.0)
        cells: list[CellAnswer] = []
        pieces: dict[tuple[str, str, str], _Piece] = {}
        missing: list[str] = []

        for aspect in request.aspects or (request.question,):
            answers = find_evidence(
                read_question(aspect), passages, self._extractor, max_no_answer=limit, check=self._check
            )
            found = [(a, p) for a in answers if _bare((p := _piece(a, aspect))[1].text) not in banned]
            # What its own source takes back comes behind what no source does.
            found.sort(key=lambda each: isinstance(each[0], SentenceAnswer) and each[1][0] != "")
            told = [piece for _, piece in found]
            if found and len(request.aspects) < 2:
                said, needed = self._says(aspect, found[0][0])
                needs = [_piece(answer, aspect) for answer in needed]
                quotes = tuple(quote for _, claim in needs for quote in claim.quotes)
                word = msgspec.structs.replace(told[0][1], text=said, quotes=quotes, fragment=True)
                told = [*([("", word)] if said else []), told[0], *needs[1:], *told[1:]]
            for lead, claim in told:
                # A quote is kept once per aspect; for two aspects it stays two claims.
                if _bare(claim.text) not in banned:
                    pieces.setdefault((claim.aspect, lead, claim.text), (lead, claim))
            cells += [answer for answer, _ in found if isinstance(answer, CellAnswer)]
            missing += [] if found else [aspect]
        worked = [
            (one, piece)
            for one in calculator().results(request.question, cells, passages)
            if _bare((piece := _result_piece(one))[1].text) not in banned
        ]
        results = [piece for _, piece in worked]
        by_cells = sum(len(claim.quotes) > 1 for _, claim in (*pieces.values(), *results))
        settled = bool(results) and calculator().is_answer(request.question, [one for one, _ in worked])
        if by_cells > 1 and read_question(request.question).left_open and not settled:
            # The values to compare or divide are quoted; the result itself is stated nowhere.
            missing.append(LEFT_OPEN.fill(question=request.question).strip())
        notes = [] if not request.strict else [f"stricter retry without {len(request.strict)} failed claims"]
        text, claims = _written([*pieces.values(), *results])
        return Draft(
            text=text,
            raw=text,
            claims=claims,
            maker=self.maker,
            missing=tuple(missing),
            notes=tuple(notes),
            deterministic=True,
        )

    def _says(self, aspect: str, answer: Answer) -> tuple[str, list[Answer]]:
        """ "Yes." or "No." if that is asked and the answer's words surely say so, else "", and what is needed
        to say it: also the next sentence if it is that which decides ("The proposal was rejected.")."""
        if self._check is None or not wants_yes_or_no(aspect) or isinstance(answer, CellAnswer):
            return "", [answer]
        said = self._check.says(aspect, framed_text(answer))
        if after := next_sentence(answer):
            both = msgspec.structs.replace(answer, text=f"{answer.text} {after.text}")
            decided = self._check.says(aspect, framed_text(both))
            if decided and decided != said:
                return decided, [answer, after]
        return said, [answer]


def _written(pieces: Sequence[_Piece]) -> tuple[str, tuple[DraftClaim, ...]]:
    """The pieces, one per line, each claim with its offsets."""
    text = ""
    claims = []
    for lead, claim in pieces:
        text += ("\n" if text else "") + lead
        claims.append(msgspec.structs.replace(claim, start=len(text), end=len(text) + len(claim.text)))
        text += claim.text
    return text, tuple(claims)


def _piece(answer: Answer, aspect: str) -> _Piece:
    if isinstance(answer, CellAnswer):
        quotes = _quotes(answer)
        whole, value, *_ = row_forms(answer.row, [(quote.start or 0, quote.text) for quote in quotes])
        lead, text = _cell_frame(answer), value if answer.cell else whole
        return lead, _claim(text, quotes, aspect, answer.probability)
    source = answer.passage.chunk.chunk_id
    spans = [answer.lead, (answer.start, answer.end)] if answer.lead else [(answer.start, answer.end)]
    quotes = tuple(
        Quote(source=source, text=text_of(answer.passage, start, end), start=start, end=end)
        for start, end in spans
    )
    text = JOINER.join(quote.text for quote in quotes)
    lead = "" if answer.old else _remark(answer)  # a neighbour of an amendment speaks of another clause
    return lead, _claim(text, quotes, aspect, min(1.0, answer.probability))


def _remark(answer: SentenceAnswer) -> str:
    """What the source says of its own sentence, as a lead-in: a heading ("Myths"), a note ("Rejected")."""
    chunk = answer.passage.chunk
    start, end = answer.start - chunk.start_offset, answer.end - chunk.start_offset
    words, heading = remark_on(chunk.content, start, end, chunk.section_path)
    frame = UNDER if heading else REMARK
    return frame.fill(words=_shortened(" ".join(words.split()))).rstrip("\n") if words else ""


def _claim(text: str, quotes: tuple[Quote, ...], aspect: str, answers: float | None) -> DraftClaim:
    return DraftClaim(text=text, start=0, end=0, quotes=quotes, aspect=aspect, answers=answers)


def _result_piece(result: CalculationResult) -> _Piece:
    _, units = _place_of(result.cells[0])
    told = {"what": result.what, "working": result.working}
    text = WORKING.fill(**told, result=result.result) if result.result else COMPARED.fill(**told)
    text = text.rstrip("\n")
    claim = DraftClaim(
        text=text,
        start=0,
        end=0,
        quotes=tuple(dict.fromkeys(quote for cell in result.cells for quote in _quotes(cell))),
        kind=Kind.INFERENCE,
        reasoning=result.reasoning,
    )
    return WORKED.fill(units=f" ({units})" if units else "").rstrip("\n"), claim


def _quotes(answer: CellAnswer) -> tuple[Quote, ...]:
    """The row's label, the cells that distinguish it from other rows with that label, and the cell; or the
    label and all cells."""
    chunk, cells = answer.passage.chunk, answer.row.cells
    if answer.cell is not None:
        cells = (*(key for key in answer.keys if key != answer.cell), answer.cell)
    spans = [label_span(answer.passage, answer.row), *((cell.start, cell.end) for cell in cells)]
    return tuple(
        Quote(source=chunk.chunk_id, text=text_of(answer.passage, start, end), start=start, end=end)
        for start, end in spans
        if end > start
    )


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()


# --- where a cell is ----------------------------------------------------------------------------------


def _place_of(answer: CellAnswer) -> tuple[str, str]:
    """(title of the table or section with its page, units as printed) from the chunk's context.

    The context's lines after the first are "Table title (units): heads", one per table.
    """
    chunk = answer.passage.chunk
    lines = [line.strip() for line in chunk.context.split("\n")[1:] if line.strip()]
    heads = list(dict.fromkeys(cell.head for row in chunk.rows for cell in row.cells if cell.head))
    title, units = _table_line(lines[0], heads) if len(lines) == 1 else ("", _shared_units(lines, heads))
    name = title or (chunk.section_path[-1] if chunk.section_path else "")
    parts = dict.fromkeys(part for part in (_document_name(chunk), name) if part)
    page = f", page {chunk.page}" if chunk.page is not None else ""
    return " › ".join(parts) + page, units


def _cell_frame(answer: CellAnswer) -> str:
    """``Title › Statement, page 5, column “2018” (In millions): ``, or ``Title › List: Price (EUR) of ``"""
    place, units = _place_of(answer)
    in_units = f" ({units})" if units else ""
    if answer.cell is not None and answer.cell.head.strip():
        head = " ".join(answer.cell.head.split())
        if answer.row.label and not periods_in(head):
            return VALUE.fill(place=place, head=head, units=in_units).rstrip("\n")
        return CELL.fill(place=place, head=head, units=in_units).rstrip("\n")
    return ROW.fill(place=place, units=in_units).rstrip("\n")


def _document_name(chunk: Chunk) -> str:
    return _shortened(" ".join(chunk.title.split()) or chunk.document_id)


def _shortened(name: str) -> str:
    return name if len(name) <= MAX_NAME else name[: MAX_NAME - 1].rstrip() + "…"


def _table_line(line: str, heads: Sequence[str]) -> tuple[str, str]:
    """(title, units) of "title (units): heads"; brackets in a head ("Margin (%)") do not count."""
    told = _before_heads(line, heads)
    if told.endswith(")") and "(" in told:
        title, _, units = told[:-1].rpartition("(")
        return title.strip(), units.strip()
    return told, ""


def _before_heads(line: str, heads: Sequence[str]) -> str:
    """The part before the list of heads, which starts with one of ``heads``; everything if there is none."""
    for head in heads:
        if found := re.search(rf"(?:^|: ){re.escape(head)}(?= \| |$)", line):
            return line[: found.start()]
    return line


def _shared_units(lines: list[str], heads: Sequence[str]) -> str:
    units = {_table_line(line, heads)[1] for line in lines}
    return units.pop() if len(units) == 1 else ""
