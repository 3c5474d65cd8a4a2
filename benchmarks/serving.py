"""``citewell serve`` under many askers at once, beside one asker alone: errors, waiting, records lost.

``python -m benchmarks.serving [--home HOME] [--askers 200] [--seconds 60] [--alone 12] [--patience
300]``, twice: without HOME over a made-up home with stand-ins for the models, which shows what the
server, the index and the log bear; with HOME (ingested filings; a copy is served) with the embedded
models. Each asker has a key of their own and asks again as soon as they were answered, every fourth time
as a stream, until the time is up; what is then under way is waited for, at most ``--patience`` seconds.
Over filings the questions are FinanceBench's and others made from table rows; each asker takes them in
an order of their own. Afterwards the log is opened: an answer that a client holds and the log does not
is a lost record.

``python -m benchmarks.serving --load 20 50 200 320 [--home HOME]`` is another measurement: no question is
asked twice, by anybody, and after a refusal the asker comes back when the server says so. For each number of
askers: how many questions were answered, shed (told to come again) and lost (no end, another error, or no
record).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from benchmarks.access_world import TOPICS, make_world
from benchmarks.pass_latency import questions_of_rows
from benchmarks.reporting import RESULTS as FOLDER
from benchmarks.reporting import data_folder, table, write
from citewell.audit.question import AuditQuery
from citewell.core.access import Role
from citewell.knowledge.opening import open as open_home
from citewell.server.keys import ApiKeys

RESULTS = FOLDER / "serving.json"
STAND_INS = """
import citewell.server.serving
from benchmarks.access_world import fake_parts
from citewell.knowledge.home import KnowledgeBase

citewell.server.serving.open = lambda home, config: KnowledgeBase(fake_parts(home, config))
from citewell.cli import main
main()
"""


@dataclass
class Seen:
    """What the clients saw: seconds to each answer, and to the first verified claim of each stream."""

    answers: list[float] = field(default_factory=list)
    first_claims: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    decisions: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", default="", help="with the embedded models; stand-ins without it")
    parser.add_argument("--askers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", type=int, default=12, help="questions that one asker asks alone before")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds to wait for what is under way")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument(
        "--load", type=int, nargs="+", default=[], help="numbers of askers, no question twice"
    )
    arguments = parser.parse_args()
    values = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    values.pop("machine", None)
    if arguments.load:
        which = "load, embedded" if arguments.home else "load, stand-ins"
        values[which] = [_loaded(arguments, askers) for askers in arguments.load]
        _report(values)
        return
    with tempfile.TemporaryDirectory(prefix="citewell-serving-") as folder:
        home = _home(Path(folder), arguments.home)
        asked = [f"What is said of {topic}?" for topic in TOPICS]
        questions = _questions(home) if arguments.home else asked
        keys = _keys(home, arguments.askers)
        with _Server(home, arguments.threads, stand_ins=not arguments.home) as url:
            began = time.monotonic()
            alone = asyncio.run(_alone(url, keys[0], questions[: arguments.alone], arguments.patience))
            load = [round(value, 1) for value in os.getloadavg()]
            crowd_began = time.monotonic()
            crowd = asyncio.run(_crowd(url, keys, questions, arguments.seconds, arguments.patience))
            took = time.monotonic() - crowd_began
            print(f"alone {crowd_began - began:.0f} s, crowd {took:.0f} s", flush=True)
        sealed = _sealed(home)
    which = "embedded" if arguments.home else "stand-ins"
    values[which] = _measured(arguments, alone, crowd, sealed, took, load, len(questions))
    _report(values)


def _home(folder: Path, given: str) -> Path:
    """A copy of the home ``given``, or a made-up one."""
    home = folder / "home"
    if given:
        shutil.copytree(given, home)
    else:
        make_world(home, 1, documents=200, people=1, asked=1, sealed=0).close()
    return home


def _keys(home: Path, number: int) -> list[str]:
    store = ApiKeys(home)
    keys = [store.create(f"asker{n}", roles=(Role.ADMIN,))[1] for n in range(number)]
    store.close()
    return keys


def _loaded(arguments: argparse.Namespace, askers: int) -> dict[str, Any]:
    """One step of the load, on its own server and home."""
    with tempfile.TemporaryDirectory(prefix="citewell-serving-") as folder:
        home = _home(Path(folder), arguments.home)
        keys, load = _keys(home, askers), round(os.getloadavg()[0], 1)
        questions = (
            _unlike(home)
            if arguments.home
            else (f"What is said of {t} {n}?" for n in count() for t in TOPICS)
        )
        log = Path(folder) / "server.log"
        with _Server(home, arguments.threads, stand_ins=not arguments.home, log=log) as url:
            began = time.monotonic()
            seen = asyncio.run(_once_each(url, keys, questions, arguments.seconds, arguments.patience))
            took = time.monotonic() - began
        sealed = _sealed(home)
        failed = [line for line in log.read_text().splitlines() if '"ERROR"' in line.upper()]
        print(*failed[:10], sep="\n", flush=True)
    step = {
        "askers": askers,
        "seconds": arguments.seconds,
        "threads": arguments.threads,
        "load_before": load,
        "took_s": round(took, 1),
        "answers_per_s": round(len(seen.answers) / took, 2),
        "shed": sum(seen.refused.values()),
        "lost": sum(seen.errors.values()) + len(set(seen.ids) - sealed),
        **_values(seen),
    }
    print(step, flush=True)
    return step


async def _once_each(
    url: str, keys: Sequence[str], questions: Iterator[str], seconds: float, patience: float
) -> Seen:
    seen = Seen()
    until = time.monotonic() + seconds

    async def one(number: int, key: str) -> None:
        async with _client(url, key, patience) as client:
            turn = number
            while time.monotonic() < until and (question := next(questions, "")):
                await _ask(client, question, turn % 4 == 3, seen)
                turn += 1

    await asyncio.gather(*(one(number, key) for number, key in enumerate(keys)))
    return seen


def _unlike(home: Path) -> Iterator[str]:
    """Questions on filings, each once: FinanceBench's, then those from table rows; then all again with a
    number in front, which no cache of passages knows."""
    questions = _questions(home, 4_000)
    for turn in count():
        for place, question in enumerate(questions):
            yield question if not turn else f"({turn}.{place}) {question}"


class _Server:
    """The real command on a free loopback port."""

    def __init__(self, home: Path, threads: int, *, stand_ins: bool, log: Path = Path(os.devnull)) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        environment = {**os.environ, "CITEWELL_SERVER_THREADS": str(threads)}
        environment["CITEWELL_SERVER_QUEUE"] = "1000"
        program = STAND_INS if stand_ins else "from citewell.cli import main; main()"
        words = ["--home", str(home), "serve", "--port", str(self.port)]
        with log.open("ab") as told:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program, *words],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=told,
            )

    def __enter__(self) -> str:
        url = f"http://127.0.0.1:{self.port}"
        until = time.monotonic() + 180
        while time.monotonic() < until:
            try:
                if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                    return url
            except httpx.HTTPError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.5)
        self.__exit__()
        raise SystemExit("the server did not become ready")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            # It would answer everyone who gave up; what clients hold is already sealed.
            self.process.kill()
            self.process.wait()


async def _alone(url: str, key: str, questions: Sequence[str], patience: float) -> Seen:
    seen = Seen()
    async with _client(url, key, patience) as client:
        for number, question in enumerate(questions):
            await _ask(client, question, number % 2 == 1, seen)
    return seen


async def _crowd(
    url: str, keys: Sequence[str], questions: Sequence[str], seconds: float, patience: float
) -> Seen:
    seen = Seen()
    until = time.monotonic() + seconds

    async def one(number: int, key: str) -> None:
        order = list(questions)
        random.Random(number).shuffle(order)
        turn = 0
        async with _client(url, key, patience) as client:
            while time.monotonic() < until:
                await _ask(client, order[turn % len(order)], (number + turn) % 4 == 3, seen)
                turn += 1

    await asyncio.gather(*(one(number, key) for number, key in enumerate(keys)))
    return seen


def _client(url: str, key: str, patience: float) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=httpx.Timeout(patience), trust_env=False)


async def _ask(client: httpx.AsyncClient, question: str, stream: bool, seen: Seen) -> None:
    began = time.monotonic()
    try:
        if stream:
            await _listen(client, question, began, seen)
            return
        reply = await client.post("/v1/ask", json={"question": question})
        if reply.status_code == 200:
            _note(reply.json(), began, seen)
            return
        await _refused(reply.status_code, reply.headers.get("retry-after", "1"), seen)
    except httpx.HTTPError as error:
        seen.errors[type(error).__name__] += 1


async def _listen(client: httpx.AsyncClient, question: str, began: float, seen: Seen) -> None:
    first = True
    async with client.stream("POST", "/v1/ask", json={"question": question, "stream": True}) as reply:
        if reply.status_code != 200:
            await reply.aread()
            await _refused(reply.status_code, reply.headers.get("retry-after", "1"), seen)
            return
        async for line in reply.aiter_lines():
            if line.startswith("data:"):
                event = json.loads(line[5:])
                verdict = (event.get("claim") or {}).get("verdict") or {}
                if first and event.get("kind") == "verdict" and verdict.get("status") == "VERIFIED":
                    seen.first_claims.append(time.monotonic() - began)
                    first = False
                if event.get("kind") == "done":
                    _note(event["answer"], began, seen)
                    return
                if "status" in event:  # the problem that ended it, including too long a wait
                    await _refused(event["status"], "1", seen)
                    return
    seen.errors["stream without an end"] += 1


def _note(answer: dict[str, Any], began: float, seen: Seen) -> None:
    seen.answers.append(time.monotonic() - began)
    seen.ids.append(answer["request_id"])
    seen.decisions[answer["decision"]] += 1


async def _refused(status: int, wait: str, seen: Seen) -> None:
    """Being told to come again is not an error; anything else is."""
    if status in (429, 503):
        seen.refused[str(status)] += 1
        await asyncio.sleep(min(float(wait), 10.0))
    else:
        seen.errors[str(status)] += 1


def _questions(home: Path, of_rows: int = 60) -> list[str]:
    with open_home(home) as kb:
        listed = [entry for entry in kb.documents() if entry.state == "indexed"]
        documents = [kb.document(entry.document_id) for entry in listed]
    there = {Path(document.document_id).stem for document in documents}
    lines = (data_folder() / "financebench" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [row["question"] for row in map(json.loads, lines) if row["doc_name"] in there]
    return asked + questions_of_rows(documents, of_rows)


def _sealed(home: Path) -> set[str]:
    """Every request in the log, which must verify."""
    with open_home(home) as kb:
        report = kb.log.check()
        # A made-up home's documents were never ingested.
        if faults := [found for found in report.findings if found.kind != "catalogue"]:
            raise SystemExit(f"the log does not verify: {faults[:3]}")
        return {record.request_id for record in kb.audit.every(AuditQuery())}


def _measured(
    arguments: argparse.Namespace,
    alone: Seen,
    crowd: Seen,
    sealed: set[str],
    took: float,
    load: list[float],
    questions: int,
) -> dict[str, Any]:
    held = set(alone.ids + crowd.ids)
    return {
        "askers": arguments.askers,
        "seconds": arguments.seconds,
        "patience_s": arguments.patience,
        "threads": arguments.threads,
        "questions": questions,
        "load_before": load,
        "took_s": round(took, 1),
        "answers_per_s": round(len(crowd.answers) / took, 2),
        "alone": _values(alone),
        "crowd": _values(crowd),
        "held": len(held),
        "records_lost": len(held - sealed),
        "sealed_and_not_held": len(sealed - held),
    }


NAMES = {
    "stand-ins": "With stand-ins for the models: the limits of server, index and log",
    "embedded": "With the embedded models on filings: the limits of this processor",
}
HEADS = ("", "answers", "p50 s", "p95 s", "p99 s", "first verified claim p50 s", "come again", "errors")


def _report(values: dict[str, Any]) -> None:
    parts = []
    for which, name in NAMES.items():
        if which not in values:
            continue
        told = values[which]
        home = " --home HOME" if which == "embedded" else ""
        rows = [["one asker", *_row(told["alone"])], [f"{told['askers']} askers", *_row(told["crowd"])]]
        parts.append(
            f"""## {name}

`python -m benchmarks.serving{home} --askers {told["askers"]} --seconds {told["seconds"]:.0f} --patience
{told["patience_s"]:.0f}`: {told["threads"]} threads, {told["questions"]} different questions, load of
the machine before {told["load_before"][0]} on {os.cpu_count()} cores. Nothing new is asked after
{told["seconds"]:.0f} seconds; the last answer came, or the last client gave up, after {told["took_s"]:.0f}.

{table(HEADS, rows)}

**Records lost: {told["records_lost"]}** of {told["held"]} answers that clients hold;
{told["sealed_and_not_held"]} more are sealed for clients that had given up; the log verifies. All askers
together: {told["answers_per_s"]} answers a second. Errors: {_told(told["crowd"]["errors"])}."""
        )
    for which in ("load, stand-ins", "load, embedded"):
        parts += [_load_table(which, values[which])] if which in values else []
    body = f"""
`citewell serve` on loopback. Each user has their own key and asks again as soon as they are answered, every
fourth time as a stream; the single user every second time. Repeated questions cost less, because passages
that were read for a question are cached.

{(chr(10) * 2).join(parts)}

Callers take turns, and no question waits longer than `server.max_wait_s` (30 s) for a thread: one that would
is told to come again (503), which does not count as an error here. What is under way is finished, so an
answer can take longer than that. A client that gave up loses its answer, not its record.
Times are wall-clock times on a shared machine, and the models use all of it: a load far above the number of
cores means that the server had a fraction of one.
"""
    write("serving", "Concurrent users", body, values)


def _load_table(which: str, steps: Sequence[dict[str, Any]]) -> str:
    heads = ("askers", "answered", "a second", "p50 s", "p95 s", "longest s", "shed", "lost")
    rows = [
        [
            str(step["askers"]),
            str(step["answers"]),
            str(step["answers_per_s"]),
            *(_shown(step[name]) for name in ("p50_s", "p95_s", "longest_s")),
            str(step["shed"]),
            str(step["lost"]),
        ]
        for step in steps
    ]
    home = " --home HOME" if which.endswith("embedded") else ""
    first = steps[0]
    return f"""## {which[0].upper()}{which[1:]}: no question twice

`python -m benchmarks.serving --load {" ".join(str(step["askers"]) for step in steps)}{home} --seconds
{first["seconds"]:.0f}`: {first["threads"]} threads; load of the machine before {first["load_before"]} on
{os.cpu_count()} cores.

{table(heads, rows)}

*Shed* is told to come again, at once or after `server.max_wait_s`; *lost* ended in another error or without
an end, or is in no record. Errors: {_told(sum((Counter(step["errors"]) for step in steps), Counter()))}."""


def _told(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n}" for name, n in errors.items()) or "none"


def _row(told: dict[str, Any]) -> list[str]:
    return [
        str(told["answers"]),
        *(_shown(told[name]) for name in ("p50_s", "p95_s", "p99_s", "first_claim_p50_s")),
        str(sum(told["told_to_come_again"].values())),
        str(sum(told["errors"].values())),
    ]


def _values(seen: Seen) -> dict[str, Any]:
    return {
        "answers": len(seen.answers),
        "p50_s": _percentile(seen.answers, 50),
        "p95_s": _percentile(seen.answers, 95),
        "p99_s": _percentile(seen.answers, 99),
        "longest_s": round(max(seen.answers), 2) if seen.answers else None,
        "first_claims": len(seen.first_claims),
        "first_claim_p50_s": _percentile(seen.first_claims, 50),
        "decisions": dict(seen.decisions),
        "told_to_come_again": dict(seen.refused),
        "errors": dict(seen.errors),
    }


def _percentile(values: Sequence[float], percent: int) -> float | None:
    if not values:
        return None
    if len(values) == 1:
        return round(values[0], 2)
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 2)


def _shown(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.1f}"


if __name__ == "__main__":
    main()
