"""Who supports a claim: its cited passages together, each of them, and the cited words alone.

The first two as Gao et al. 2023 (ALCE, "Enabling Large Language Models to Generate Text with Citations"): do
all cited passages together entail the claim; if so, is each of them needed, that is, does it entail the claim
alone or is the claim lost without it? The judge is the configured verifier. Knows nothing about averages.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.records import Citation, Claim, Passage, Record, Status
from citewell.evaluation.judging import ClaimSupport, Observed
from citewell.questions.rows import row_forms
from citewell.verification.claims import parse_answer
from citewell.verification.evidence import ClaimEvidence, EvidenceText, TableLine, lines_of, passage_evidence
from citewell.verification.verbatim import fold
from citewell.verification.verifier import Verifier


class _Cited(Record, frozen=True, kw_only=True):
    """A claim's citations of one passage. ``passage`` is None for a broken one, and for one that is not among
    the passages that came with the answer: what it says cannot be judged."""

    passage: Passage | None
    broken: bool
    spans: tuple[tuple[int, int], ...] = ()
    quotes: tuple[str, ...] = ()


def judge(question: str, observed: Observed, verifier: Verifier) -> tuple[ClaimSupport, ...]:
    """One for each claim of ``observed.stated``. The verifier is asked twice: for all claims, then for what
    is left when a passage is taken away where it was not enough alone."""
    works = [_Work(question, claim, observed.passages) for claim in observed.stated]
    _ask(works, verifier, [(work, key) for work in works for key in work.first()])
    _ask(works, verifier, [(work, key) for work in works for key in work.second()])
    return tuple(work.support() for work in works)


Which = tuple[str, int]
"""("whole", 0), or ("alone" | "without" | "span", the number of the cited passage)."""


class _Work:
    """One claim, what was asked of it, and what was said."""

    def __init__(self, question: str, claim: Claim, passages: Sequence[Passage]) -> None:
        self.claim, self.question = claim, question
        self.cited = _grouped(claim.citations, passages)
        self.sound = bool(self.cited) and not any(one.broken for one in self.cited)
        self.said: dict[Which, bool | None] = {}
        parsed = parse_answer(claim.text).claims
        self.asked = question if any(one.fragment for one in parsed) else ""

    def first(self) -> list[Which]:
        wanted: list[Which] = []
        if self.sound and all(one.passage is not None for one in self.cited):
            wanted.append(("whole", 0))
            if len(self.cited) > 1:
                wanted += [("alone", number) for number in range(len(self.cited))]
        for number, one in enumerate(self.cited):
            if one.passage is not None and any(quote.strip() for quote in one.quotes):
                if _row_says(self.claim, one):
                    self.said["span", number] = True
                else:
                    wanted.append(("span", number))
        if len(self.cited) == 1 and self.said.get(("span", 0)):
            # Exact code found the claim in a row of the passage; the whole of it cannot hold less.
            self.said["whole", 0] = True
            wanted.remove(("whole", 0))
        return wanted

    def second(self) -> list[Which]:
        if len(self.cited) < 2 or not self.said.get(("whole", 0)):
            return []
        if len(self.cited) == 2:
            self.said |= {("without", n): self.said["alone", 1 - n] for n in (0, 1)}
            return []
        return [("without", n) for n in range(len(self.cited)) if self.said["alone", n] is False]

    def ask(self, which: Which) -> ClaimEvidence:
        kind, number = which
        cited = list(self.cited)
        if kind == "span":
            return self._question([_words(cited[number])])
        if kind == "alone":
            cited = [cited[number]]
        elif kind == "without":
            del cited[number]
        return self._question([passage_evidence(one.passage) for one in cited if one.passage is not None])

    def _question(self, evidence: Sequence[EvidenceText]) -> ClaimEvidence:
        return ClaimEvidence(
            claim=self.claim.text,
            evidence=tuple(evidence),
            context=self.question,
            asked=self.asked,
            antecedent=self.claim.antecedent,
        )

    def support(self) -> ClaimSupport:
        whole = self.said.get(("whole", 0)) if self.sound else False
        numbers = range(len(self.cited))
        return ClaimSupport(
            whole=whole,
            needed=tuple(self._needed(number, whole) for number in numbers),
            spans=tuple(
                self.said.get(("span", number), False) if one.broken or one.passage else None
                for number, one in enumerate(self.cited)
            ),
        )

    def _needed(self, number: int, whole: bool | None) -> bool | None:
        """ALCE: it counts when the claim is entailed and it is not irrelevant (alone it does not entail, and
        the others without it do)."""
        if not whole or len(self.cited) == 1:
            return whole
        alone = self.said["alone", number]
        if alone is not False:
            return alone
        without = self.said["without", number]
        return None if without is None else not without


def _ask(works: Sequence[_Work], verifier: Verifier, wanted: Sequence[tuple[_Work, Which]]) -> None:
    verdicts = verifier.verify_many([work.ask(which) for work, which in wanted])
    for (work, which), verdict in zip(wanted, verdicts, strict=True):
        unchecked = verdict.status is Status.UNCHECKED
        work.said[which] = None if unchecked else verdict.status is Status.VERIFIED


def _grouped(citations: Sequence[Citation], passages: Sequence[Passage]) -> tuple[_Cited, ...]:
    """By passage, in the order first cited: a long quote is kept in pieces, a row by its label and cell."""
    known = {passage.chunk.chunk_id: passage for passage in reversed(passages)}
    found: dict[str, _Cited] = {}
    for number, cited in enumerate(citations):
        broken = cited.start < 0
        passage = None if broken else known.get(cited.chunk_id)
        key = f"broken {number}" if broken else cited.chunk_id
        before = found.get(key, _Cited(passage=passage, broken=broken))
        found[key] = msgspec.structs.replace(
            before,
            spans=(*before.spans, (cited.start, cited.end)),
            quotes=(*before.quotes, cited.quote),
        )
    return tuple(found.values())


def _words(cited: _Cited) -> EvidenceText:
    """The cited words alone; of a table row, the cells that are cited."""
    assert cited.passage is not None  # noqa: S101 - broken ones are not asked about
    text, rows = "\n".join(cited.quotes), cited.passage.chunk.rows
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
        return any(text in quote for quote in cited.quotes)

    label = line.label if held(line.label) else ""
    cells = tuple(cell for cell in line.cells if held(cell[0]))
    return msgspec.structs.replace(line, label=label, cells=cells)


def _row_says(claim: Claim, cited: _Cited) -> bool:
    """The claim is the label and cells of one row, all cited."""
    rows = cited.passage.chunk.rows if cited.passage is not None else ()
    quotes = [(start, quote) for (start, _), quote in zip(cited.spans, cited.quotes, strict=True)]
    for row in rows:
        if all(row.start <= start and end <= row.end for start, end in cited.spans):
            return fold(claim.text).text.strip() in {fold(f).text.strip() for f in row_forms(row, quotes)}
    return False


def _touches(first: int, last: int, cited: _Cited) -> bool:
    return any(first < end and start < last for start, end in cited.spans)
