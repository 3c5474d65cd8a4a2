"""A disk that loses what was not synced: exactly what a power cut may leave of a recorded run.

In: the file written by ``storage_recorder.c``. Out: folders as they may be found once power returns. A file's
bytes are certain up to its last sync; any 512-byte sector written later may or may not have arrived; a name
is certain once its folder has been synced after it. Stricter than most disks and file systems. Independent of
logs.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
_HEAD = struct.Struct("<cIQI")
SOURCE = Path(__file__).parent / "storage_recorder.c"


@dataclass(frozen=True)
class Op:
    """``kind`` as in ``storage_recorder.c``; ``offset`` is the size for a truncation."""

    kind: str
    path: str
    offset: int
    data: bytes


@dataclass
class _File:
    certain: bytearray = field(default_factory=bytearray)
    pending: list[Op] = field(default_factory=list)


def build(folder: Path) -> Path:
    """The recorder as a library to load with LD_PRELOAD. Raises FileNotFoundError without a C compiler."""
    library = folder / "storage_recorder.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl", "-lpthread"]
    subprocess.run(command, check=True, capture_output=True)
    return library


def read(recording: Path) -> list[Op]:
    data, at, ops = recording.read_bytes(), 0, []
    while at < len(data):
        kind, named, offset, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        path = data[at : at + named].decode()
        ops.append(Op(kind.decode(), path, offset, data[at + named : at + named + length]))
        at += named + length
    return ops


class Disk:
    """The state of the folder ``root`` as operations are applied."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._live: dict[str, _File | None] = {}
        self._certain: dict[str, _File | None] = {}
        self._names: dict[str, list[tuple[Op, _File]]] = {}

    def do(self, op: Op) -> None:
        if op.kind == "W" or op.kind == "T":
            held = self._live.get(op.path)
            if held is not None:
                held.pending.append(op)
        elif op.kind == "S":
            self._sync(op.path)
        else:
            fresh = _File()
            self._rename(self._live, op, fresh)
            self._names.setdefault(op.path.rpartition("/")[0], []).append((op, fresh))

    def cut(self, chance: random.Random, into: Path) -> None:
        """Writes what is left to ``into``: names and sectors that were not certain arrive at random."""
        names = dict(self._certain)
        arriving = chance.choice((0.0, 0.5, 1.0))
        for pending in self._names.values():
            # Every file system in use journals folders: changes arrive in order.
            for op, fresh in pending[: chance.randint(0, len(pending)) if arriving else 0]:
                self._rename(names, op, fresh)
        for path, held in names.items():
            inside = path.removeprefix(self._root).strip("/")
            folders = [
                f"{self._root}/{'/'.join(inside.split('/')[:n])}" for n in range(1, inside.count("/") + 1)
            ]
            if held is None or not all(folder in names for folder in folders):
                continue
            (into / inside).parent.mkdir(parents=True, exist_ok=True)
            (into / inside).write_bytes(_left(held, chance, arriving))

    def _sync(self, path: str) -> None:
        held = self._live.get(path)
        if held is not None:
            for op in held.pending:
                _apply(held.certain, op)
            held.pending.clear()
        for op, fresh in self._names.pop(path, ()):
            self._rename(self._certain, op, fresh)

    def _rename(self, names: dict[str, _File | None], op: Op, fresh: _File) -> None:
        if op.kind == "C":
            names[op.path] = fresh
        elif op.kind == "M":
            names[op.path] = None
        elif op.kind == "U":
            names.pop(op.path, None)
        elif op.path in names:
            target = op.data.decode()
            names[target] = names.pop(op.path) if op.kind == "R" else names[op.path]


def _left(held: _File, chance: random.Random, arriving: float) -> bytes:
    left = bytearray(held.certain)
    for op in held.pending:
        if op.kind == "T":
            if chance.random() < arriving:
                _apply(left, op)
            continue
        for start in range(0, len(op.data), SECTOR):
            if chance.random() < arriving:
                piece = op.data[start : start + SECTOR]
                _apply(left, Op("W", op.path, op.offset + start, piece))
    return bytes(left)


def _apply(content: bytearray, op: Op) -> None:
    if op.kind == "T":
        del content[op.offset :]
        content.extend(bytes(op.offset - len(content)))
        return
    content.extend(bytes(max(0, op.offset - len(content))))
    content[op.offset : op.offset + len(op.data)] = op.data


def cuts(
    ops: Sequence[Op], root: str, at: Sequence[int], seed: int, into: Path
) -> Iterator[tuple[int, Path]]:
    """Cuts power before each place in ``at`` (ascending); yields the place and a folder of what is left."""
    chance = random.Random(seed)
    disk, done = Disk(root), 0
    for number, place in enumerate(at):
        for op in ops[done:place]:
            disk.do(op)
        done = place
        folder = into / str(number)
        folder.mkdir(parents=True)
        disk.cut(chance, folder)
        yield place, folder
