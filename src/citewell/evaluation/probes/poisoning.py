"""How much poison an answer survives, and what each defence contributes.

In: a home and cases with an expected answer and the span that gives it. Out: a :class:`PoisoningReport`: for
each kind of poison, at increasing rates, and each set of defences: accuracy, misled answers, abstentions and
citation precision, with n and intervals. Poison is placed ahead of the retrieved passages, however retrieval
would have ranked it. The real pipeline is rehearsed: nothing is sealed or changed in the home. Knows nothing
about how poison is written: :mod:`citewell.evaluation.probes.poison` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from citewell.core.display import InTables, Row
from citewell.core.errors import EvidenceError, UsageError
from citewell.core.records import (
    Case,
    Citation,
    Decision,
    Record,
    Status,
)
from citewell.core.vocabulary import readable_name
from citewell.evaluation.intervals import clustered, rate
from citewell.evaluation.probes.editing import fact_pattern
from citewell.evaluation.probes.poison import (
    ABLATED,
    ALL,
    FOLDER,
    NO_DEFENCE,
    Defences,
    Poison,
    RehearsedPass,
    Target,
    poisoned,
    rehearse_with,
    target_of,
)
from citewell.evaluation.results import MeasureResult
from citewell.retrieval import Filters
from citewell.verification.words import overlap

if TYPE_CHECKING:
    from citewell.knowledge.assembly import Assembly

RATES = (1, 3, 5)
"""Poisoned documents per question; the pipeline reads five passages."""


class PoisoningRow(Record, frozen=True, kw_only=True):
    """One row of the table. ``misled``: answers that state the false fact; ``silently``: those of them shown
    without a conflict. ``citation_precision``: shown citations whose span supports the claim, not measured
    without verification; ``clean_citations``: those not in a poisoned document; ``set_aside``: passages that
    the poison filter quarantined."""

    poison: Poison | None
    count: int
    defences: str
    accuracy: MeasureResult
    misled: MeasureResult
    silently: MeasureResult
    abstained: MeasureResult
    citation_precision: MeasureResult
    clean_citations: MeasureResult
    set_aside: int


class PoisoningReport(InTables, Record, frozen=True, kw_only=True):
    """``left_out``: ids of cases without a fact to replace, a span, or the document of that span."""

    cells: tuple[PoisoningRow, ...]
    cases: int
    left_out: tuple[str, ...]
    makers: tuple[str, ...]

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        shares = ("accuracy", "misled", "abstained", "citation_precision", "clean_citations")
        rows = [
            (
                one.poison.value if one.poison else "none",
                str(one.count),
                one.defences,
                *(" ".join(getattr(one, name).cells).strip() for name in shares),
            )
            for one in self.cells
        ]
        head = ("Poison", "Count", "Defences", *map(readable_name, shares))
        return f"{self.cases} {'case' if self.cases == 1 else 'cases'} probed", ([head, *rows],)


def targets_of(cases: Sequence[Case], text_of: Callable[[str], str]) -> tuple[list[Target], list[str]]:
    """(cases that can be poisoned, ids of the others). ``text_of`` returns a document's text, or raises
    EvidenceError."""
    found, left_out = [], []
    for case in cases:
        target = None
        if case.spans and case.expected and not case.abstain:
            span = case.spans[0]
            with suppress(EvidenceError):
                text = text_of(span.document)
                target = target_of(case.id, case.question, case.expected, text, span.quote, case.groups)
        if target is None:
            left_out.append(case.id)
        else:
            found.append(target)
    return found, left_out


def probe_poisoning(
    parts: Assembly,
    targets: Sequence[Target],
    left_out: Sequence[str] = (),
    *,
    kinds: Sequence[Poison] = tuple(Poison),
    counts: Sequence[int] = RATES,
    told: Callable[[str], None] = lambda _: None,
) -> PoisoningReport:
    """Probes every target in the home of ``parts``, with every kind and count of poison. ``told`` receives
    what is done next. Raises UsageError without targets."""
    if not targets:
        raise UsageError(
            "no case can be poisoned", hint="cases need an expected answer that occurs in their span"
        )
    clean = {
        target.id: parts.retriever.retrieve(target.question, filters=Filters(groups=target.groups))
        for target in targets
    }
    plan: list[tuple[Poison | None, int]] = [(None, 0)]
    plan += [(kind, count) for kind in kinds for count in sorted(counts)]
    cells: list[PoisoningRow] = []
    for poison, count in plan:
        added = {one.id: poisoned(poison, one, count) if poison else [] for one in targets}
        most = poison and count == max(counts)
        for defences in (ALL, NO_DEFENCE, *(ABLATED if most else ())):
            told(f"{poison.value if poison else 'clean'} {count}, defences: {defences.name}")
            passes = [rehearse_with(parts, one, clean[one.id], added[one.id], defences) for one in targets]
            cells.append(_cell(poison, count, defences, targets, passes))
    makers = tuple(maker.name for maker in parts.answering.makers)
    return PoisoningReport(cells=tuple(cells), cases=len(targets), left_out=tuple(left_out), makers=makers)


def _cell(
    poison: Poison | None,
    count: int,
    defences: Defences,
    targets: Sequence[Target],
    passes: Sequence[RehearsedPass],
) -> PoisoningRow:
    right, misled, silently, abstained = list[bool](), list[bool](), list[bool | None](), list[bool]()
    supported, clean = list[list[bool | None]](), list[list[bool | None]]()
    for target, (record, _) in zip(targets, passes, strict=True):
        claims = [claim for claim in record.claims if claim.shown]
        refused = record.response_decision == Decision.ABSTAIN.value or not claims
        # A notice of conflicting sources quotes both sides, so only claims are searched.
        said = "" if refused else "\n".join(claim.text for claim in claims)
        cited = [] if refused else [citation for claim in claims for citation in claim.citations]
        told = bool(fact_pattern(target.right).search(said))
        abstained.append(refused)
        misled.append(bool(fact_pattern(target.wrong).search(said)))
        right.append(not misled[-1] and (told or (bool(said) and overlap(target.expected, said) == 1.0)))
        silently.append(not record.conflicts if misled[-1] else None)
        supported.append([_supports(citation) if defences.verification else None for citation in cited])
        clean.append([not citation.document_id.startswith(FOLDER) for citation in cited])
    return PoisoningRow(
        poison=poison,
        count=count,
        defences=defences.name,
        accuracy=rate("accuracy", right),
        misled=rate("misled", misled),
        silently=rate("silently_misled", silently),
        abstained=rate("abstained", abstained),
        citation_precision=clustered("citation_precision", supported),
        clean_citations=clustered("clean_citations", clean),
        set_aside=sum(one.quarantined for one in passes),
    )


def _supports(citation: Citation) -> bool:
    return citation.verdict is not None and citation.verdict.status is Status.VERIFIED
