"""Do our citation measures agree with people? ``python -m benchmarks.citation_agreement [--n 100]``.

In: CITEWELL_DATA. Out: docs/measurements/citation_agreement.{md,json}. Two questions of ALCE, each to the
verifier and to people, on sets that shaped no weights: do all cited sentences together support the claim
(recall), and is a cited sentence needed, or one that supports it by itself (precision)? Agreement as Cohen's
kappa, with a 95 % bootstrap interval over claims: pairs of one claim are not independent.

    WiCE     claims of Wikipedia, the sentences of the cited page that annotators say support them
    ClapNQ   answers people wrote, the sentences of the passage that they selected for them
    BEGIN    replies, judged against the one text that they were written from (recall only)
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from training.sources import load

from benchmarks.reporting import code, data_folder, table, write
from citewell.core.config import Verification
from citewell.core.records import Status
from citewell.core.sentences import sentence_spans
from citewell.evaluation.sampling import cohens_kappa
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.remembering import RememberingEntailer
from citewell.verification.evidence import ClaimEvidence, as_evidence
from citewell.verification.verifier import Verifier
from citewell.verification.words import overlap

SEED, DRAWS, NEAREST = 41, 2_000, 3
PAIRS = ((True, True), (True, False), (False, True), (False, False))
"""Possible answers, ours and people's, to one question."""
RECALL = "all cited sentences together support it (recall)"
NEEDED = "each cited sentence is needed (ALCE's precision)"
PRECISION = "a sentence supports it by itself"


@dataclass(frozen=True)
class Asked:
    """``group``: the claim it belongs to; ``people``: their answer; ``beside``: everything that is cited with
    it, where the question is whether it is needed."""

    set: str
    kind: str
    group: str
    claim: str
    evidence: str
    people: bool
    beside: tuple[str, ...] = ()


def wice(n: int) -> list[Asked]:
    """Supported claims with their smallest set of sentences; others with all of theirs or, without any, those
    nearest in words. A partly supported claim counts as not supported by everything it cites."""
    rows = load("nli/wice_claim_fulldoc.dev")
    random.Random(SEED).shuffle(rows)
    made = []
    for row in rows[:n]:
        claim, meta = row["hypothesis"], row["meta"]
        sentences, sets = meta["evidence"], meta["supporting_sentences"]
        gold = sorted({place for one in sets for place in one})
        near = [place for place in _nearest(claim, sentences) if place not in gold]
        if meta["label3"] == "supported" and sets:
            cited = min(sets, key=len)
            made.append(_joint("WiCE", row["id"], claim, [sentences[p] for p in cited], True))
        else:
            cited = gold or near[:NEAREST]
            made.append(_joint("WiCE", row["id"], claim, [sentences[p] for p in cited], False))
        if meta["label3"] == "supported" and sets and near:
            made += _needed(row["id"], claim, [sentences[p] for p in cited], sentences[near[0]])
    return made


def clapnq(n: int) -> list[Asked]:
    """The first two sentences of a written answer, each with the selected sentences and, as the negative,
    with as many others. Alone: each selected sentence, and as many others, with the answer sentence nearest
    to it."""
    rows = [row for row in load("qa/clapnq.dev") if row["answerable"] and row["answers"]]
    random.Random(SEED).shuffle(rows)
    made = []
    for row in rows[:n]:
        sentences = row["meta"]["sentences"]
        chosen = selected(row)
        others = [place for place in range(len(sentences)) if place not in chosen]
        answer = row["answers"][0]["text"]
        claims = [answer[a:b] for a, b in sentence_spans(answer)]
        if not chosen or not claims or not others:
            continue
        for claim in claims[:2]:
            near = sorted(others, key=lambda place, c=claim: -overlap(c, sentences[place]))[: len(chosen)]  # type: ignore[misc]
            made.append(_joint("ClapNQ", row["id"], claim, [sentences[p] for p in chosen], True))
            made.append(_joint("ClapNQ", row["id"], claim, [sentences[p] for p in near], False))
        for place in [*chosen, *others[: len(chosen)]]:
            claim = max(claims, key=lambda c, p=place: overlap(c, sentences[p]))  # type: ignore[misc]
            made.append(Asked("ClapNQ", PRECISION, row["id"], claim, sentences[place], place in chosen))
    return made


def begin(n: int) -> list[Asked]:
    rows = load("nli/begin.dev")
    random.Random(SEED).shuffle(rows)
    return [
        Asked("BEGIN", RECALL, row["id"], row["hypothesis"], row["premise"], row["label"] == "entailment")
        for row in rows[:n]
    ]


def selected(row: dict[str, Any]) -> list[int]:
    """Indices of the sentences that the first annotator selected."""
    places = {" ".join(text.split()): place for place, text in enumerate(row["meta"]["sentences"])}
    chosen = (row["meta"]["selected_sentences"] or [[]])[0]
    return sorted({places[key] for text in chosen if (key := " ".join(text.split())) in places})


def _nearest(claim: str, sentences: Sequence[str]) -> list[int]:
    kept = [place for place, text in enumerate(sentences) if len(text.split()) > 3]
    return sorted(kept, key=lambda place: (-overlap(claim, sentences[place]), place))


def _needed(group: str, claim: str, cited: Sequence[str], stranger: str) -> list[Asked]:
    """Whether each cited sentence, and one that no annotator gave, is needed."""
    everything = [*cited, stranger]
    return [
        Asked("WiCE", NEEDED, group, claim, text, text is not stranger, tuple(everything))
        for text in everything
    ]


def _joint(name: str, group: str, claim: str, cited: Sequence[str], people: bool) -> Asked:
    return Asked(name, RECALL, group, claim, "\n".join(cited), people)


def agreement(asked: Sequence[Asked], ours: Sequence[bool | None]) -> dict[str, Any]:
    """Kappa with its interval, raw agreement, and how often each side says yes."""
    by_claim: dict[str, list[tuple[bool, bool]]] = {}
    for one, said in zip(asked, ours, strict=True):
        if said is not None:
            by_claim.setdefault(one.group, []).append((said, one.people))
    cells = np.array([[pairs.count(pair) for pair in PAIRS] for pairs in by_claim.values()])
    kappa, raw = cohens_kappa(cells.sum(axis=0))
    places = np.random.default_rng(SEED).integers(0, len(cells), (DRAWS, len(cells)))
    drawn = [value for value, _ in map(cohens_kappa, cells[places].sum(axis=1)) if value is not None]
    low, high = np.percentile(drawn or [np.nan], [2.5, 97.5])
    both, only_ours, only_people, _ = cells.sum(axis=0)
    n = int(cells.sum())
    return {
        "kappa": kappa,
        "low": float(low),
        "high": float(high),
        "raw": raw,
        "ours_yes": (both + only_ours) / n,
        "people_yes": (both + only_people) / n,
        "n": n,
        "claims": len(cells),
        "unscored": len(asked) - n,
    }


def judged(asked: Sequence[Asked], verifier: Verifier) -> list[bool | None]:
    alone = _said([(one.claim, one.evidence) for one in asked], verifier)
    together = _said([(one.claim, "\n".join(one.beside) or one.evidence) for one in asked], verifier)
    without = _said(
        [
            (one.claim, "\n".join(text for text in one.beside if text != one.evidence) or one.evidence)
            for one in asked
        ],
        verifier,
    )
    return [
        one_alone if not one.beside else _is_needed(one_alone, all_, others)
        for one, one_alone, all_, others in zip(asked, alone, together, without, strict=True)
    ]


def _is_needed(alone: bool | None, together: bool | None, others: bool | None) -> bool | None:
    if alone is None or together is None or others is None:
        return None
    return together and (alone or not others)


def _said(pairs: Sequence[tuple[str, str]], verifier: Verifier) -> list[bool | None]:
    """Judges each distinct pair once."""
    known: dict[tuple[str, str], bool | None] = {}
    distinct = list(dict.fromkeys(pairs))
    for start in range(0, len(distinct), 32):
        some = distinct[start : start + 32]
        questions = [ClaimEvidence(claim=claim, evidence=(as_evidence(text),)) for claim, text in some]
        for pair, verdict in zip(some, verifier.verify_many(questions), strict=True):
            known[pair] = None if verdict.status is Status.UNCHECKED else verdict.status is Status.VERIFIED
    return [known[pair] for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100, help="rows of each set")
    given = parser.parse_args()
    data_folder()
    entailer = OnnxEntailer()
    verifier = Verifier(RememberingEntailer(entailer, limit=20_000), Verification())
    asked = [*wice(given.n), *clapnq(given.n), *begin(given.n)]
    said = judged(asked, verifier)
    found = {}
    for name, kind in dict.fromkeys((one.set, one.kind) for one in asked):
        mine = [(one, s) for one, s in zip(asked, said, strict=True) if (one.set, one.kind) == (name, kind)]
        found[f"{name}: {kind}"] = agreement([one for one, _ in mine], [s for _, s in mine])
    write(
        "citation_agreement",
        "Agreement of citation measures with people",
        _page(found, given.n, entailer.maker.hash),
        {"rows": given.n, "entailer": entailer.maker.hash, "agreement": found},
    )


def _page(found: dict[str, dict[str, Any]], n: int, entailer: str) -> str:
    lines = [
        [
            name,
            _told(one),
            f"{one['raw']:.2f}",
            f"{one['ours_yes']:.2f} / {one['people_yes']:.2f}",
            f"{one['n']} of {one['claims']} claims",
        ]
        for name, one in found.items()
    ]
    heads = ["question", "kappa", "raw agreement", "yes: ours / people", "n"]
    return f"""
`python -m benchmarks.citation_agreement --n {n}`: at most {n} rows of each set. The verifier's judgement of a
claim and what it cites, compared with people's. Cohen's kappa with a 95 % bootstrap interval over claims. For
comparison, ALCE reports .70 for recall and .53 for precision between its automatic measure and people.
Border and rules are those of the pass at commit `{code()}`; entailer `{entailer}`.
None of it was used for training; ClapNQ answers were among the held-out claims that the support model was
fitted on (`training/heldout.py`).

{table(heads, lines)}

How people's labels are interpreted, which affects the figures:

- **WiCE** (claims of Wikipedia under the page they cite): a supported claim with the smallest set of
  sentences that annotators gave for it is a yes; a partly supported one with all its sentences, or an
  unsupported one with the {NEAREST} sentences nearest in words, is a no. Needed: a supported claim cites its
smallest set and the nearest sentence that nobody gave; those of the set are needed, the other is not. We use
ALCE's rule: all together entail the claim, and either the sentence alone does too, or the others without it
do not.
- **ClapNQ** (answers that people wrote from one passage): a sentence of the answer with the sentences
  selected for it is a yes, with as many of the others, nearest in words, a no. Nobody said which selected
  sentence supports which part of the answer, nor that a sentence that was not selected does not support it:
  both make kappa lower.
- **BEGIN**: a reply that annotators call fully attributable is a yes.

On WiCE the verifier is far stricter than people: the claims depend on the surrounding article ("This further
decreased"), which annotators saw and the verifier did not, and web pages use different wording. A citation
measure judged by it is then a lower bound, not an estimate.
"""


def _told(one: dict[str, Any]) -> str:
    if one["kappa"] is None:
        return "not measured"
    return f"{one['kappa']:.2f} [{one['low']:.2f}, {one['high']:.2f}]"


if __name__ == "__main__":
    main()
