"""Does anything reach somebody who may not see it? Random homes, a secret in each document, every public way.

``python -m benchmarks.access [--worlds 6]``. What is counted is calls (a caller and a way) and marks that
came back to somebody who may not see them. At the end, what a question to the log costs somebody who may see
a part of it, beside opening every record. Models are fakes: scores differ, the rule does not.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.access_world import GROUPS, asked, leaks, make_world, told
from benchmarks.reporting import write
from citewell.audit.question import AuditQuery
from citewell.core.access import Caller, Role


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=6)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--sealed", type=int, default=2000, help="records that are asked for by an auditor")
    parser.add_argument("--keep", type=Path, help="counts of each world, kept: a run that was ended goes on")
    arguments = parser.parse_args()
    known = _kept(arguments)
    counted = {"worlds": 0, "people": 0, "documents": 0, "records": 0, "calls": 0, "answers": 0, "leaks": 0}
    wrong = 0
    for seed in range(arguments.worlds):
        found = known.get(seed) or _world(seed, arguments.people, arguments.documents)
        if arguments.keep and seed not in known:
            with arguments.keep.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps([seed, arguments.people, arguments.documents, found]) + "\n")
        wrong += found.pop("wrong_counts")
        for name, n in found.items():
            counted[name] += n
        print(seed, counted, "wrong counts", wrong, flush=True)
    _report(arguments, counted, wrong, _auditing(arguments.sealed))


def _kept(arguments: argparse.Namespace) -> dict[int, dict[str, int]]:
    if not arguments.keep or not arguments.keep.is_file():
        return {}
    lines = [json.loads(line) for line in arguments.keep.read_text(encoding="utf-8").splitlines()]
    asked = [arguments.people, arguments.documents]
    return {seed: found for seed, *of, found in lines if of == asked}


def _world(seed: int, people: int, documents: int) -> dict[str, int]:
    """Tests one home twice: before and after some access lists change."""
    calls = answers = leaked = wrong = 0
    with tempfile.TemporaryDirectory(prefix="citewell-access-") as folder:
        world = make_world(
            Path(folder) / "home",
            1000 + seed,
            documents=documents,
            people=people,
            asked=6,
            sealed=120,
        )
        for turn in range(2):
            for caller in world.people:
                for way, given, value in told(world, caller):
                    calls += 1
                    leaked += bool(leaks(world, caller, value, given=given, way=way))
                kb, expected = world.kb.as_(caller), world.records(caller)
                wrong += kb.audit.counts(AuditQuery()).total != len(expected)
                wrong += {entry.document_id for entry in kb.documents()} != world.seen(caller)
                calls += 2
            for caller in world.people[:5]:
                answers += 1
                leaked += bool(leaks(world, caller, asked(world, caller)))
            if turn == 0:
                for document in world.chance.sample(world.documents, 4):
                    world.share(document)
        found = {
            "worlds": 1,
            "people": len(world.people),
            "documents": len(world.documents),
            "records": len(world.named),
            "calls": calls,
            "answers": answers,
            "leaks": leaked,
            "wrong_counts": wrong,
        }
        world.close()
    return found


def _auditing(sealed: int) -> dict[str, float]:
    """Milliseconds for a page, for the counts (auditor of one group), and for opening every record."""
    with tempfile.TemporaryDirectory(prefix="citewell-access-") as folder:
        world = make_world(Path(folder) / "home", 1, documents=40, people=30, asked=0, sealed=sealed)
        kb = world.kb.as_(Caller(user="a", groups=GROUPS[:1], roles=(Role.AUDITOR,)))
        kb.audit.counts(AuditQuery())  # takes in what is new
        ways: dict[str, Callable[[], object]] = {
            "page": lambda: kb.audit.query(AuditQuery()),
            "counts": lambda: kb.audit.counts(AuditQuery()),
            "opening all": lambda: sum(map(kb.visibility.record, world.kb.audit.queries.every(AuditQuery()))),
        }
        found = {"records": float(sealed), "theirs": float(kb.audit.counts(AuditQuery()).total)}
        for name, way in ways.items():
            took = []
            for _ in range(5):
                began = time.perf_counter()
                way()
                took.append(time.perf_counter() - began)
            found[name] = round(statistics.median(took) * 1000, 1)
        world.close()
    print(found, flush=True)
    return found


def _report(
    arguments: argparse.Namespace,
    counted: dict[str, int],
    wrong: int,
    audit: dict[str, float],
) -> None:
    asked_for = counted["calls"] + counted["answers"]
    bound = 3 / asked_for
    body = f"""
`python -m benchmarks.access --worlds {arguments.worlds} --people {arguments.people} --documents
{arguments.documents}`: {counted["worlds"]} random homes with
{counted["documents"]} documents with unique marks in id, title and text,
{counted["people"]} people with random groups and roles, {counted["records"]} records. Every public method of
the knowledge base and its log is called as each of them, before and after access lists change;
{counted["answers"]} answers are asked for and read with receipt and trace.

| calls | marks that reached who may not see them | counts and lists that were not those of the rule |
| --- | --- | --- |
| {asked_for} | **{counted["leaks"]}** | **{wrong}** |

None in {asked_for} calls bounds the rate of what this can see under {bound:.1e} with 95 % confidence (rule of
three); it cannot see how long something takes.

## What a question costs who may see a part of the log

A log of {audit["records"]:.0f} records, of which an auditor of one group may see {audit["theirs"]:.0f};
milliseconds, medians of 5, the read itself on record: the newest page of 50 {audit["page"]:.0f}, the counts
of all {audit["counts"]:.0f}. To open every record and ask the rule of each takes {audit["opening all"]:.0f}.
"""
    values = {**counted, "wrong_counts": wrong, "auditor_ms": audit}
    write("access", "Access control", body, values)


if __name__ == "__main__":
    main()
