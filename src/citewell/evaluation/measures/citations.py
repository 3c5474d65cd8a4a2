"""How often citations hold: ALCE's two measures on passages, ours on the cited words, and what is broken.

In: judged answers. Out: measures. ``alce_*`` as Gao et al. 2023 define and compute them: the mean over
answers of the share of claims whose cited passages together entail them; and of the share of citations that
belong to such a claim and are not irrelevant to it. An answer whose claims cite nothing has recall and
precision 0 there, as in ALCE; an answer that was withheld has neither; one of which a part could not be
judged is unscored. ``citation_*`` count over all claims and citations. The judge is the verifier, which is
not the model that ALCE used: figures compare within one judge.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.records import Citation, Failure, Status
from citewell.evaluation.measures.measure import NOT_ASKED, Judge, Measure, many, one
from citewell.evaluation.observed import Judged
from citewell.evaluation.results import Score

UNJUDGED = "the verifier could not judge"
_BY_SUPPORT = (Failure.MISATTRIBUTED, Failure.SYNTHESISED)
"""The others are told by the words of the quote alone."""


def alce_recall(judged: Judged) -> Score:
    return _mean([claim.whole for claim in judged.support]) if judged.support else NOT_ASKED


def alce_precision(judged: Judged) -> Score:
    if not judged.support:
        return NOT_ASKED
    asked = [needed for claim in judged.support for needed in claim.needed]
    return _mean(asked) if asked else one(0.0)


def _mean(judgements: Sequence[bool | None]) -> Score:
    """Unscored when one is missing: the mean of those that could be judged is another answer's."""
    known = [judgement for judgement in judgements if judgement is not None]
    return one(sum(known) / len(known) if len(known) == len(judgements) else None, UNJUDGED)


def citation_precision(judged: Judged) -> Score:
    return many((span for claim in judged.support for span in claim.spans), UNJUDGED)


def citation_recall(judged: Judged) -> Score:
    return many((_carried(claim.spans) for claim in judged.support), UNJUDGED)


def hallucination_gap(judged: Judged) -> Score:
    """The points are claims: 1 for one that all passages together do not entail."""
    gap = judged.observed.gap
    ungrounded = round((gap.value or 0.0) * gap.n)
    unchecked = len(judged.observed.claims) - gap.n
    return many(
        [True] * ungrounded + [False] * (gap.n - ungrounded) + [None] * unchecked, gap.note or UNJUDGED
    )


def broken(judged: Judged) -> Score:
    return many(_broken(cited) for cited in _citations(judged))


def _failing(failure: Failure) -> Measure:
    def share(judged: Judged) -> Score:
        return many((_fails(cited, failure) for cited in _citations(judged)), UNJUDGED)

    return Measure(
        name=failure.value, of=share, counts="citations", judge=Judge.PASS, better=-1, bounded=True
    )


def _citations(judged: Judged) -> list[Citation]:
    """All that the writer made in the draft that was kept, shown or not: what was held back was broken too.
    What the pass cited in their place is not the writer's, and a draft that a retry replaced is not here: of
    our own pass this is what was still broken in the end."""
    everything = [cited for claim in judged.observed.claims for cited in claim.citations]
    return [cited for cited in everything if cited.mode != "post-hoc"]


def _broken(cited: Citation) -> bool:
    """Its own quote stands nowhere; a sound citation beside a broken one carries the claim's verdict too."""
    return cited.start < 0


def _fails(cited: Citation, failure: Failure) -> bool | None:
    """None where it takes what the claim rests on to tell, and that was not checked."""
    verdict = cited.verdict
    if verdict is None or verdict.status is Status.UNCHECKED:
        return None if _broken(cited) or failure in _BY_SUPPORT else False
    if verdict.status is Status.BROKEN and not _broken(cited):
        return False
    return verdict.failure is failure


def _carried(spans: tuple[bool | None, ...]) -> bool | None:
    """At least one span carries the claim; unknown where none does and one could not be judged."""
    if any(spans):
        return True
    return None if None in spans else False


MEASURES: tuple[Measure, ...] = (
    Measure(name="alce_recall", of=alce_recall, judge=Judge.VERIFIER, bounded=True),
    Measure(name="alce_precision", of=alce_precision, judge=Judge.VERIFIER, bounded=True),
    Measure(name="citation_recall", of=citation_recall, counts="claims", judge=Judge.VERIFIER, bounded=True),
    Measure(
        name="citation_precision",
        of=citation_precision,
        counts="citations",
        judge=Judge.VERIFIER,
        bounded=True,
    ),
    Measure(
        name="hallucination_gap",
        of=hallucination_gap,
        counts="claims",
        judge=Judge.PASS,
        better=-1,
        bounded=True,
    ),
    Measure(
        name="broken_citation_rate", of=broken, counts="citations", judge=Judge.PASS, better=-1, bounded=True
    ),
    *(_failing(failure) for failure in Failure),
)
