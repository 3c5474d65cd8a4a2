"""Nothing acknowledged is lost: writers killed at random moments, and power cut under them.

    python -m benchmarks.audit_crash [--kills 1000] [--cuts 1000]

In: nothing. Out: ``docs/measurements/audit_crash``. Killed: several processes with several threads append at
once, all are killed with SIGKILL at a random moment, again and again on the same logs. Power: the same load
is recorded below SQLite (every write, truncation, rename and sync), and a disk that forgets what was not
synced is built from it at random places. After each, every acknowledged entry must be there, open, and the
log verify.
"""

from __future__ import annotations

import argparse
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
from benchmarks.reporting import table, write
from citewell.audit import EntryKind, SqliteLog
from citewell.audit.bodies import ERASED

FILE, ACKS = "audit.sqlite", "acks"
THREADS = 3


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
    """Acknowledged entries that are not there or not to be read, 1 when the log does not verify, its size."""
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
    """A fresh log every 25 rounds, so that killing also meets logs being made."""
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
    """``at_work``: the time runs from the first acknowledgement, else from the start."""
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
    """Records one run, whose acknowledgements are writes among the others, and cuts it at random places."""
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
        lost = broken = largest = 0
        said, done = "", 0
        for place, left in audit_power.cuts(ops, str(home), places, seed, Path(folder) / "left"):
            said += "".join(op.data.decode() for op in ops[done:place] if op.path.endswith(f"/{ACKS}"))
            done = place
            missing, unsound, size = judge(left, {line for line in said.split("\n") if line})
            lost, broken, largest = lost + missing, broken + unsound, max(largest, size)
            shutil.rmtree(left)
    syncs = sum(1 for op in ops if op.kind == "S")
    return {
        "cuts": len(places),
        "operations": len(ops),
        "syncs": syncs,
        "entries": largest,
        "lost": lost,
        "broken": broken,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--cuts", type=int, default=1000)
    parser.add_argument("--load", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--entries", type=int, default=120, help=argparse.SUPPRESS)
    parser.add_argument("--careless", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load is not None:
        acks = os.open(given.load / ACKS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return load(given.load, acks, entries=given.entries // THREADS, careless=given.careless)
    kill, power = killed(given.kills), cut_off(given.cuts)
    control = cut_off(given.cuts, careless=True)
    body = (
        f"`python -m benchmarks.audit_crash --kills {given.kills} --cuts {given.cuts}`\n\n"
        + table(
            ["what", "times", "entries acknowledged", "acknowledged and lost", "logs that do not verify"],
            [
                ["kill -9 of 2 processes x 3 threads"]
                + [str(kill[key]) for key in ("kills", "acknowledged", "lost", "broken")],
                ["power cut, unsynced sectors dropped"]
                + [str(power[key]) for key in ("cuts", "entries", "lost", "broken")],
                ["the same with synchronous = OFF, as a control"]
                + [str(control[key]) for key in ("cuts", "entries", "lost", "broken")],
            ],
        )
        + f"\n\nThe recorded run made {power['operations']} operations, {power['syncs']} of them syncs."
        " After a cut, unsynced writes arrive not at all, by sectors of 512 bytes at random, or whole;"
        " unsynced names likewise. With no failure in n tries the rate is below 3/n at 95 %."
    )
    write("audit_crash", "Crashes and power cuts", body, {"kill": kill, "power": power, "control": control})
    return None


if __name__ == "__main__":
    main()
