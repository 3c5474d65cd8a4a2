"""Judge the claims of a draft: by exact code where that is decisive, else by the verifier.

In: the claims of one draft, each with its citations. Out: the same claims with verdicts; a claim without
citations is judged against everything and cited afterwards, by entailment, never by word overlap.
Independent of repair.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from citewell.core.config import Verification
from citewell.core.errors import EvidenceError
from citewell.core.records import (
    Cell,
    Draft,
    DraftClaim,
    Kind,
    Label,
    Passage,
    Proof,
    Quote,
    Record,
    Row,
    Status,
    Verdict,
)
from citewell.questions.calculator import calculator
from citewell.questions.naming import calendar, head_fit
from citewell.questions.parsing import read_question, yes_or_no
from citewell.questions.periods import periods_in, year_before, years_meant
from citewell.questions.rows import differing_cell, is_value, row_forms, text_of
from citewell.verification.binding import bind
from citewell.verification.checking.citations import MAKER, Library, ResolvedCitation, places_of
from citewell.verification.claims import parse_answer
from citewell.verification.evidence import ClaimEvidence, EvidenceText
from citewell.verification.verbatim import fold
from citewell.verification.verifier import Verifier, proven
from citewell.verification.words import overlap

_QUOTED = re.compile(r"[\u201c\u00ab]([^\u201c\u201d\u00ab\u00bb]+)[\u201d\u00bb]|\"([^\"]+)\"")
_QUOTED_WORDS = 4  # fewer words in quotation marks are a title or a term, not a quotation


class ClaimState(Record, frozen=True, kw_only=True):
    """One claim being checked."""

    drafted: DraftClaim
    cited: tuple[ResolvedCitation, ...]
    verdict: Verdict | None = None
    mode: str = "generated"

    @property
    def broken(self) -> ResolvedCitation | None:
        return next((cited for cited in self.cited if cited.broken), None)


def _refused(reason: str) -> Verdict:
    return Verdict(status=Status.UNSUPPORTED, reason=reason, maker=MAKER, label=Label.NEUTRAL, support=0.0)


def check_arithmetic(claim: DraftClaim, cited: Sequence[ResolvedCitation], question: str) -> Verdict | None:
    """Verdict on an arithmetic inference, recalculated from question, claim and cited cells alone, whoever
    wrote it; None for any other claim."""
    if claim.kind is not Kind.INFERENCE or not claim.reasoning:
        return None
    wrong = calculator().recalculated(claim, question, places_of(cited))
    if wrong is None:
        return None
    reason = f"recalculated from the cited cells: {claim.reasoning}"
    return _refused(wrong) if wrong else proven(Proof.COMPUTED, reason, MAKER)


def drafted_states(draft: Draft, library: Library) -> list[ClaimState]:
    """The draft's own claims, or those parsed from its text if the writer listed none."""
    if draft.claims:
        return [ClaimState(drafted=claim, cited=()) for claim in draft.claims]
    ids = [*(p.chunk.document_id for p in library.passages), *(p.chunk.chunk_id for p in library.passages)]
    parsed = parse_answer(draft.text, list(dict.fromkeys(ids)))
    return [
        ClaimState(
            drafted=DraftClaim(
                text=claim.text, start=claim.start, end=claim.end,
                quotes=tuple(Quote(source=label) for label in claim.labels),
                kind=Kind.INFERENCE if claim.inference else Kind.CITED, antecedent=claim.antecedent,
                fragment=claim.fragment,
            ),
            cited=(),
        )
        for claim in parsed.claims
    ]  # fmt: skip


def quoted_words(claim: DraftClaim) -> list[str]:
    """Words in quotation marks, long enough to be a quotation, that are not among the claim's quotes."""
    known = {fold(quote.text).text.strip() for quote in claim.quotes}
    found = [match[1] or match[2] for match in _QUOTED.finditer(claim.text)]
    return [
        words
        for words in found
        if len(words.split()) >= _QUOTED_WORDS and fold(words).text.strip() not in known
    ]


def locate_words(words: str, cited: Sequence[ResolvedCitation], library: Library) -> ResolvedCitation:
    """Locate words in quotation marks in a cited passage's document; broken, with the reason, if absent."""
    passages = [c.passage for c in cited if c.passage] or library.usable
    # Closing punctuation belongs to the sentence around the quotation, not to the quotation.
    bare = words.strip().rstrip(".,;:!?")
    names = dict.fromkeys(passage.chunk.chunk_id for passage in passages)
    found = [library.locate(Quote(source=name, text=bare)) for name in names]
    if held := next((one for one in found if not one.broken), None):
        return held
    if not found:
        missing = "there is no source that could contain them"
        found = [ResolvedCitation(quote=Quote(source="", text=""), passage=None, broken=missing)]
    first = found[0]
    broken = f"\u201c{bare[:80]}\u201d: {first.broken}"
    return msgspec.structs.replace(first, quote=Quote(source=first.quote.source, text=words), broken=broken)


_CONNECTIVE = re.compile(
    r",?(?<!\s)\s+(?:because(?: of)?|therefore|so that|which (?:led|caused|resulted)(?: to| in)?|"
    r"as a result(?: of)?|due to|"
    r"leading to|resulting in|thanks to|in order to|since|after|while|although)\s+",
    re.IGNORECASE,
)


def split_connection(text: str) -> list[str]:
    """The two sides of a stated connection, if each has at least three words; else []."""
    match = _CONNECTIVE.search(text)
    if not match:
        return []
    sides = [text[: match.start()].strip(), text[match.end() :].strip()]
    return sides if all(len(side.split()) >= 3 for side in sides) else []


def passages_of(state: ClaimState) -> tuple[Passage, ...]:
    return tuple(passage for passage, _ in places_of(state.cited))


def rank_by_overlap(claim: str, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Highest word overlap first; ties keep their order."""
    return tuple(sorted(passages, key=lambda p: -overlap(claim, p.chunk.content)))


def status_of(state: ClaimState) -> Status | None:
    return state.verdict.status if state.verdict else None


def citation_key(cited: ResolvedCitation) -> tuple[str, tuple[tuple[int, int], ...], str]:
    return (cited.passage.chunk.chunk_id if cited.passage else cited.quote.source, cited.spans, cited.broken)


MOST_PASSAGES = 20  # read for one claim; omissions are noted
_OPEN = re.compile(
    r"\b(?:since|after|before|until|prior|previous|preceding|last|past|years|each|every)\b", re.IGNORECASE
)
"""Words with which a question refers to more periods than it names."""
CITED_AFTERWARDS = 3  # passages tried one by one when a claim cites nothing


@dataclass(frozen=True, kw_only=True)
class Judging:
    """One check: the question, what may be cited, the verifier. ``notes`` collects what must be reported."""

    question: str
    library: Library
    verifier: Verifier
    settings: Verification
    notes: list[str] = field(default_factory=list)

    def judge(self, states: Sequence[ClaimState]) -> list[ClaimState]:
        """Each claim with its verdict against all its citations together."""
        result: list[ClaimState] = []
        asked: list[tuple[int, ClaimEvidence]] = []
        for index, state in enumerate(states):
            verdict = self.exact(state)
            result.append(msgspec.structs.replace(state, verdict=verdict))
            if verdict is None:
                passages = (
                    passages_of(state) if passages_of(state) and not state.broken else self.nearest(state)
                )
                asked.append((index, self.evidence_for(state, passages)))
        verdicts = self.verifier.verify_many([item for _, item in asked])
        for (index, _), verdict in zip(asked, verdicts, strict=True):
            result[index] = msgspec.structs.replace(result[index], verdict=verdict)
        return [
            self._cited_afterwards(state)
            if not passages_of(state)
            and not state.broken
            and status_of(state) in {Status.VERIFIED, Status.CONTRADICTED}
            else state
            for state in result
        ]

    def exact(self, state: ClaimState) -> Verdict | None:
        """Verdict on a broken citation, arithmetic over cited cells, or a claim quoted from one table row."""
        if broken := state.broken:
            return Verdict(
                status=Status.BROKEN, reason=broken.broken, maker=MAKER, failure=broken.failure, support=0.0
            )
        if verdict := check_arithmetic(state.drafted, state.cited, self.question):
            return verdict
        quotes = [cited for cited in state.cited if cited.quote.text and cited.spans]
        if not quotes or len(quotes) != len(state.cited) or not (held := self.library.same_row(quotes)):
            return None
        passage, row = held
        forms = row_forms(row, [(cited.spans[0][0], cited.quote.text) for cited in quotes])
        if fold(state.drafted.text).text.strip() not in {fold(form).text.strip() for form in forms}:
            return None
        told = [
            cell
            for cell in row.cells
            if any(start <= cell.start and cell.end <= end for c in quotes for start, end in c.spans)
        ]
        if other := self._of_another(told, row, passage):
            return _refused(other)
        heads = [" ".join(cell.head.split()) for cell in told if cell.head]
        under = f" under \u201c{heads[0]}\u201d" if len(heads) == 1 else ""
        return proven(Proof.VERBATIM, f"label and value are in the same row of the source{under}", MAKER)

    def _of_another(self, told: Sequence[Cell], row: Row, passage: Passage) -> str:
        """Why the row has another key, or a number of the ``told`` cells another period, than asked, or "".

        A period counts only if a cell of the row is under one the question names: a year in no head may be
        part of a name ("the 2025 Notes"). Asking for a change, an average or a ratio asks for the year
        before as well."""
        values = [text_of(passage, cell.start, cell.end).strip() for cell in told]
        key = differing_cell(self.question, passage, row)
        if key and key not in values:
            return f"the row is for \u201c{key}\u201d, but the question asks for another"
        wanted = read_question(self.question)
        if not wanted.periods or _OPEN.search(self.question):
            return ""
        asked = years_meant(self.question, wanted.periods)
        if wanted.changes or wanted.average or wanted.formulae:
            asked += [year_before(period) for period in asked]
        known = calendar(passage.chunk)

        def fits(cell: Cell) -> bool:
            return any(head_fit(cell.head, period, known) > 0 for period in asked)

        if not any(map(fits, row.cells)):
            return ""
        for cell, value in zip(told, values, strict=True):
            found = periods_in(cell.head)
            if is_value(value) and len(found) == 1 and not fits(cell):
                return f"{value} is for {found[0].name}, but the question asks for {wanted.periods[0].name}"
        return ""

    def evidence_for(self, state: ClaimState, passages: Sequence[Passage]) -> ClaimEvidence:
        """The query for the verifier: do these passages together entail the claim?"""
        return self.evidence_from(state, tuple(self.library.evidence(passage) for passage in passages))

    def evidence_from(self, state: ClaimState, evidence: tuple[EvidenceText, ...]) -> ClaimEvidence:
        """The same for texts other than whole passages."""
        return ClaimEvidence(
            claim=state.drafted.text,
            evidence=evidence,
            context=self.question,
            asked=self.question if state.drafted.fragment else "",
            antecedent=state.drafted.antecedent,
        )

    def nearest(self, state: ClaimState) -> tuple[Passage, ...]:
        """Every usable passage, or those with the highest word overlap if there are too many."""
        usable = self.library.usable
        if len(usable) <= MOST_PASSAGES:
            return usable
        self.notes.append(
            f"{len(usable) - MOST_PASSAGES} passages were not read for \u201c{state.drafted.text[:60]}\u201d"
        )
        return self.closest(state)

    def bind_passage(self, state: ClaimState, passage: Passage) -> ResolvedCitation:
        """The spans of ``passage`` that support the claim; none if it shares no word with it."""
        chunk, claim = passage.chunk, self._words(state)
        quote = Quote(source=chunk.chunk_id)
        try:
            document = self.library.document(passage)
        except EvidenceError as error:
            return ResolvedCitation(quote=quote, passage=passage, broken=str(error))
        spans = bind(
            claim,
            document.text,
            start=chunk.start_offset,
            end=chunk.end_offset,
            rows=chunk.rows,
            context=chunk.context,
            score=lambda texts: self.verifier.scores(claim, texts),
            min_tokens=self.settings.min_span_tokens,
            max_tokens=self.settings.max_span_tokens,
        )
        return ResolvedCitation(quote=quote, passage=passage, spans=spans)

    def supporting_quote(self, state: ClaimState) -> Quote | None:
        """The words of one passage that support the claim; None if no single passage does."""
        passage = self._carrying(state, self.closest(state)[:CITED_AFTERWARDS], Status.VERIFIED)
        spans = self.bind_passage(state, passage).spans if passage else ()
        if not passage or not spans:
            return None
        start, end = spans[0]
        words = self.library.document(passage).text[start:end]
        return Quote(source=passage.chunk.chunk_id, text=words, start=start, end=end)

    def _cited_afterwards(self, state: ClaimState) -> ClaimState:
        """Cite the passage, or the few together, that account for a verdict reached over all of them."""
        near = self.closest(state)
        for tried in (near[:CITED_AFTERWARDS], near[CITED_AFTERWARDS:]) if len(near) > 1 else ():
            if best := self._carrying(state, tried, status_of(state)):
                near = (best,)
                break
        else:
            near = self._jointly(state, near)
        cited = [self.bind_passage(state, passage) for passage in near]
        return msgspec.structs.replace(state, cited=tuple(c for c in cited if c.spans), mode="post-hoc")

    def _carrying(
        self, state: ClaimState, passages: Sequence[Passage], status: Status | None
    ) -> Passage | None:
        """The passage that alone yields the verdict, the most confident if several do."""
        verdicts = self.verifier.verify_many([self.evidence_for(state, (passage,)) for passage in passages])
        verified = status is Status.VERIFIED
        same = [
            (-((verdict.support if verified else verdict.contradiction) or 0.0), place)
            for place, verdict in enumerate(verdicts)
            if verdict.status is status
        ]
        return passages[min(same)[1]] if same else None

    def _jointly(self, state: ClaimState, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """The shortest prefix of ``passages`` that together yields the verdict."""
        for count in range(2, len(passages)):
            verdict = self.verifier.verify_many([self.evidence_for(state, passages[:count])])[0]
            if verdict.status is status_of(state):
                return passages[:count]
        return passages

    def entailed(self, states: Sequence[ClaimState]) -> list[bool | None]:
        """For each claim: do all passages together, cited or not, support it? None if unchecked."""
        entailed: list[bool | None] = []
        open_ones: list[int] = []
        for index, state in enumerate(states):
            status = status_of(state)
            entailed.append(
                True if status is Status.VERIFIED else None if status is Status.UNCHECKED else False
            )
            read = {p.chunk.chunk_id for p in passages_of(state)}
            all_read = not state.broken and (
                not read or {p.chunk.chunk_id for p in self.library.usable} <= read
            )
            if entailed[-1] is False and not all_read:
                open_ones.append(index)
        questions = [self.evidence_for(states[i], self.closest(states[i])) for i in open_ones]
        for index, verdict in zip(open_ones, self.verifier.verify_many(questions), strict=True):
            unchecked = verdict.status is Status.UNCHECKED
            entailed[index] = None if unchecked else verdict.status is Status.VERIFIED
        return entailed

    def closest(self, state: ClaimState) -> tuple[Passage, ...]:
        """The MOST_PASSAGES usable passages with the highest word overlap."""
        return rank_by_overlap(self._words(state), self.library.usable)[:MOST_PASSAGES]

    def _words(self, state: ClaimState) -> str:
        """The words to look for: the claim's, or for a bare yes or no those of the question."""
        said = state.drafted.text
        return self.question if state.drafted.fragment and yes_or_no(said, self.question) else said
