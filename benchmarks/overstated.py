"""Claims that say more than their passage: how many are shown as verified, and how many true ones are not.

    python -m benchmarks.overstated

In: nothing. Out: ``docs/measurements/overstated``. The passages and statements were written by people who had
not read the checks; nothing was fitted to them. Each statement is passed to ``citewell.verify`` as an answer
citing its passage. "Without the checks" disables :mod:`citewell.verification.overstating`.
"""

from __future__ import annotations

from unittest import mock

import citewell
from benchmarks.overstatements import overstatements
from benchmarks.reporting import table, write
from citewell.evaluation.intervals import clopper_pearson
from citewell.verification import objections

UNSEEN = overstatements("unseen")
SILENT = mock.patch.object(objections, "overstated", return_value="")


def verified(claim: str, passage: str) -> bool:
    report = citewell.verify(answer=f"{claim} [1]", sources=[passage])
    return all(claim.verdict.status == "VERIFIED" for claim in report.claims)


def share(hits: int, n: int) -> str:
    low, high = clopper_pearson(hits, n)
    return f"{hits / n:.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    n = len(UNSEEN)
    counts = {}
    for name, checks in (("with the checks", True), ("without the checks", False)):
        if not checks:
            SILENT.start()
        counts[name] = {
            "more": sum(verified(more, passage) for passage, _, more in UNSEEN),
            "true": sum(verified(true, passage) for passage, true, _ in UNSEEN),
        }
    SILENT.stop()
    rows = [(name, share(count["more"], n), share(count["true"], n)) for name, count in counts.items()]
    body = f"""`python -m benchmarks.overstated`: {n} passages, each with a true statement and one that says
more (all for part, fact for possibility, cause for link, people for animals, a condition or an attribution
dropped, ...), written by somebody who had not read the checks. Exact 95 % intervals.

{table(("full verifier", "shown as verified though it says more", "true and shown as verified"), rows)}

People who label entailment accept much of this: in the training sets a dropped "said", "if" or "can" is as
common in pairs they call entailed as in others (docs/log.md), and an entailer learns from them. The exact
checks stop only what these counts support. This is the verifier's weakest point."""
    write("overstated", "Overstated claims", body, {"n": n, "verified": counts})
    print(body)


if __name__ == "__main__":
    main()
