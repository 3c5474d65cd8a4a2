"""The check of a draft: every claim bound to exact spans, judged, rolled up, and repaired or refused.

In: a question, a draft and the passages it was written from. Out: :class:`Checked`. In order:

    1. quotes and labels are located; words in quotation marks are quotes too             (BROKEN by name)
    2. each claim is judged against all it cites together; what cites nothing, against
       everything (:mod:`citewell.verification.checking.judging`) (``post-hoc``)
    3. a claim without support is offered the other passages once, and one that its passage supports but
       its quote does not gets a better span, both noted (:mod:`citewell.verification.checking.repair`)
       (``post-hoc``)
    4. what is still unsupported is taken apart: parts that stand, joined by nothing      (``synthesised``)
    5. the hallucination gap is measured against all passages together, cited or not

A claim's verdict: BROKEN, then CONTRADICTED, then UNCHECKED, then VERIFIED (its citations jointly), then
UNSUPPORTED.
Knows nothing about retrieval, generation or confidence.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.config import Verification
from citewell.core.ports import EvidenceStore, Requote
from citewell.core.records import (
    Citation,
    Claim,
    Draft,
    Kind,
    Passage,
    Status,
)
from citewell.verification.checking.citations import Library
from citewell.verification.checking.claim_state import (
    Work,
    drafted_works,
    key_of,
    locate_words,
    quoted_words,
)
from citewell.verification.checking.judging import Judging
from citewell.verification.checking.outcome import Checked, failure_of, measure_coverage, measure_gap, shown
from citewell.verification.checking.repair import carried, offered, taken_apart
from citewell.verification.verifier import Verifier


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
        mend: bool = True,
        quotations: bool = True,
    ) -> Checked:
        """``quotations`` off leaves words in quotation marks to the entailer. ``mend`` lets a claim that
        its own citation does not support be cited elsewhere (noted); without it, support in another
        passage is reported as misattribution."""
        library = Library(passages, self._evidence)
        judging = Judging(
            question=question, library=library, verifier=self._verifier, settings=self._settings
        )
        works = [
            self._located(msgspec.structs.replace(work, quotations=quotations), library)
            for work in drafted_works(draft, library)
        ]
        works = judging.judged(works)
        works = offered(judging, works, mend=mend)
        works = carried(judging, works) if mend else works
        works = taken_apart(judging, works)
        entailed = judging.entailed(works)
        claims = tuple(self._claim(work, judging) for work in works)
        text, visible = shown(
            draft.text, [work.drafted for work in works], claims, self._settings.unsupported
        )
        claims = tuple(
            msgspec.structs.replace(claim, shown=seen) for claim, seen in zip(claims, visible, strict=True)
        )
        notes = [
            *judging.notes,
            *(
                f"{claim.verdict.status.value}: \u201c{claim.text[:120]}\u201d: {claim.verdict.reason}"
                for claim in claims
                if claim.verdict.status is not Status.VERIFIED
            ),
            *(
                f"left out of the answer: \u201c{claim.text[:120]}\u201d"
                for claim in claims
                if not claim.shown
            ),
        ]
        coverage, missing = measure_coverage(aspects, claims, draft.missing)
        return Checked(
            claims=claims,
            shown_text=text,
            coverage=coverage,
            hallucination_gap=measure_gap(claims, entailed),
            missing=tuple(dict.fromkeys((*draft.missing, *missing))),
            notes=tuple(notes),
            failure=failure_of(claims),
            requotable=_requotable(judging, works, entailed) if mend else (),
        )

    def _located(self, work: Work, library: Library) -> Work:
        cited = [library.locate(quote) for quote in work.drafted.quotes]
        if work.quotations:
            named = [c for c in cited if c.passage]
            cited += [locate_words(words, named, library) for words in quoted_words(work.drafted)]
        mode = "generated" if work.drafted.quotes else "post-hoc"
        return msgspec.structs.replace(
            work, cited=tuple(c for c in cited if c.passage or c.broken), mode=mode
        )

    def _claim(self, work: Work, judging: Judging) -> Claim:
        assert work.verdict is not None  # noqa: S101 - every claim was judged or broken
        cited = [
            judging.bound(work, c.passage) if c.passage and not c.spans and not c.broken else c
            for c in work.cited
        ]
        citations: list[Citation] = []
        for one in dict.fromkeys(key_of(c) for c in cited):
            chosen = next(c for c in cited if key_of(c) == one)
            citations += judging.library.citations(
                chosen, work.drafted, work.verdict, self._settings, mode=work.mode
            )
        kind = work.drafted.kind
        if kind is not Kind.INFERENCE:
            kind = Kind.CITED if citations else Kind.UNSUPPORTED
        return Claim(
            text=work.drafted.text, kind=kind, answer_start=work.drafted.start, answer_end=work.drafted.end,
            verdict=work.verdict, citations=tuple(citations), aspect=work.drafted.aspect,
            answers=work.drafted.answers, reasoning=work.drafted.reasoning,
            antecedent=work.drafted.antecedent,
        )  # fmt: skip


def _requotable(
    judging: Judging, works: Sequence[Work], entailed: Sequence[bool | None]
) -> tuple[Requote, ...]:
    """Claims that failed by their quote alone, each with words of a passage that carry it."""
    return tuple(
        Requote(claim=work.drafted.text, quote=quote)
        for work, held in zip(works, entailed, strict=True)
        if held and work.broken and work.broken.failure and (quote := judging.words_for(work))
    )
