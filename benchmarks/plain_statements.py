"""Plain statements about everyday texts: what a careful user would try first.

    python -m benchmarks.plain_statements

In: ``benchmarks/plain_statements.jsonl``: passages on medicine, finance, law and support, each with two
statements that it supports and two that it does not, written for this by someone who had not seen the
verifier, its checks or its tests. Nothing was fitted to them. Out: ``docs/measurements/plain_statements``.
Each statement is passed to ``citewell.verify`` as an answer citing its passage. "Without" disables every
objection of exact code.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import citewell
from benchmarks.reporting import table, write
from citewell.core.records import Status
from citewell.evaluation.intervals import clopper_pearson
from citewell.verification import verifier

CASES = Path(__file__).with_suffix(".jsonl")


def status(claim: str, passage: str) -> Status:
    return citewell.verify(answer=f"{claim} [1]", sources=[passage]).status


def counted(cases: list[dict[str, Any]]) -> Counter[tuple[str, str, Status]]:
    """Statements by domain, by "supported" or the error, and by verdict."""
    found: Counter[tuple[str, str, Status]] = Counter()
    for case in cases:
        for claim in case["supported"]:
            found[case["domain"], "supported", status(claim, case["passage"])] += 1
        for wrong in case["unsupported"]:
            found[case["domain"], wrong["error"], status(wrong["claim"], case["passage"])] += 1
    return found


def share(counts: Counter[tuple[str, str, Status]], says: Status, **where: Any) -> str:
    """The share with this status; ``domain``, ``error`` and ``supported`` narrow the statements."""
    kept = {
        key: n
        for key, n in counts.items()
        if where.get("domain") in (None, key[0])
        and where.get("error") in (None, key[1])
        and where.get("supported") in (None, key[1] == "supported")
    }
    n = sum(kept.values())
    hits = sum(count for key, count in kept.items() if key[2] is says)
    low, high = clopper_pearson(hits, n)
    return f"{hits / n:.2f} [{low:.2f}, {high:.2f}]"


def main() -> None:
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    full = counted(cases)
    with ExitStack() as silent:
        silent.enter_context(mock.patch.object(verifier, "objection", return_value=""))
        without = counted(cases)
    heads = ("", "true, verified", "true, called contradicted", "untrue, verified")
    rows = [
        (
            name,
            share(counts, Status.VERIFIED, supported=True, domain=domain),
            share(counts, Status.CONTRADICTED, supported=True, domain=domain),
            share(counts, Status.VERIFIED, supported=False, domain=domain),
        )
        for name, counts, domain in (
            ("full verifier", full, None),
            ("without", without, None),
            *((f"full, {domain}", full, domain) for domain in sorted({key[0] for key in full})),
        )
    ]
    errors = Counter(wrong["error"] for case in cases for wrong in case["unsupported"])
    kinds = [
        (
            error.replace("_", " "),
            str(n),
            share(full, Status.VERIFIED, error=error),
            share(without, Status.VERIFIED, error=error),
        )
        for error, n in errors.most_common()
    ]
    n = sum(full.values())
    body = f"""`python -m benchmarks.plain_statements`: {len(cases)} passages, {n} statements, half of them
true, written by somebody who had not seen the verifier, its checks or its tests. Exact 95 % intervals.
"Without": without the exact checks ([decision 115](../decisions/115-exact-checks-have-rows.md)).

{table(heads, rows)}

Untrue statements by their error, shown as verified:

{table(("error", "n", "full", "without"), kinds)}

True statements are paraphrases, untrue ones keep the passage's words, so shared words mislead here more than
in the usual output of a writer that cites. On these statements **the verifier is no better than chance**: it
follows shared words, and an entailer of this size does not recognise who did what, or whether it happened.
About 15 of the true statements need a sum, a share or a conversion, which no part of the verifier does. The
present weights were trained on other statements of this kind ([decision
116](../decisions/116-statements-are-written.md)); before, .37 of the true and .42 of the untrue were
verified."""
    data = {"n": n, "full": _plain(full), "without": _plain(without)}
    write("plain_statements", "Plain statements about everyday texts", body, data)
    print(body)


def _plain(counts: Counter[tuple[str, str, Status]]) -> list[dict[str, object]]:
    return [
        {"domain": d, "kind": kind, "status": says, "n": n} for (d, kind, says), n in sorted(counts.items())
    ]


if __name__ == "__main__":
    main()
