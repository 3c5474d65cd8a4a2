"""A claim without support, offered another passage or a better span; what is left is named.

In: judged claims. Out: the same, some with other citations (``post-hoc``), some named as misattributed or
synthesised. What is cited anew was judged anew; every change is noted. Knows nothing about how it is judged.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from citewell.core.records import Failure, Passage, Status
from citewell.verification.checking.carrying import quoted_evidence
from citewell.verification.checking.claim_state import Work, by_overlap, connected, passages_of, status_of
from citewell.verification.checking.judging import CITED_AFTERWARDS, Judging
from citewell.verification.claims import split_sentence
from citewell.verification.evidence import ClaimEvidence


def offered(judging: Judging, works: Sequence[Work], *, mend: bool) -> list[Work]:
    """Claims that their own citations do not support, tried on the other passages one by one."""
    offers: list[tuple[int, Passage]] = []
    for index, work in enumerate(works):
        if status_of(work) is Status.UNSUPPORTED and passages_of(work):
            own = {passage.chunk.chunk_id for passage in passages_of(work)}
            others = [p for p in judging.library.usable if p.chunk.chunk_id not in own]
            offers += [(index, p) for p in by_overlap(work.drafted.text, others)[:CITED_AFTERWARDS]]
    verdicts = judging.verifier.verify_many(
        [judging.of(works[index], (passage,)) for index, passage in offers]
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
            judging.notes.append(
                f"the draft cited {cited_name}, but {name} supports it: \u201c{work.drafted.text[:60]}\u201d"
            )
            result[index] = msgspec.structs.replace(
                work, cited=(judging.bound(work, passage),), verdict=verdict, mode="post-hoc"
            )
        elif work.verdict.failure is None:
            reason = f"{work.verdict.reason}; {name} supports it, but the answer cites {cited_name}"
            failed = msgspec.structs.replace(work.verdict, reason=reason, failure=Failure.MISATTRIBUTED)
            result[index] = msgspec.structs.replace(work, verdict=failed)
    return result


def carried(judging: Judging, works: Sequence[Work]) -> list[Work]:
    """Claims that their passage supports, but not the words that were quoted from it: a better span."""
    weak = [
        (index, quoted_evidence(work.cited, judging.library))
        for index, work in enumerate(works)
        if status_of(work) is Status.VERIFIED
        and any(cited.quote.text and cited.spans for cited in work.cited)
        and judging.exact(work) is None
    ]
    asked = [judging.by(works[index], evidence) for index, evidence in weak]
    result = list(works)
    for (index, evidence), verdict in zip(weak, judging.verifier.verify_many(asked), strict=True):
        if verdict.status is Status.VERIFIED:
            continue
        work = result[index]
        better = tuple(judging.bound(work, passage) for passage in passages_of(work))
        better = tuple(cited for cited in better if cited.spans)
        if better and quoted_evidence(better, judging.library) != evidence:
            judging.notes.append(
                f"another passage than the quoted one supports \u201c{work.drafted.text[:60]}\u201d"
            )
            result[index] = msgspec.structs.replace(work, cited=better, mode="post-hoc")
    return result


def taken_apart(judging: Judging, works: Sequence[Work]) -> list[Work]:
    """Every part supported, the whole by nothing: the connection is the writer's own."""
    result = list(works)
    for index, work in enumerate(works):
        if status_of(work) is not Status.UNSUPPORTED or work.verdict is None or work.verdict.failure:
            continue
        parts = [part.text for part in split_sentence(work.drafted.text)]
        parts = parts if len(parts) > 1 else connected(work.drafted.text)
        if len(parts) < 2:
            continue
        evidence = judging.of(work, judging.closest(work)).evidence
        # A later part leans on what its own claim has said so far ("Its rival Beta grew because it ...").
        said = [" ".join((work.drafted.antecedent, *parts[:at])).strip() for at in range(len(parts))]
        verdicts = judging.verifier.verify_many(
            [
                ClaimEvidence(claim=part, evidence=evidence, antecedent=before)
                for part, before in zip(parts, said, strict=True)
            ]
        )
        if all(verdict.status is Status.VERIFIED for verdict in verdicts):
            failed = msgspec.structs.replace(
                work.verdict, failure=Failure.SYNTHESISED,
                reason="its parts are supported, but no source connects them this way",
            )  # fmt: skip
            result[index] = msgspec.structs.replace(work, verdict=failed)
    return result
