"""`python -m training.firing [CHECK ...]`: on which labelled claims does an exact check fire?

In: the part of the training sets that shaped weights (never a measured set) with human labels, and the
checks of CHECKS. Out: a line a check: unsupported and supported claims it fires on, by sort of premise, and
with `--show N` examples of either. An exact check that holds a claim down is kept only where it fires on
many unsupported claims for one supported.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterator

from citewell.verification.cells import place_numbers
from citewell.verification.directions import turned
from citewell.verification.evidence import lines_of
from citewell.verification.exceptions import excepted
from citewell.verification.kinds import source_kind
from citewell.verification.overstating import overstated
from citewell.verification.places import misplaced_number
from citewell.verification.turning import turned_round
from citewell.verification.unwritten import unwritten_number
from citewell.verification.wording import as_written
from training.general import general_items
from training.grounding import DOCUMENTS, document_rows
from training.passages import part_of

Check = Callable[[str, str], object]


def _prose(check: Check) -> Check:
    """As the product asks: never of tables."""
    return lambda claim, premise: None if source_kind(premise) == "table" else check(claim, premise)


CHECKS: dict[str, Check] = {
    "overstated": _prose(overstated),
    "turned": _prose(turned),
    "excepted": _prose(excepted),
    "turned round": _prose(turned_round),
    "misplaced number": _prose(misplaced_number),
    "unwritten number": lambda claim, premise: unwritten_number(claim, premise),
    "misplaced cell": lambda claim, premise: [
        one.misplaced for one in place_numbers(claim, lines_of(premise)) if one.misplaced
    ],
    "written otherwise": lambda claim, premise: as_written(claim, premise) != claim,
}


def labelled() -> Iterator[tuple[str, str, str, bool]]:
    """Sort of premise, premise, claim, supported: each row once."""
    for item in general_items(0):
        yield f"pair {source_kind(item.windows[0])}", item.windows[0], item.claim, item.label == "entailment"
    for name in DOCUMENTS:
        for premise, claim, label in document_rows(name):
            if part_of(premise) == "train":
                yield f"document {source_kind(premise)}", premise, claim, label == "entailment"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checks", nargs="*", help=", ".join(CHECKS))
    parser.add_argument("--show", type=int, default=0, help="examples of either kind")
    parser.add_argument("--rows", type=int, default=None, help="at most so many claims, at random")
    given = parser.parse_args()
    rows = list(labelled())
    random.Random(0).shuffle(rows)
    rows = rows[: given.rows]
    for name in given.checks or CHECKS:
        fired: Counter[tuple[str, bool]] = Counter()
        shown: Counter[bool] = Counter()
        for sort, premise, claim, supported in rows:
            if found := CHECKS[name](claim, premise):
                fired[sort, supported] += 1
                shown[supported] += 1
                if shown[supported] <= given.show:
                    print(f"  {supported!s:5} {found!r}\n    {premise[:400]!r}\n    {claim!r}")
        sorts = sorted({sort for sort, _ in fired})
        parts = ", ".join(f"{sort} {fired[sort, False]}:{fired[sort, True]}" for sort in sorts)
        print(f"{name}: unsupported:supported of {len(rows)} claims: {parts or 'never'}")


if __name__ == "__main__":
    main()
