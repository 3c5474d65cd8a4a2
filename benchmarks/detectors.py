"""Unsupported claims caught against false alarms: ``python -m benchmarks.detectors [--rows 100]
[--judge openai:MODEL --judged 25]``.

In: CITEWELL_DATA; for a judge what its line needs (OPENAI_BASE_URL, a key). Out:
docs/measurements/detectors.{md,json}: ``citewell eval probe detectors`` over the eight grounding sets that
shaped no weights, coefficients or thresholds (``benchmarks.judged``), at most so many rows a set, drawn with
a seed; a judge, which is slow, beside the others on the first of them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.judged import GROUNDING, judged
from benchmarks.reporting import code, data_folder, table, write
from citewell.core.identity import plain
from citewell.evaluation.cases import LabelledClaim
from citewell.evaluation.intervals import clopper_pearson
from citewell.evaluation.probes.detectors import (
    DetectorReport,
    cosine,
    judge_detector,
    measure,
    verified,
    word_overlap,
)
from citewell.evaluation.results import MeasureResult
from citewell.models.naming import entailer_named
from citewell.models.onnx.embedder import OnnxEmbedder
from citewell.models.onnx.entailer import OnnxEntailer
from citewell.models.remembering import RememberingEntailer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100, help="of each set")
    parser.add_argument("--judge", default="", metavar="LINE", help="openai:MODEL, ...: a judge beside them")
    parser.add_argument("--judged", type=int, default=25, help="rows of each set that it is asked")
    given = parser.parse_args()
    data_folder()
    entailer = RememberingEntailer(OnnxEntailer(), limit=100_000)
    detectors = [word_overlap(), cosine(OnnxEmbedder()), verified(entailer)]
    reports, beside = [], []
    for name in GROUNDING:
        rows = [
            LabelledClaim(claim=row.claim, sources=(row.premise,), supported=row.supported)
            for row in judged(name, given.rows)
        ]
        reports.append(measure(rows, detectors, data=name))
        if given.judge:
            judge = judge_detector(entailer_named(given.judge))
            beside.append(measure(rows[: given.judged], [*detectors, judge], data=name))
        print(name, flush=True)
    told = _judged(beside, given.judge, given.judged) if beside else UNJUDGED
    write(
        "detectors",
        "Detectors of unsupported claims",
        _page(reports, given.rows, told),
        {"sets": plain(reports), "judge": given.judge, "beside_judge": plain(beside)},
    )


UNJUDGED = "No judge was run here; `citewell eval probe detectors --judge openai:MODEL` puts one beside them."


def _judged(reports: Sequence[DetectorReport], line: str, rows: int) -> str:
    return f"""\
With a judge, `{line}`, asked each whole claim under the rubric of `citewell.models.judges`: the first {rows}
rows of each set, all detectors over the same ones; {_unscored(reports)} judgements unscored.

{_all(reports)}"""


def _names(reports: Sequence[DetectorReport]) -> list[str]:
    return [f"{one.detector} < {one.border:g}" for one in reports[0].detectors]


def _all(reports: Sequence[DetectorReport]) -> str:
    pooled = [
        [
            name,
            *(_pooled([getattr(r.detectors[at], which) for r in reports]) for which in ("caught", "alarms")),
        ]
        for at, name in enumerate(_names(reports))
    ]
    return table(["all sets pooled", "caught", "false alarms"], pooled)


def _unscored(reports: Sequence[DetectorReport]) -> int:
    return sum(one.caught.unscored + one.alarms.unscored for r in reports for one in r.detectors)


def _page(reports: Sequence[DetectorReport], rows: int, judged_by: str) -> str:
    names = _names(reports)
    heads = ["set", "unsupported / supported", *(f"{n}: {w}" for n in names for w in ("caught", "alarms"))]
    lines = [
        [
            report.data,
            f"{report.n - report.supported} / {report.supported}",
            *(_told(share) for one in report.detectors for share in (one.caught, one.alarms)),
        ]
        for report in reports
    ]
    return f"""
`{" ".join(["python -m benchmarks.detectors", *sys.argv[1:]])}`: at most {rows} rows of each set.
*Caught*: unsupported claims below the threshold. *Alarms*: supported ones below it. Exact 95 % intervals;
{_unscored(reports)} judgements unscored. Entailer `{OnnxEntailer().maker.hash}`, commit
`{code()}`.

{_all(reports)}

{judged_by}

The widely quoted table (cosine under 0.8 catches 42 % with 15 % false alarms, a judge 78 / 8, claim-by-claim
verification 92 / 3) does not name its data.

{table(heads, lines)}

Here every claim counts the same; [verification](verification.md) has means over the sets, in which the few
unsupported claims of one set weigh as much as the many of another, and more rows, other sets and single
edits.
"""


def _pooled(rates: Sequence[MeasureResult]) -> str:
    hits = sum(round((rate.value or 0.0) * rate.n) for rate in rates)
    n = sum(rate.n for rate in rates)
    low, high = clopper_pearson(hits, n)
    return f"{hits / n:.2f} [{low:.2f}, {high:.2f}] of {n}"


def _told(found: MeasureResult) -> str:
    if found.value is None:
        return "not measured"
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


if __name__ == "__main__":
    main()
