"""Isolated parsing: files are read and cut in a separate process with limited memory and time.

In: a path. Out: a Document and its chunks, or a DocumentError with a hint, whatever the file does to
its reader: an overrun or a crash kills the process, never the caller. The process is reused between files
and restarted after a kill or once it has grown. Knows nothing about formats.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

import msgspec

from citewell.core import errors
from citewell.core.config import Chunking, Documents
from citewell.core.environment import bare
from citewell.core.errors import DamagedError, DocumentError, LimitError, UnsupportedError
from citewell.core.records import Document
from citewell.documents.process import Reply, Request, command, write_frame

_STARTING_S = 60.0  # importing the readers on a cold disk is not the file's fault
_GROWN = 0.5  # of the memory limit


class ParsingWorker:
    """Context manager: ``with ParsingWorker(config.documents) as worker: worker.read(path, ...)``."""

    def __init__(self, limits: Documents) -> None:
        self.limits = limits
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> ParsingWorker:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process; the next :meth:`read` starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):  # what was still buffered for a dead process
                    stream.close()

    def read(self, path: Path, *, document_id: str) -> Document:
        """The document of the regular file ``path``. Raises a DocumentError, always with a hint."""
        document = self.open(path, document_id=document_id).document
        if document is None:
            raise UnsupportedError("it is an archive", hint="unpack it and name the file you mean")
        return document

    def kill(self) -> None:
        """Stops the current read, from another thread; whoever is waiting for it gets a DocumentError."""
        if (process := self._process) is not None:
            process.kill()

    def open(
        self,
        path: Path,
        *,
        document_id: str,
        root: Path | None = None,
        part: tuple[int, ...] = (),
        chunking: Chunking | None = None,
        known: Document | None = None,
    ) -> Reply:
        """The document of the regular file ``path`` (found under ``root``), or of its part at the positions
        ``part``, with its chunks if ``chunking`` says how to cut it, and the names of the files inside it;
        for a ``known`` version, only the chunks. One time limit covers all of this. Raises a DocumentError,
        always with a hint."""
        process, fresh = self._running()
        request = Request(
            path=os.fsencode(os.path.abspath(path)),
            document_id=document_id,
            limits=self.limits,
            root=os.fsencode(root) if root is not None else b"",
            part=part,
            document=known,
            chunking=chunking,
        )
        limit_s = self.limits.timeout_s + (_STARTING_S if fresh else 0.0)
        ends = time.monotonic() + limit_s
        timer = threading.Timer(limit_s, process.kill)
        timer.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise DamagedError("the parsing process has no pipes", hint="report this as a bug")
            write_frame(process.stdin, msgspec.msgpack.encode(request))
            payload = self._frame(process.stdout)
        except (EOFError, BrokenPipeError) as error:
            raise self._death(too_late=time.monotonic() >= ends) from error
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()
        return self._result(msgspec.msgpack.decode(payload, type=Reply))

    def _running(self) -> tuple[subprocess.Popen[bytes], bool]:
        if self._process is not None and self._process.poll() is None:
            return self._process, False
        self.close()
        self._process = subprocess.Popen(
            command("citewell.documents.process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**bare(), "PYTHONHASHSEED": "0"},
            start_new_session=True,  # Ctrl-C goes to the caller, which closes the worker itself
        )
        return self._process, True

    def _frame(self, stream: IO[bytes]) -> bytes:
        size = int.from_bytes(_exactly(stream, 8), "big")
        if size > self.limits.max_unpacked_mb << 20:
            told = f"its text and layout take {size >> 20} MiB; the limit is {self.limits.max_unpacked_mb}"
            raise LimitError(told, hint="split it, or raise documents.max_unpacked_mb")
        return _exactly(stream, size)

    def _death(self, too_late: bool) -> DocumentError:
        process = self._process
        code = process.wait() if process is not None else 0
        self.close()
        if too_late:
            hint = "split it, or raise documents.timeout_s"
            return LimitError(f"reading it took longer than {self.limits.timeout_s:g} s", hint=hint)
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return LimitError(
                f"reading it took longer than {self.limits.timeout_s:g} s of processor time or "
                f"more than {self.limits.memory_mb} MiB, and was stopped",
                hint="split it, or raise documents.timeout_s and documents.memory_mb",
            )
        name = f"exit code {code}"
        with contextlib.suppress(ValueError):
            name = signal.Signals(-code).name
        hint = "open it in the program it was made with and save it again, or raise documents.memory_mb"
        return DamagedError(f"its reader crashed ({name})", hint=hint)

    def _result(self, reply: Reply) -> Reply:
        if reply.error == LimitError.__name__ or reply.peak_mb > _GROWN * self.limits.memory_mb:
            self.close()  # used memory is not all returned, and the next file gets the whole limit
        if not reply.error:
            return reply
        kind = getattr(errors, reply.error, DamagedError)
        failure = kind(reply.message, hint=reply.hint)
        if not isinstance(failure, DocumentError):
            raise DamagedError(reply.message, hint=reply.hint)
        raise failure


def _exactly(stream: IO[bytes], count: int) -> bytes:
    received = stream.read(count)
    if len(received) < count:
        raise EOFError
    return received
