"""Nothing acknowledged is lost: writers killed at random moments, and power cut under them.

    python -m benchmarks.audit_crash [--kills 1000] [--cuts 1000] [--piece 50]

In: nothing. Out: ``docs/measurements/audit_crash``. It works in pieces, each kept in the JSON beside the page
as soon as it is done, and goes on where it was stopped, until the log's code as it stands has as many; what
was measured of earlier code is kept and told apart. Killed: several processes with several threads append at
once, all are killed with SIGKILL at a random moment, again and again on the same logs. Power: the same load
is recorded below SQLite (every write, truncation, rename and sync), and a disk that forgets what was not
synced is built from it at random places. After each, every acknowledged entry must be there, open, and the
log verify.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks import audit_power
from benchmarks.reporting import RESULTS, table, write
from citewell.audit import EntryKind, SqliteLog
from citewell.audit.entries import ERASED
from citewell.core.identity import hash_bytes

FILE, ACKS = "audit.sqlite", "acks"
THREADS = 3
CONTROL = 0.2
"""Control cuts per power cut."""
WRITTEN_BY = ("log", "writer", "entries", "keys", "signing", "merkle", "database", "sqlite")
"""Modules of ``audit`` that could lose an entry or break a log; ``identity`` and ``files`` are added."""


def load(home: Path, acknowledge: int, *, entries: int = 10**9, careless: bool = False) -> None:
    """``THREADS`` threads append entries about three people; each acknowledged hash goes to a descriptor.

    ``careless`` syncs nothing: the control, which a test of durability must fail.
    """
    log = SqliteLog(home / FILE)
    if careless:
        with log.database._write_lock:  # type: ignore[attr-defined]
            log.database._writer.execute("PRAGMA synchronous = OFF")  # type: ignore[attr-defined]

    def work(number: int) -> None:
        for count in range(entries):
            text = "x" * (count * 97 % 3000)
            body = {"writer": os.getpid(), "thread": number, "count": count, "text": text}
            digest = log.note(EntryKind.FEEDBACK, body, subject=f"person {number}")
            os.write(acknowledge, f"{digest}\n".encode())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()


def judge(home: Path, acknowledged: set[str]) -> tuple[int, int, int]:
    """Acknowledged entries that are missing or unreadable, 1 if the log does not verify, and its size."""
    if not (home / FILE).exists():
        return len(acknowledged), 0, 0
    log = SqliteLog(home / FILE)
    try:
        held = {entry.hash: log.body(entry) for entry in log.entries()}
        lost = sum(1 for digest in acknowledged if held.get(digest, {}).get("text", ERASED) == ERASED)
        return lost, int(not log.check().ok) if held else 0, len(held)
    finally:
        log.close()


def killed(rounds: int, *, writers: int = 2, seed: int = 5) -> dict[str, int]:
    """A fresh log every 25 rounds, so that some kills hit a log that is being created."""
    chance = random.Random(seed)
    lost = broken = acknowledged_in_all = 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, rounds, 25):
            home = Path(folder) / str(first)
            home.mkdir()
            acknowledged: set[str] = set()
            for _ in range(min(25, rounds - first)):
                acknowledged |= _kill_once(
                    home, writers, chance.uniform(0.005, 0.25), at_work=chance.random() < 0.8
                )
                missing, unsound, _ = judge(home, acknowledged)
                lost, broken = lost + missing, broken + unsound
            acknowledged_in_all += len(acknowledged)
            shutil.rmtree(home)
    return {"kills": rounds, "acknowledged": acknowledged_in_all, "lost": lost, "broken": broken}


def _kill_once(home: Path, writers: int, after_s: float, *, at_work: bool) -> set[str]:
    """``at_work``: the time runs from the first acknowledgement, otherwise from the start."""
    reading, writing = os.pipe()
    children = []
    for _ in range(writers):
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                load(home, writing)
            finally:
                os._exit(1)
        children.append(child)
    os.close(writing)
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.extend(iter(lambda: os.read(reading, 65536), b"")))
    reader.start()
    patience = time.monotonic() + 10
    while at_work and not said and time.monotonic() < patience:
        time.sleep(0.002)
    time.sleep(after_s)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    reader.join()
    os.close(reading)
    return {line for line in b"".join(said).decode().split("\n") if len(line) == 71}


def cut_off(cuts: int, *, entries: int = 120, seed: int = 7, careless: bool = False) -> dict[str, int]:
    """Records one run, including acknowledgements as writes, and cuts it at random points."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        home, recording = Path(folder) / "home", Path(folder) / "recording"
        home.mkdir()
        library = audit_power.build(Path(folder))
        words = ["--load", str(home), "--entries", str(entries), *(["--careless"] if careless else [])]
        subprocess.run(
            [sys.executable, "-m", "benchmarks.audit_crash", *words],
            env=os.environ
            | {"LD_PRELOAD": str(library), "RECORD_BELOW": str(home), "RECORD_TO": str(recording)},
            check=True,
        )
        ops = audit_power.read(recording)
        places = sorted(chance.sample(range(len(ops) + 1), min(cuts, len(ops) + 1)))
        lost = broken = 0
        said, done = "", 0
        for place, left in audit_power.cuts(ops, str(home), places, seed, Path(folder) / "left"):
            said += "".join(op.data.decode() for op in ops[done:place] if op.path.endswith(f"/{ACKS}"))
            done = place
            missing, unsound, _ = judge(left, {line for line in said.split("\n") if line})
            lost, broken = lost + missing, broken + unsound
            shutil.rmtree(left)
    syncs = sum(1 for op in ops if op.kind == "S")
    return {
        "cuts": len(places),
        "operations": len(ops),
        "syncs": syncs,
        "acknowledged": sum(op.data.count(b"\n") for op in ops if op.path.endswith(f"/{ACKS}")),
        "lost": lost,
        "broken": broken,
    }


def code() -> str:
    """Identifies the log's current code, so that no figure is attributed to other code."""
    package = Path(__file__).parents[1] / "src" / "citewell"
    files = [package / "core" / "identity.py", package / "core" / "files.py"]
    files += [package / "audit" / f"{name}.py" for name in WRITTEN_BY]
    return hash_bytes(b"".join(file.read_bytes() for file in files))[:19]


def total(pieces: list[dict[str, dict[str, int]]], what: str) -> dict[str, int]:
    """The sum over pieces; empty if nothing was measured."""
    found: dict[str, int] = {}
    for piece in pieces:
        for key, count in piece.get(what, {}).items():
            found[key] = found.get(key, 0) + count
    return found


def tell(pieces: list[dict], command: str) -> None:  # type: ignore[type-arg]
    """Writes the page: the current code first, earlier code after it."""
    rows = []
    for name in dict.fromkeys([code(), *(piece["code"] for piece in reversed(pieces))]):
        own = [piece for piece in pieces if piece["code"] == name]
        for what, times, label in WHAT:
            sums = total(own, what)
            if sums:
                held = [str(sums[key]) for key in (times, "acknowledged", "lost", "broken")]
                rows.append([f"`{name[7:]}`, {'as it stands' if name == code() else 'before'}", label, *held])
    power = total(pieces, "power")
    body = (
        f"`{command}`\n\n"
        + table(
            [
                "code",
                "what",
                "times",
                "entries acknowledged",
                "acknowledged and lost, summed over the times",
                "times that a log did not verify",
            ],
            rows,
        )
        + "\n\nThe code is named by the hash of the files that write logs. The control loses entries: the"
        " test can fail. The recorded runs made"
        f" {power.get('operations', 0)} operations, {power.get('syncs', 0)} of them syncs."
        " After a cut, unsynced writes arrive not at all, by sectors of 512 bytes at random, or whole;"
        " unsynced names likewise. With no failure in n tries the rate is below 3/n at 95 %."
    )
    write("audit_crash", "Crashes and power cuts", body, {"pieces": pieces})


WHAT = (
    ("kill", "kills", "kill -9 of 2 processes x 3 threads"),
    ("power", "cuts", "power cut, unsynced sectors dropped"),
    ("control", "cuts", "the same with synchronous = OFF, as a control"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=1000)
    parser.add_argument("--piece", type=int, default=50, help="kills, or cuts, between two savings")
    parser.add_argument("--pieces", type=int, default=10**9, help="stop after so many")
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--entries", type=int, default=120, help=argparse.SUPPRESS)
    parser.add_argument("--careless", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load is not None:
        acks = os.open(given.load / ACKS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return load(given.load, acks, entries=given.entries // THREADS, careless=given.careless)
    kept = RESULTS / "audit_crash.json"
    pieces = json.loads(kept.read_text(encoding="utf-8"))["pieces"] if kept.exists() else []
    for _ in range(given.pieces):
        own = [piece for piece in pieces if piece["code"] == code()]
        kills = min(given.piece, given.kills - total(own, "kill").get("kills", 0))
        cuts = min(given.piece, given.cuts - total(own, "power").get("cuts", 0))
        if kills <= 0 and cuts <= 0:
            break
        seed, piece = len(pieces), {"code": code()}
        if kills > 0:
            piece["kill"] = killed(kills, seed=seed)
        if cuts > 0:
            piece["power"] = cut_off(cuts, seed=seed)
            piece["control"] = cut_off(max(1, round(cuts * CONTROL)), seed=seed, careless=True)
        pieces.append(piece)
        tell(pieces, f"python -m benchmarks.audit_crash --kills {given.kills} --cuts {given.cuts}")
    return None


if __name__ == "__main__":
    main()
