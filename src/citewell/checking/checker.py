"""The check of a draft: every claim bound to exact spans, judged, rolled up, and repaired or refused.

In: a question, a draft and the passages it was written from. Out: :class:`Checked`. In order:

    1. quotes and labels are located; words in quotation marks are quotes too             (BROKEN by name)
    2. each claim is judged against all it cites together; what cites nothing, against everything
    (``post-hoc``)
    3. a claim without support is offered the other passages once, and one that its passage supports but its
       quote does not gets a better span: both noted, and then the citation is ``post-hoc`` (``mend``)
    4. what is still unsupported is taken apart: parts that stand, joined by nothing, are ``synthesised``
    5. the hallucination gap is measured against all passages together, cited or not

A claim's verdict: BROKEN, then CONTRADICTED, then UNCHECKED, then VERIFIED (its citations jointly), then
UNSUPPORTED.
Knows nothing about retrieval, generation or confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from citewell.checking.carrying import quoted_evidence
from citewell.checking.citations import MAKER, Cited, Library
from citewell.checking.outcome import Checked, failure_of, measure_coverage, measure_gap, shown
from citewell.checking.work import (
    Work,
    by_overlap,
    connected,
    drafted_works,
    key_of,
    locate_words,
    passages_of,
    quoted_words,
    status_of,
)
from citewell.claims import split_sentence
from citewell.config import Verification
from citewell.ports import EvidenceStore
from citewell.records import (
    Citation,
    Claim,
    Draft,
    DraftClaim,
    Failure,
    Kind,
    Label,
    Passage,
    Proof,
    Quote,
    Status,
    Verdict,
)
from citewell.verification.evidence import EvidenceText, passage_evidence
from citewell.verification.verbatim import fold
from citewell.verification.verifier import Question, Verifier

Repair = Callable[[DraftClaim, Sequence[Passage]], Sequence[Quote]]
"""Given a claim without support and the passages: other quotes for it, or none."""

_MOST_PASSAGES = 20  # read for one claim; what is left out is noted
_CITED_AFTERWARDS = 3  # passages tried one by one when a claim cites nothing


class Checker:
    """``settings`` holds thresholds, span lengths and the policy for claims without support."""

    def __init__(self, verifier: Verifier, evidence: EvidenceStore, settings: Verification) -> None:
        self._verifier, self._evidence, self._settings = verifier, evidence, settings

    def check(
        self,
        question: str,
        aspects: Sequence[str],
        draft: Draft,
        passages: Sequence[Passage],
        *,
        repair: Repair | None = None,
        mend: bool = True,
        quotations: bool = True,
    ) -> Checked:
        """``quotations`` off leaves words in quotation marks to the entailer. ``mend`` lets a claim that
        its own citation does not support be cited elsewhere (noted); without it, support in another
        passage is reported as misattribution."""
        library = Library(passages, self._evidence)
        notes: list[str] = []
        works = [
            self._located(msgspec.structs.replace(work, quotations=quotations), library)
            for work in drafted_works(draft, library)
        ]
        works = self._judged(question, works, library, notes)
        if repair is not None:
            works = [self._repaired(question, work, library, repair, notes) for work in works]
        works = self._offered(question, works, library, mend, notes)
        works = self._carried(question, works, library, notes) if mend else works
        works = self._taken_apart(works, library)
        entailed = self._entailed(question, works, library)
        claims = tuple(self._claim(work, library) for work in works)
        text, visible = shown(
            draft.text, [work.drafted for work in works], claims, self._settings.unsupported
        )
        claims = tuple(
            msgspec.structs.replace(claim, shown=seen) for claim, seen in zip(claims, visible, strict=True)
        )
        notes += [
            f"{claim.verdict.status.value}: \u201c{claim.text[:120]}\u201d: {claim.verdict.reason}"
            for claim in claims
            if claim.verdict.status is not Status.VERIFIED
        ]
        left_out = [claim for claim in claims if not claim.shown]
        notes += [f"left out of the answer: \u201c{claim.text[:120]}\u201d" for claim in left_out]
        coverage, missing = measure_coverage(aspects, claims, draft.missing)
        return Checked(
            claims=claims,
            shown_text=text,
            coverage=coverage,
            hallucination_gap=measure_gap(claims, entailed),
            missing=tuple(dict.fromkeys((*draft.missing, *missing))),
            notes=tuple(notes),
            failure=failure_of(claims),
        )

    # --- 1. what is cited ---------------------------------------------------------------------------

    def _located(self, work: Work, library: Library) -> Work:
        cited = [library.locate(quote) for quote in work.drafted.quotes]
        if work.quotations:
            named = [c for c in cited if c.passage]
            cited += [locate_words(words, named, library) for words in quoted_words(work.drafted)]
        mode = "generated" if work.drafted.quotes else "post-hoc"
        return msgspec.structs.replace(
            work, cited=tuple(c for c in cited if c.passage or c.broken), mode=mode
        )

    # --- 2. verdicts --------------------------------------------------------------------------------

    def _judged(self, question: str, works: Sequence[Work], library: Library, notes: list[str]) -> list[Work]:
        result: list[Work] = []
        asked: list[tuple[int, Question]] = []
        for index, work in enumerate(works):
            verdict = self._exact(work, library)
            result.append(msgspec.structs.replace(work, verdict=verdict))
            if verdict is None:
                passages = (
                    passages_of(work)
                    if passages_of(work) and not work.broken
                    else self._nearest(work, library, notes)
                )
                asked.append((index, self._question(question, work, passages, library)))
        verdicts = self._verifier.verify_many([item for _, item in asked])
        for (index, _), verdict in zip(asked, verdicts, strict=True):
            result[index] = msgspec.structs.replace(result[index], verdict=verdict)
        return [
            self._cited_afterwards(question, work, library)
            if not passages_of(work)
            and not work.broken
            and status_of(work) in {Status.VERIFIED, Status.CONTRADICTED}
            else work
            for work in result
        ]

    def _exact(self, work: Work, library: Library) -> Verdict | None:
        """A broken citation, or the quotes of one table row that are the claim."""
        if broken := work.broken:
            return Verdict(
                status=Status.BROKEN, reason=broken.broken, maker=MAKER, failure=broken.failure, support=0.0
            )
        quotes = [cited for cited in work.cited if cited.quote.text and cited.spans]
        if not quotes or len(quotes) != len(work.cited) or not (row := library.same_row(quotes)):
            return None
        said = fold(work.drafted.text).text.strip()
        if said not in {
            fold(joiner.join(c.quote.text for c in quotes)).text.strip()
            for joiner in (" \u2026 ", " ", ": ", "\t")
        }:
            return None
        heads = [
            " ".join(cell.head.split())
            for cell in row.cells
            if cell.head
            and any(start <= cell.start and cell.end <= end for c in quotes for start, end in c.spans)
        ]
        under = f" under \u201c{heads[0]}\u201d" if len(heads) == 1 else ""
        return Verdict(
            status=Status.VERIFIED,
            reason=f"label and value stand in one row of the source{under}",
            maker=MAKER,
            label=Label.ENTAILMENT,
            proof=Proof.VERBATIM,
            support=1.0,
        )

    def _question(self, question: str, work: Work, passages: Sequence[Passage], library: Library) -> Question:
        return self._asking(
            question, work, tuple(self._evidence_text(passage, library) for passage in passages)
        )

    def _asking(self, question: str, work: Work, evidence: tuple[EvidenceText, ...]) -> Question:
        return Question(
            claim=work.drafted.text,
            evidence=evidence,
            context=question,
            asked=question if work.fragment else "",
        )

    def _evidence_text(self, passage: Passage, library: Library) -> EvidenceText:
        document = library.document(passage)
        text = passage_evidence(passage, document.text)
        # A caller's short text is told by its words; only a stored document's language is taken at its word.
        language = document.language.value if document.language and not document.caller_supplied else ""
        return msgspec.structs.replace(text, language=language)

    def _nearest(self, work: Work, library: Library, notes: list[str]) -> tuple[Passage, ...]:
        """Every usable passage, or the nearest in words when there are very many."""
        usable = library.usable
        if len(usable) <= _MOST_PASSAGES:
            return usable
        notes.append(
            f"{len(usable) - _MOST_PASSAGES} passages were not read for \u201c{work.drafted.text[:60]}\u201d"
        )
        return by_overlap(work.drafted.text, usable)[:_MOST_PASSAGES]

    def _cited_afterwards(self, question: str, work: Work, library: Library) -> Work:
        """The passage, or the few together, that carried a verdict reached over all of them."""
        near = by_overlap(work.drafted.text, library.usable)[:_MOST_PASSAGES]
        for tried in (near[:_CITED_AFTERWARDS], near[_CITED_AFTERWARDS:]) if len(near) > 1 else ():
            if best := self._carrying(question, work, tried, library):
                near = (best,)
                break
        else:
            near = self._jointly(question, work, near, library)
        cited = [self._bound(work, passage, library) for passage in near]
        return msgspec.structs.replace(work, cited=tuple(c for c in cited if c.spans), mode="post-hoc")

    def _carrying(
        self, question: str, work: Work, passages: Sequence[Passage], library: Library
    ) -> Passage | None:
        """The passage that carries the verdict alone, the surest when several do: words only order them."""
        verdicts = self._verifier.verify_many(
            [self._question(question, work, (passage,), library) for passage in passages]
        )
        verified = status_of(work) is Status.VERIFIED
        same = [
            (-((verdict.support if verified else verdict.contradiction) or 0.0), place)
            for place, verdict in enumerate(verdicts)
            if verdict.status is status_of(work)
        ]
        return passages[min(same)[1]] if same else None

    def _jointly(
        self, question: str, work: Work, passages: tuple[Passage, ...], library: Library
    ) -> tuple[Passage, ...]:
        """As few passages as carry the verdict together."""
        for count in range(2, len(passages)):
            verdict = self._verifier.verify_many([self._question(question, work, passages[:count], library)])[
                0
            ]
            if verdict.status is status_of(work):
                return passages[:count]
        return passages

    # --- 3. repair ----------------------------------------------------------------------------------

    def _repaired(
        self, question: str, work: Work, library: Library, repair: Repair, notes: list[str]
    ) -> Work:
        if status_of(work) is not Status.UNSUPPORTED:
            return work
        cited = tuple(library.locate(quote) for quote in repair(work.drafted, library.usable))
        passages = tuple(c.passage for c in cited if c.passage and not c.broken)
        if not passages or any(c.broken for c in cited):
            notes.append(f"repair found no quote for \u201c{work.drafted.text[:60]}\u201d")
            return work
        verdict = self._verifier.verify_many([self._question(question, work, passages, library)])[0]
        if verdict.status is not Status.VERIFIED:
            notes.append(f"repair did not help \u201c{work.drafted.text[:60]}\u201d: {verdict.reason}")
            return work
        notes.append(f"repaired by another quote: \u201c{work.drafted.text[:60]}\u201d")
        return msgspec.structs.replace(work, cited=cited, verdict=verdict, mode="post-hoc")

    def _offered(
        self, question: str, works: Sequence[Work], library: Library, mend: bool, notes: list[str]
    ) -> list[Work]:
        """Claims that their own citations do not support, tried on the other passages one by one."""
        offers: list[tuple[int, Passage]] = []
        for index, work in enumerate(works):
            if status_of(work) is Status.UNSUPPORTED and passages_of(work):
                own = {passage.chunk.chunk_id for passage in passages_of(work)}
                others = [p for p in library.usable if p.chunk.chunk_id not in own]
                offers += [(index, p) for p in by_overlap(work.drafted.text, others)[:_CITED_AFTERWARDS]]
        verdicts = self._verifier.verify_many(
            [self._question(question, works[index], (passage,), library) for index, passage in offers]
        )
        result = list(works)
        for (index, passage), verdict in zip(offers, verdicts, strict=True):
            work = result[index]
            if (
                verdict.status is not Status.VERIFIED
                or status_of(work) is not Status.UNSUPPORTED
                or work.verdict is None
            ):
                continue
            name, cited_name = passage.chunk.document_id, passages_of(work)[0].chunk.document_id
            if mend:
                notes.append(f"cited {cited_name}, supported by {name}: \u201c{work.drafted.text[:60]}\u201d")
                result[index] = msgspec.structs.replace(
                    work, cited=(self._bound(work, passage, library),), verdict=verdict, mode="post-hoc"
                )
            elif work.verdict.failure is None:
                reason = f"{work.verdict.reason}; {name} supports it, but it cites {cited_name}"
                failed = msgspec.structs.replace(work.verdict, reason=reason, failure=Failure.MISATTRIBUTED)
                result[index] = msgspec.structs.replace(work, verdict=failed)
        return result

    def _carried(
        self, question: str, works: Sequence[Work], library: Library, notes: list[str]
    ) -> list[Work]:
        """Claims that their passage supports, but not the words that were quoted from it: a better span."""
        weak = [
            (index, quoted_evidence(work.cited, library))
            for index, work in enumerate(works)
            if status_of(work) is Status.VERIFIED
            and any(cited.quote.text and cited.spans for cited in work.cited)
            and self._exact(work, library) is None
        ]
        asked = [self._asking(question, works[index], evidence) for index, evidence in weak]
        result = list(works)
        for (index, evidence), verdict in zip(weak, self._verifier.verify_many(asked), strict=True):
            if verdict.status is Status.VERIFIED:
                continue
            work = result[index]
            better = tuple(self._bound(work, passage, library) for passage in passages_of(work))
            better = tuple(cited for cited in better if cited.spans)
            if better and quoted_evidence(better, library) != evidence:
                notes.append(f"another span than the quoted one carries \u201c{work.drafted.text[:60]}\u201d")
                result[index] = msgspec.structs.replace(work, cited=better, mode="post-hoc")
        return result

    # --- 4. and 5. ----------------------------------------------------------------------------------

    def _taken_apart(self, works: Sequence[Work], library: Library) -> list[Work]:
        """Every part supported, the whole by nothing: the connection is the writer's own."""
        result = list(works)
        for index, work in enumerate(works):
            if status_of(work) is not Status.UNSUPPORTED or work.verdict is None or work.verdict.failure:
                continue
            parts = [part.text for part in split_sentence(work.drafted.text)]
            parts = parts if len(parts) > 1 else connected(work.drafted.text)
            if len(parts) < 2:
                continue
            evidence = tuple(
                self._evidence_text(p, library)
                for p in by_overlap(work.drafted.text, library.usable)[:_MOST_PASSAGES]
            )
            verdicts = self._verifier.verify_many([Question(claim=part, evidence=evidence) for part in parts])
            if all(verdict.status is Status.VERIFIED for verdict in verdicts):
                failed = msgspec.structs.replace(
                    work.verdict, failure=Failure.SYNTHESISED,
                    reason="its parts are supported, but no source connects them so",
                )  # fmt: skip
                result[index] = msgspec.structs.replace(work, verdict=failed)
        return result

    def _entailed(self, question: str, works: Sequence[Work], library: Library) -> list[bool | None]:
        """For each claim: do all passages together, cited or not, support it? None where nothing could
        tell."""
        entailed: list[bool | None] = []
        open_ones: list[int] = []
        for index, work in enumerate(works):
            status = status_of(work)
            entailed.append(
                True if status is Status.VERIFIED else None if status is Status.UNCHECKED else False
            )
            read = {p.chunk.chunk_id for p in passages_of(work)}
            all_read = not work.broken and (not read or {p.chunk.chunk_id for p in library.usable} <= read)
            if entailed[-1] is False and not all_read:
                open_ones.append(index)
        questions = [
            self._question(
                question,
                works[i],
                by_overlap(works[i].drafted.text, library.usable)[:_MOST_PASSAGES],
                library,
            )
            for i in open_ones
        ]
        for index, verdict in zip(open_ones, self._verifier.verify_many(questions), strict=True):
            unchecked = verdict.status is Status.UNCHECKED
            entailed[index] = None if unchecked else verdict.status is Status.VERIFIED
        return entailed

    # --- the claim ----------------------------------------------------------------------------------

    def _bound(self, work: Work, passage: Passage, library: Library) -> Cited:
        return library.bound(
            work.drafted.text,
            passage,
            self._settings,
            lambda texts: self._verifier.scores(work.drafted.text, texts),
        )

    def _claim(self, work: Work, library: Library) -> Claim:
        assert work.verdict is not None  # noqa: S101 - every claim was judged or broken
        cited = [
            self._bound(work, c.passage, library) if c.passage and not c.spans and not c.broken else c
            for c in work.cited
        ]
        citations: list[Citation] = []
        for one in dict.fromkeys(key_of(c) for c in cited):
            chosen = next(c for c in cited if key_of(c) == one)
            citations += library.citations(chosen, work.drafted, work.verdict, self._settings, mode=work.mode)
        kind = work.drafted.kind
        if kind is not Kind.INFERENCE:
            kind = Kind.CITED if citations else Kind.UNSUPPORTED
        return Claim(
            text=work.drafted.text, kind=kind, answer_start=work.drafted.start, answer_end=work.drafted.end,
            verdict=work.verdict, citations=tuple(citations), aspect=work.drafted.aspect,
            answers=work.drafted.answers, reasoning=work.drafted.reasoning,
        )  # fmt: skip
