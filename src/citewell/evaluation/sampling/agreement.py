"""What came of spot checks: how far people and the verifier agree, and labels for the next card.

In: what people said of drawn claims, as the log has it. Out: an :class:`Agreement`; :class:`PeopleLabels`.
Knows nothing about how a sample is drawn or shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec
import numpy as np

from citewell.core.errors import UsageError
from citewell.core.identity import hash_text, hash_value
from citewell.core.records import AuditRecord, Proof, Record, Status
from citewell.evaluation.calibration.promises import GRID, Scored, scored_verdict
from citewell.evaluation.sampling.drawing import (
    ANSWERS,
    Drawn,
    JudgedSample,
    judged_samples,
    may,
    place_of,
)
from citewell.knowledge.home import KnowledgeBase
from citewell.verification.confidence.cards import Labelled

_SEED, _DRAWS = 20260101, 2_000
_SPACE = 2**256


class Agreement(Record, frozen=True, kw_only=True):
    """Cohen's kappa between "VERIFIED" and "supported" (``partly`` is not), weighted back to the population
    that was sampled; 95 % by bootstrap over answers. ``raw`` is the share of agreement, ``table`` counts by
    the verifier's stratum and what people said. Values are None when nothing was judged."""

    kappa: float | None
    low: float | None
    high: float | None
    raw: float | None
    n: int
    unscored: int
    people: int
    table: dict[str, dict[str, int]]

    @property
    def told(self) -> str:
        """``kappa 0.62 [0.41, 0.80], n 50, 2 unscored``"""
        kappa = "not measured" if self.kappa is None else f"{self.kappa:.2f}"
        between = (
            f" [{self.low:.2f}, {self.high:.2f}]" if self.low is not None and self.high is not None else ""
        )
        return f"kappa {kappa}{between}, n {self.n}, {self.unscored} unscored"


class PeopleLabels(Record, frozen=True, kw_only=True):
    """People's labels as a card takes them in."""

    scored: tuple[Scored, ...]
    unscored: int
    source: Labelled
    notes: tuple[str, ...]


def agreement(kb: KnowledgeBase, *, sample_id: str = "") -> Agreement:
    """Over one sample, or every one."""
    may(kb)
    drawn, people = judged_samples(kb, sample_id)
    return _agreed(_pooled(drawn), people)


def _pooled(samples: Sequence[JudgedSample]) -> list[tuple[Drawn, str]]:
    """Each item once, with its weights of all samples that it stands in: each sample is weighted back to what
    it was drawn from, and all of them to all of that, an answer as often as it could be drawn."""
    found: dict[str, tuple[Drawn, str]] = {}
    for one, said in (label for sample in samples for label in sample.labels):
        before = found[one.item_id][0].weight if one.item_id in found else 0.0
        found[one.item_id] = msgspec.structs.replace(one, weight=before + one.weight), said
    return list(found.values())


def _agreed(judged: Sequence[tuple[Drawn, str]], people: int) -> Agreement:
    table: dict[str, dict[str, int]] = {}
    groups: dict[str, list[tuple[bool, bool, float]]] = defaultdict(list)
    unscored = 0
    for one, said in judged:
        row = table.setdefault(one.stratum, dict.fromkeys(ANSWERS, 0))
        if said:
            row[said] += 1
        if not said or said == "cannot tell":
            unscored += 1
            continue
        verified = one.stratum.startswith(f"{Status.VERIFIED.value}/")
        groups[one.request_id].append((verified, said == "supported", one.weight))
    # A column an answer: the weights of (both, verifier alone, people alone, neither).
    cells = np.array([_cells(rows) for rows in groups.values()]) if groups else np.zeros((0, 4))
    kappa, raw = cohens_kappa(cells.sum(axis=0))
    low = high = None
    if kappa is not None:
        places = np.random.default_rng(_SEED).integers(0, len(cells), (_DRAWS, len(cells)))
        drawn = [value for value, _ in map(cohens_kappa, cells[places].sum(axis=1)) if value is not None]
        low, high = (float(end) for end in np.percentile(drawn, [2.5, 97.5])) if drawn else (None, None)
    return Agreement(
        kappa=kappa,
        low=low,
        high=high,
        raw=raw,
        n=len(judged) - unscored,
        unscored=unscored,
        people=people,
        table=dict(sorted(table.items())),
    )


def _cells(rows: Iterable[tuple[bool, bool, float]]) -> list[float]:
    cells = [0.0] * 4
    for verified, supported, weight in rows:
        cells[(0 if supported else 1) if verified else (2 if supported else 3)] += weight
    return cells


def cohens_kappa(cells: Sequence[float]) -> tuple[float | None, float | None]:
    """Cohen 1960, of the weights of (both yes, the first alone, the second alone, neither), and the share of
    agreement. No kappa where one side only ever said one thing: it is 0 then whatever the other said."""
    both, first, second, neither = (float(cell) for cell in cells)
    total = both + first + second + neither
    if not total:
        return None, None
    raw = (both + neither) / total
    said, held = (both + first) / total, (both + second) / total
    if {said, held} & {0.0, 1.0}:
        return None, raw
    chance = said * held + (1 - said) * (1 - held)
    return (raw - chance) / (1 - chance), raw


def labels_as_evidence(kb: KnowledgeBase) -> PeopleLabels:
    """What people said, for the next card, and how far it agrees with the verifier: of claims that the
    verifier in use judged. A unit of a promise is an answer, so it counts for a kind of proof only where
    people judged every claim that the answer may show by it; the answers of each proof are thinned to what an
    even draw would have been (a bound holds for units drawn alike)."""
    drawn, people = judged_samples(kb)
    judged = _pooled(drawn)
    answers: dict[str, list[tuple[Drawn, str]]] = defaultdict(list)
    for one, said in judged:
        answers[one.request_id].append((one, said))
    # Nothing under the loosest threshold that a card may leave in use is ever shown as VERIFIED.
    floor = min(GRID[-1], kb.config.verification.support_threshold)
    found: dict[Proof, dict[str, tuple[Scored, ...]]] = defaultdict(dict)
    mine: list[tuple[Drawn, str]] = []
    unscored = older = partial = 0
    for request, labels in answers.items():
        try:
            record = kb.audit.record(request, reader=kb.caller.user)
        except UsageError:
            unscored += len(labels)
            continue
        if kb.entailer.maker.hash not in {maker.hash for maker in record.makers}:
            older += len(labels)
            continue
        mine += labels
        said_of = {one.claim: said == "supported" for one, said in labels if said not in ("", "cannot tell")}
        scored = _scored_claims(record, said_of)
        unscored += len(labels) - len(said_of.keys() & scored.keys())
        for proof in Proof:
            claims = {number: claim for number, claim in scored.items() if claim.proof is proof}
            told = tuple(claim for number, claim in claims.items() if number in said_of)
            if any(claim.score >= floor for number, claim in claims.items() if number not in said_of):
                partial += len(told)
            elif told:
                found[proof][request] = told
    kept: list[Scored] = []
    for units in found.values():
        evenly = set[str]().union(*(_thinned(sample, units.keys()) for sample in drawn))
        kept += [claim for request, told in units.items() if request in evenly for claim in told]
    thinned = sum(len(told) for units in found.values() for told in units.values()) - len(kept)
    notes = [f"people and the verifier: {_agreed(mine, people).told}"]
    notes += [f"{older} labels are of another verifier's claims and were left out"] if older else []
    if partial:
        notes.append(f"{partial} labels were left out: not every claim of their answers was judged")
    if thinned:
        notes.append(f"{thinned} labels were left out: of strata that were drawn more often")
    digest = hash_value([[one, said] for one, said in judged])
    return PeopleLabels(
        scored=tuple(kept),
        unscored=unscored,
        source=Labelled(name="spot checks", hash=digest, kind="people's labels in the log", n=len(judged)),
        notes=tuple(notes),
    )


def _scored_claims(record: AuditRecord, said: Mapping[int, bool]) -> dict[int, Scored]:
    """The claims that were checked, by their numbers; "right" is said only of those in ``said``."""
    scored = {
        number: scored_verdict(record.request_id, claim.verdict, said.get(number, False))
        for number, claim in enumerate(record.claims, 1)
    }
    return {number: claim for number, claim in scored.items() if claim is not None}


def _thinned(sample: JudgedSample, answers: Set[str]) -> set[str]:
    """Those of ``answers`` that an even draw of what this sample was drawn from would have had too: each is
    kept by the same chance, whatever its stratum, and so is what all samples keep together of one time; what
    stands in the windows of several had more chances, right or wrong. They are the first in the order of the
    draw, so that two draws of one seed give nothing a second chance."""
    strata: dict[float, set[str]] = defaultdict(set)
    for one, _ in sample.labels:
        if one.request_id in answers:
            strata[one.weight].add(one.request_id)
    kept: set[str] = set()
    for weight, requests in strata.items():
        ordered = sorted(requests, key=lambda request: place_of(sample.seed, request))
        share = len(ordered) * weight / max(strata)
        chance = int(hash_text(f"thin {sample.seed} {ordered[0]}").removeprefix("sha256:"), 16) / _SPACE
        kept.update(ordered[: int(share + chance)])
    return kept
