"""Paths -> the regular files under them with their document ids, and a failure for each that is none.

In: files and folders as a user names them. Out: :class:`SourceFile` and :class:`FileFailure`, in an
order that depends on names alone; and the bounded bytes of one file. Opens nothing but regular
files: a device or a pipe could block or never end. Knows nothing about formats.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.errors import DocumentError, LimitError, UnreadableError, UsageError

_DEEPEST = 100
_MOST_VISITS = 8  # of one folder by different links: more is a maze, not a library
_SKIPPED_PREFIXES = (".", "~$")  # hidden files, and the lock files of office programs


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A regular file and the id its document will have."""

    path: Path
    document_id: str


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A path that gives no document, and why."""

    path: Path
    error: DocumentError


def walk(paths: Sequence[Path], *, document_id: str | None = None) -> Iterator[SourceFile | FileFailure]:
    """Every file under ``paths``; hidden ones only when named themselves.

    An id is the path relative to the *parent* of the folder it was found under
    (``pdfs/NIKE_2023_10K.pdf``), the file's name when it was named itself, or ``document_id``.
    The second file that would have an id is a failure. Raises UsageError when ``document_id`` is
    given for anything but one file.
    """
    if document_id is not None and (len(paths) != 1 or paths[0].is_dir()):
        raise UsageError("--id names one document", hint="give exactly one file with it")
    taken: dict[str, Path] = {}
    for path in paths:
        for item in _under(path):
            if isinstance(item, FileFailure):
                yield item
                continue
            name = document_id if document_id is not None else item.document_id
            first = taken.setdefault(name, item.path)
            if first is not item.path and not _same_place(first, item.path):
                yield FileFailure(
                    item.path,
                    UnreadableError(
                        f"its id {name!r} is taken by {first}",
                        hint="ingest their common parent folder, or this one alone with --id",
                    ),
                )
            elif first is item.path:
                yield SourceFile(item.path, name)


def read_file(path: Path, *, max_bytes: int) -> bytes:
    """The bytes of a regular file. Raises UnreadableError, or LimitError over ``max_bytes``."""
    problem = _problem(path)
    if problem is not None:
        raise problem
    try:
        # O_NONBLOCK: should a pipe have taken the file's place since, opening it must not wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise _unreadable(error) from error
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("it is not a regular file", hint="give a file or a folder of files")
        try:  # a read reserves all it may return: ask for one byte more than there should be
            data = stream.read(min(status.st_size, max_bytes) + 1)
        except OSError as error:
            raise _unreadable(error) from error
    if len(data) > max_bytes:
        raise LimitError(
            f"the file has over {max_bytes >> 20} MiB", hint="split it, or raise documents.max_file_mb"
        )
    return data


def _under(path: Path) -> Iterator[SourceFile | FileFailure]:
    if not path.is_dir():
        problem = _problem(path)
        yield FileFailure(path, problem) if problem else SourceFile(path, _name(path.absolute().name))
        return
    root = Path(os.path.abspath(path))
    found = False
    for item in _in_folder(path, root.name, (), Counter()):
        found = True
        yield item
    if not found:
        yield FileFailure(
            path, UnreadableError("the folder holds no files", hint="hidden files are read when named")
        )


def _in_folder(
    folder: Path, prefix: str, above: tuple[tuple[int, int], ...], visits: Counter[tuple[int, int]]
) -> Iterator[SourceFile | FileFailure]:
    try:
        status = folder.stat()
        entries = sorted(os.listdir(folder))
    except OSError as error:
        yield FileFailure(folder, _unreadable(error))
        return
    identity = (status.st_dev, status.st_ino)
    visits[identity] += 1
    if identity in above:
        yield FileFailure(
            folder, UnreadableError("it leads back to a folder it is in", hint="remove the link to it")
        )
        return
    if len(above) >= _DEEPEST or visits[identity] > _MOST_VISITS:
        yield FileFailure(
            folder,
            LimitError("its folders are too deep or linked too often", hint="ingest the folders one by one"),
        )
        return
    for entry in entries:
        if entry.startswith(_SKIPPED_PREFIXES):
            continue
        path, name = folder / entry, f"{prefix}/{entry}" if prefix else entry
        if path.is_dir():
            yield from _in_folder(path, name, (*above, identity), visits)
        else:
            problem = _problem(path)
            yield FileFailure(path, problem) if problem else SourceFile(path, _name(name))


_KINDS = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a folder"),
)


def _problem(path: Path) -> UnreadableError | None:
    """Why ``path`` cannot be read as a file, without opening it unless it is a regular one."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return _unreadable(error)
    if not stat.S_ISREG(mode):
        what = next((what for test, what in _KINDS if test(mode)), "no regular file")
        return UnreadableError(f"it is {what}", hint="give a file or a folder of files")
    if not os.access(path, os.R_OK):
        return UnreadableError("it may not be read", hint="check its permissions")
    return None


def _unreadable(error: OSError) -> UnreadableError:
    reason = (error.strerror or str(error)).lower()
    return UnreadableError(
        f"it cannot be opened ({reason})", hint="check the path, its links and permissions"
    )


def _same_place(one: Path, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


def _name(path: str) -> str:
    """The path as an id: NFC with forward slashes; bytes that are no UTF-8 are replaced."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text).replace(os.sep, "/")
