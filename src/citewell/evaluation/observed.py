"""What a pipeline did with one case, and what was found about it: all that a measure may look at.

In: values. Out: values. Knows nothing about how an answer came about, or which measures there are.
"""

from __future__ import annotations

from typing import Any

import msgspec

from citewell.core.records import (
    Case,
    Claim,
    ConfidenceReport,
    Conflict,
    Measure,
    Passage,
    Record,
    TokenUsage,
)
from citewell.evaluation.results import CaseTiming


class Observed(Record, frozen=True, kw_only=True):
    """One answer. ``passages`` as retrieved, best first; ``top_k`` is how many were asked for, 0 where nobody
    said. ``usage``, ``cost``, ``gate_passed`` and ``confidence`` are None where nobody said.

    ``supported`` is a person's word on whether all of the answer is supported, ``support`` the probability of
    that which the verifier gave; both only where answers were recorded with such a label.
    """

    text: str
    claims: tuple[Claim, ...]
    passages: tuple[Passage, ...]
    answered: bool
    top_k: int = 0
    decision: str = ""
    confidence: ConfidenceReport | None = None
    overall: float | None = None
    gap: Measure = Measure(value=None, n=0)
    gate_passed: bool | None = None
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    failure_reason: str = ""
    usage: TokenUsage | None = None
    cost: float | None = None
    supported: bool | None = None
    support: float | None = None
    index: str = ""
    model: str = ""
    prompt: str = ""
    timing: CaseTiming = CaseTiming()

    def but(self, **changed: Any) -> Observed:
        """The same with other values."""
        return msgspec.structs.replace(self, **changed)

    @property
    def stated(self) -> tuple[Claim, ...]:
        """The claims that a reader sees: none where the answer was withheld."""
        return tuple(claim for claim in self.claims if claim.shown) if self.answered else ()


class ClaimSupport(Record, frozen=True, kw_only=True):
    """Who supports one claim, by the judge; None where it could not judge.

    ``whole``: all passages that the claim cites, together; False where it cites nothing or something broken.
    ``needed``: for each cited passage, a broken one too, whether the claim is entailed and it is *not*
    irrelevant in ALCE's sense. ``spans``: for each citation (the spans of one passage are one), whether the
    cited words themselves support it; a broken one does not.
    """

    whole: bool | None
    needed: tuple[bool | None, ...] = ()
    spans: tuple[bool | None, ...] = ()


class Judged(Record, frozen=True, kw_only=True):
    """``support``: one for each claim of ``observed.stated``. ``hits``: for each passage, whether it overlaps
    a span of the case; None where that cannot be told (``unlocated`` says why; "" when the case has no
    spans). ``unfound``: spans of the case that no passage overlaps. ``right`` as in Outcome.
    """

    case: Case
    observed: Observed
    support: tuple[ClaimSupport, ...] = ()
    hits: tuple[bool, ...] | None = None
    unfound: int = 0
    unlocated: str = ""
    right: bool | None = None
    why: str = ""

    @property
    def answerable(self) -> bool | None:
        """Whether the documents hold an answer; None where the case does not say."""
        if self.case.abstain:
            return False
        return True if self.case.expected or self.case.spans else None
