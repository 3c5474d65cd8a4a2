"""The child process of :mod:`citewell.documents.worker`: one file at a time, read and cut under limits, and
without network access where the system allows giving it up.

In: requests on standard input. Out: replies on what was standard output; anything a library prints
goes to standard error. Both sides trust each other's frames: a length of 8 bytes, big endian, then msgpack.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from citewell.core import errors
from citewell.core.config import Chunking, Documents
from citewell.core.errors import DocumentError, LimitError
from citewell.core.records import Chunk, Document, Record
from citewell.documents.chunking import chunk_document
from citewell.documents.files import read_file
from citewell.documents.reading import OpenedFile


class Request(Record, frozen=True, kw_only=True):
    """A file to read, with ``path`` (and the ``root`` it was found under) in the operating system's bytes, or
    its ``part`` by position at each level of nesting, or a ``document`` that was read before; cut into chunks
    if ``chunking`` says how."""

    path: bytes
    document_id: str
    limits: Documents
    root: bytes = b""
    part: tuple[int, ...] = ()
    document: Document | None = None
    chunking: Chunking | None = None


class Reply(Record, frozen=True, kw_only=True):
    """A document (None for an archive, which is none itself), its chunks and the names of the files inside
    it, or the name, message and hint of a DocumentError; and the peak memory so far."""

    document: Document | None = None
    chunks: tuple[Chunk, ...] = ()
    inside: tuple[str, ...] = ()
    error: str = ""
    message: str = ""
    hint: str = ""
    peak_mb: int = 0


def command(module: str) -> list[str]:
    """The command that runs ``module.main()`` in a separate process, with this process's Citewell."""
    home = str(Path(errors.__file__).parents[2])
    # -P: a module in the working folder must not take the place of one of ours.
    return [
        sys.executable, "-P", "-c", f"import sys; sys.path.append({home!r}); import {module} as m; m.main()"
    ]  # fmt: skip


def write_frame(stream: IO[bytes], payload: bytes) -> None:
    stream.write(len(payload).to_bytes(8, "big"))
    stream.write(payload)
    stream.flush()


def main() -> None:
    """Serves requests until standard input ends."""
    if not leave_network():
        refuse_sockets()
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    files = _Files()
    while len(header := requests.read(8)) == 8:
        payload = requests.read(int.from_bytes(header, "big"))
        write_frame(replies, _serve(msgspec.msgpack.decode(payload, type=Request), files))


def _serve(request: Request, files: _Files) -> bytes:
    try:
        limit_memory(request.limits.memory_mb)
        _limit_time(request.limits.timeout_s)
        document, inside = (request.document, ()) if request.document else files.read(request)
        cut = chunk_document(document, request.chunking) if document and request.chunking else ()
        reply = Reply(document=document, chunks=tuple(cut), inside=inside, peak_mb=_peak_mb())
        return msgspec.msgpack.encode(reply)
    except DocumentError as error:
        failure = error
    except MemoryError:
        failure = LimitError(
            f"reading it needs more than {request.limits.memory_mb} MiB",
            hint="split it, or raise documents.memory_mb",
        )
    kind, told = type(failure).__name__, str(failure.args[0])
    return msgspec.msgpack.encode(Reply(error=kind, message=told, hint=failure.hint, peak_mb=_peak_mb()))


class _Files:
    """Reads files, and keeps the last one, while it is unchanged, for the others inside it."""

    def __init__(self) -> None:
        self._kept: tuple[object, OpenedFile] | None = None

    def read(self, request: Request) -> tuple[Document | None, tuple[str, ...]]:
        path = Path(os.fsdecode(request.path))
        which = (path, request.root, _state(path))
        if self._kept is None or self._kept[0] != which or not request.part:
            self._kept = None  # its memory is needed
            root = Path(os.fsdecode(request.root)) if request.root else None
            data = read_file(path, max_bytes=request.limits.max_file_mb << 20, root=root)
            name = os.fsencode(path).decode("utf-8", "replace")
            self._kept = which, OpenedFile(data, uri=name, limits=request.limits)
        document, inside = self._kept[1].read(request.part, document_id=request.document_id)
        if not request.part and not inside:
            self._kept = None
        return document, inside


def _state(path: Path) -> tuple[int, ...]:
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
    return ()


_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000
"""``CLONE_NEWNET`` and ``CLONE_NEWUSER`` of ``sched.h``."""


def leave_network() -> bool:
    """Moves this process into a new network namespace without interfaces: directly if permitted, else inside
    a new user namespace. False if the system allows neither."""
    with suppress(AttributeError, OSError, TypeError):  # only Linux has it
        unshare = ctypes.CDLL(None).unshare
        return bool(unshare(_NEW_NETWORK) == 0 or unshare(_NEW_USER | _NEW_NETWORK) == 0)
    return False


_SOCKET_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""By machine: its number among the audited architectures, and that of the call ``socket``."""
_IO_URING, _OTHER_CALLS = 425, 0x40000000
"""``io_uring_setup``, which can open sockets too, and where the numbers of x32 begin."""


def refuse_sockets() -> bool:
    """Lets this process open no more sockets, by a seccomp filter, which container engines allow where they
    forbid new namespaces. False if the system has none, or not for this machine."""
    if sys.platform != "linux" or platform.machine() not in _SOCKET_CALLS:
        return False
    machine, socket = _SOCKET_CALLS[platform.machine()]
    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    filters = (
        (load, 0, 0, 4),  # the architecture
        (equal, 0, 4, machine),
        (load, 0, 0, 0),  # the call
        (equal, 2, 0, socket),
        (equal, 1, 0, _IO_URING),
        (at_least, 0, 1, _OTHER_CALLS),
        (give, 0, 0, 0x00050000 | errno.EPERM),
        (give, 0, 0, 0x7FFF0000),  # allowed
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *one) for one in filters))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(filters), ctypes.addressof(code)))
    with suppress(AttributeError, OSError):
        prctl = ctypes.CDLL(None).prctl
        return bool(prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, program, 0, 0) == 0)
    return False


def limit_memory(most_mb: int) -> None:
    """Limits the memory of this process, and disables core dumps."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (most_mb << 20, resource.getrlimit(resource.RLIMIT_AS)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """Limits processor time for this file: what was used before does not count."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _peak_mb() -> int:
    """Peak resident memory of this program; ``ru_maxrss`` would include the caller's from before the exec."""
    status = Path("/proc/self/status")
    if status.is_file():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii", errors="replace"))
        return int(found.group(1)) >> 10 if found else 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> 20 if sys.platform == "darwin" else peak >> 10
