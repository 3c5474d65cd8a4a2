"""What supports a claim: its cited passages together, each of them, and the cited words alone.

The first two as Gao et al. 2023 (ALCE, "Enabling Large Language Models to Generate Text with Citations"): do
all cited passages together entail the claim; if so, is each one needed, that is, does it entail the claim
alone or is the claim lost without it? The judge is the configured verifier. Knows nothing about averages.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.records import Citation, Claim, Passage, Record, Status
from citewell.evaluation.judging import ClaimSupport, ObservedAnswer
from citewell.questions.rows import row_forms
from citewell.verification.claims import parse_answer
from citewell.verification.evidence import ClaimEvidence, EvidenceText, TableLine, lines_of, passage_evidence
from citewell.verification.verbatim import fold
from citewell.verification.verifier import Verifier


class _Cited(Record, frozen=True, kw_only=True):
    """A claim's citations of one passage. ``passage`` is None for a broken citation, and for a passage that
    did not come with the answer, which cannot be judged."""

    passage: Passage | None
    broken: bool
    citations: tuple[Citation, ...] = ()

    @property
    def words(self) -> str:
        return "\n".join(one.quote for one in self.citations)


def judge(question: str, observed: ObservedAnswer, verifier: Verifier) -> tuple[ClaimSupport, ...]:
    """One for each claim of ``observed.stated``."""
    return tuple(_support(question, claim, observed.passages, verifier) for claim in observed.stated)


def _support(question: str, claim: Claim, passages: Sequence[Passage], verifier: Verifier) -> ClaimSupport:
    cited = _grouped(claim.citations, passages)
    fragment = any(one.fragment for one in parse_answer(claim.text).claims)

    def says(*contexts: Sequence[EvidenceText]) -> list[bool | None]:
        verdicts = verifier.verify_many(
            [
                ClaimEvidence(
                    claim=claim.text,
                    evidence=tuple(evidence),
                    context=question,
                    asked=question if fragment else "",
                    antecedent=claim.antecedent,
                )
                for evidence in contexts
            ]
        )
        return [None if one.status is Status.UNCHECKED else one.status is Status.VERIFIED for one in verdicts]

    said: list[bool | None] = [None if one.passage is None and not one.broken else False for one in cited]
    worded = [
        number
        for number, one in enumerate(cited)
        if one.passage and any(c.quote.strip() for c in one.citations)
    ]
    rows = [number for number in worded if _row_says(claim, cited[number])]
    left = [number for number in worded if number not in rows]
    for number, held in zip(left, says(*([_words(cited[number])] for number in left)), strict=True):
        said[number] = held
    for number in rows:
        said[number] = True

    def found(whole: bool | None, needed: Sequence[bool | None] = ()) -> ClaimSupport:
        return ClaimSupport(whole=whole, needed=tuple(needed) or (whole,) * len(cited), spans=tuple(said))

    if not cited or any(one.broken for one in cited):
        return found(False)
    if any(one.passage is None for one in cited):
        return found(None)
    if len(cited) == 1 and rows:
        # Exact code found the claim in a row of the passage, so the whole passage supports it too.
        return found(True)
    texts = [passage_evidence(one.passage) for one in cited if one.passage is not None]
    several = len(texts) > 1
    whole, *alone = says(texts, *([text] for text in texts if several))
    if not whole or not several:
        return found(whole)
    doubtful = [number for number, said in enumerate(alone) if said is False]
    kept = says(*([*texts[:number], *texts[number + 1 :]] for number in doubtful))
    for number, stays in zip(doubtful, kept, strict=True):
        # ALCE: a passage is irrelevant if it does not entail the claim alone and the others without it do.
        alone[number] = None if stays is None else not stays
    return found(True, alone)


def _grouped(citations: Sequence[Citation], passages: Sequence[Passage]) -> tuple[_Cited, ...]:
    """By passage, in order first cited: a long quote is kept in pieces, a row as its label and cells."""
    known = {passage.chunk.chunk_id: passage for passage in reversed(passages)}
    found: dict[str, _Cited] = {}
    for number, cited in enumerate(citations):
        broken = cited.start < 0
        passage = None if broken else known.get(cited.chunk_id)
        key = f"broken {number}" if broken else cited.chunk_id
        before = found.get(key, _Cited(passage=passage, broken=broken))
        found[key] = msgspec.structs.replace(before, citations=(*before.citations, cited))
    return tuple(found.values())


def _words(cited: _Cited) -> EvidenceText:
    """The cited words alone; of a table row, only the cited cells."""
    assert cited.passage is not None  # noqa: S101 - broken ones are excluded
    text, rows = cited.words, cited.passage.chunk.rows
    whole = passage_evidence(cited.passage)
    lines = [
        line for row, line in zip(rows, whole.lines, strict=False) if _touches(row.start, row.end, cited)
    ]
    return EvidenceText(
        text=text,
        context=whole.context,
        lines=tuple(_cited_cells(line, cited) for line in lines) if rows else lines_of(text),
        source=whole.source,
    )


def _cited_cells(line: TableLine, cited: _Cited) -> TableLine:
    def held(text: str) -> bool:
        return any(text in one.quote for one in cited.citations)

    label = line.label if held(line.label) else ""
    cells = tuple(cell for cell in line.cells if held(cell[0]))
    return msgspec.structs.replace(line, label=label, cells=cells)


def _row_says(claim: Claim, cited: _Cited) -> bool:
    """True if the claim is the label and cells of one row, all cited."""
    rows = cited.passage.chunk.rows if cited.passage is not None else ()
    quotes = [(one.start, one.quote) for one in cited.citations]
    for row in rows:
        if all(row.start <= one.start and one.end <= row.end for one in cited.citations):
            return fold(claim.text).text.strip() in {fold(f).text.strip() for f in row_forms(row, quotes)}
    return False


def _touches(first: int, last: int, cited: _Cited) -> bool:
    return any(first < one.end and one.start < last for one in cited.citations)
