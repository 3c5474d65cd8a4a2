"""Paths -> the regular files under them with their document ids, and a failure for each that is not one.

In: files and folders as a user names them. Out: :class:`SourceFile` and :class:`FileFailure`, in an
order that depends on names alone; and the bounded bytes of one file. Opens only regular files: a device or a
pipe could block or never end. A file that has since been replaced by a link out of its folder is not
followed. Knows nothing about formats.
"""

from __future__ import annotations

import contextlib
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from citewell.core.addresses import fault_of, is_address
from citewell.core.errors import DocumentError, LimitError, UnreadableError, UsageError
from citewell.core.identity import hash_pieces

DEEPEST = 100
_MOST_VISITS = 8  # to one folder through different links
_PIECE = 1 << 20
SKIPPED_PREFIXES = (".", "~$")  # hidden files, and the lock files of office programs


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A regular file, the id its document will have, its :func:`resolve_folder`, and the real folder it was
    found under (None if it was named itself); or a file inside one: ``within`` is its name there, ``part``
    its position, both from the outermost level inwards. One at an address has its URI in ``remote``; its
    ``place`` stands for the address until ``fetch`` has returned it with the place of its bytes."""

    path: Path | str
    document_id: str
    place: Path
    root: Path | None = None
    part: tuple[int, ...] = ()
    within: str = ""
    remote: str = ""
    fetch: Callable[[SourceFile], SourceFile] | None = None

    @property
    def uri(self) -> str:
        return (self.remote or self.place.as_uri()) + (f"#{quote(self.within)}" if self.part else "")

    def inside(self, position: int, name: str) -> SourceFile:
        """The file at ``position`` inside this one."""
        path, document_id = f"{self.path}/{name}", f"{self.document_id}/{name}"
        within = f"{self.within}/{name}" if self.within else name
        return replace(self, path=path, document_id=document_id, part=(*self.part, position), within=within)


@dataclass(frozen=True, slots=True)
class FileFailure:
    """A path that yields no document, and why. ``unseen``: what is under it, if anything, is unknown;
    ``skipped``: it was skipped on purpose."""

    path: Path | str
    error: DocumentError
    place: Path
    unseen: bool = False
    skipped: bool = False


Found = Iterator[SourceFile | FileFailure]


def walk(
    paths: Sequence[Path | str],
    *,
    document_id: str | None = None,
    remote: Callable[[str], Found] | None = None,
) -> Found:
    """Every file under ``paths``, and those that ``remote`` finds at addresses among them; hidden ones
    only if named themselves, and no link that leads out of the folder it was found under: otherwise anyone
    who can write there could choose which files of this machine are read.

    An id is the path relative to the *parent* of the folder it was found under (``pdfs/NIKE_2023_10K.pdf``),
    the file's name if it was named itself, or ``document_id``. A second file with the same id is a failure.
    Raises UsageError if ``document_id`` is given for anything but one file.
    """
    one = UsageError("--id names a single document", hint="give exactly one file with it")
    if document_id is not None and (len(paths) != 1 or os.path.isdir(paths[0])):
        raise one
    taken: dict[str, SourceFile] = {}
    for path in paths:
        for item in remote(str(path)) if remote and is_address(path) else _under(Path(path)):
            if isinstance(item, FileFailure):
                yield item
                continue
            if document_id is not None and item.root is not None:
                raise one
            name = document_id if document_id is not None else item.document_id
            if fault := fault_of(name):
                told = f"its name cannot be used as an id: {fault}"
                yield _failure(item.path, item.place, told, "rename the file, or set an id with --id")
                continue
            first = taken.setdefault(name, item)
            if first is item:
                yield replace(item, document_id=name)
            elif first.place != item.place:
                hint = "ingest their common parent folder, or this one alone with --id"
                yield _failure(
                    item.path, item.place, f"its id {name!r} is already used by {first.path}", hint
                )


def resolve_folder(path: Path) -> Path:
    """The location of a named path: its real folder and its own name, even if that is a link or does not
    exist."""
    path = path.absolute()
    if path.name in ("", ".."):
        return Path(os.path.realpath(path))
    return Path(os.path.realpath(path.parent), path.name)


def is_gone(path: Path) -> bool:
    """Whether nothing exists at ``path``; False if a locked folder or a failing disk leaves that unknown."""
    try:
        os.lstat(path)
    except OSError as error:
        return isinstance(error, FileNotFoundError | NotADirectoryError)
    return False


def read_file(path: Path, *, max_bytes: int, root: Path | None = None) -> bytes:
    """The bytes of a regular file; one found under ``root``, a real folder, must still be there. Raises
    UnreadableError, or LimitError over ``max_bytes``."""
    with _opened(path, max_bytes, root) as (stream, size):
        return stream.read(size)


def hash_contents(path: Path, *, max_bytes: int, root: Path | None = None) -> str:
    """The hash of what :func:`read_file` returns, computed in pieces; raises the same errors."""
    with _opened(path, max_bytes, root) as (stream, size):
        return hash_pieces(stream.read(min(_PIECE, size - start)) for start in range(0, size, _PIECE))


@contextlib.contextmanager
def _opened(path: Path, max_bytes: int, root: Path | None) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file, opened, and its size in bytes; data appended later is not read."""
    try:
        if problem := _problem(path, path.stat().st_mode):
            raise problem
        descriptor = os.open(path, _READING) if root is None else _open_under(root, path)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise UnreadableError("it is not a regular file", hint="name a regular file")
            if status.st_size > max_bytes:
                raise too_large(max_bytes)
            yield stream, status.st_size
    except OSError as error:
        raise _unreadable(error) from error


def too_large(max_bytes: int) -> LimitError:
    """The error for a file of more than ``max_bytes``."""
    hint = "split it, or raise documents.max_file_mb"
    return LimitError(f"the file is larger than {max_bytes >> 20} MiB", hint=hint)


_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
"""``O_NONBLOCK``: if a pipe has replaced a file since it was found, opening it must not block."""


def _open_under(root: Path, path: Path) -> int:
    """A descriptor of the target of ``path``, opened folder by folder from ``root`` without following links:
    if one is inserted after the path was resolved, opening fails. Raises OSError, or UnreadableError for a
    target outside ``root``."""
    real = Path(os.path.realpath(path))
    if root not in real.parents:
        raise _left_the_folder()
    *folders, name = real.relative_to(root).parts
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        return os.open(name, _READING | os.O_NOFOLLOW, dir_fd=at)
    finally:
        os.close(at)


def _left_the_folder() -> UnreadableError:
    hint = "ingest its target by name, or copy the target into the folder"
    return UnreadableError("it is a link out of the folder", hint=hint)


_Identity = tuple[int, int]


def _under(path: Path) -> Found:
    place, found = resolve_folder(path), False
    for item in _at(path, place, place.name, _Line(Path(os.path.realpath(path)))):
        found = True
        yield item
    if not found:
        hint = "name hidden files explicitly to ingest them"
        yield _failure(path, place, "the folder contains no files", hint)


def _failure(path: Path | str, place: Path, told: str, hint: str) -> FileFailure:
    return FileFailure(path, UnreadableError(told, hint=hint), place)


@dataclass(frozen=True, slots=True)
class _Line:
    """The route to a path: the real folder that was named, the folders below it, the visits to each."""

    root: Path
    above: tuple[_Identity, ...] = ()
    visits: Counter[_Identity] = field(default_factory=Counter)

    def into(self, identity: _Identity) -> _Line:
        return _Line(self.root, (*self.above, identity), self.visits)

    def leaves(self, path: Path) -> bool:
        """Whether ``path`` is a link whose target is outside the named folder."""
        return os.path.islink(path) and not Path(os.path.realpath(path)).is_relative_to(self.root)


def _at(path: Path, place: Path, name: str, line: _Line) -> Found:
    try:
        status = path.stat()
    except OSError as error:
        yield FileFailure(path, _unreadable(error), place, unseen=True)
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _in_folder(path, place, name, line.into((status.st_dev, status.st_ino)))
    elif problem := _problem(path, status.st_mode):
        yield FileFailure(path, problem, place)
    else:
        # ``above`` is empty if the file was named itself.
        yield SourceFile(path, _name(name), place, line.root if line.above else None)


def _in_folder(folder: Path, place: Path, prefix: str, line: _Line) -> Found:
    """``line`` ends with this folder."""
    *above, identity = line.above
    line.visits[identity] += 1
    if identity in above:
        yield _failure(folder, place, "it leads back to a folder it is in", "remove the link to it")
        return
    if len(above) >= DEEPEST or line.visits[identity] > _MOST_VISITS:
        told = "its folders are nested too deep or linked too often"
        yield FileFailure(folder, LimitError(told, hint="ingest the folders one by one"), place)
        return
    try:
        entries = sorted(os.listdir(folder))
    except OSError as error:
        yield FileFailure(folder, _unreadable(error), place, unseen=True)
        return
    for entry in entries:
        if entry.startswith(SKIPPED_PREFIXES):
            continue
        if line.leaves(folder / entry):
            left = _left_the_folder()
            yield FileFailure(folder / entry, left, place / entry, unseen=True, skipped=True)
        else:
            name = f"{prefix}/{entry}" if prefix else entry
            yield from _at(folder / entry, place / entry, name, line)


_KINDS = {stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFIFO: "a pipe"}
_KINDS |= {stat.S_IFSOCK: "a socket", stat.S_IFDIR: "a folder"}


def _problem(path: Path, mode: int) -> UnreadableError | None:
    """Why ``path`` cannot be read as a file, without opening it."""
    if not stat.S_ISREG(mode):
        what = _KINDS.get(stat.S_IFMT(mode), "not a regular file")
        return UnreadableError(f"it is {what}", hint="name a regular file")
    if not os.access(path, os.R_OK):
        return UnreadableError("you may not read it", hint="check its permissions")
    return None


def _unreadable(error: OSError) -> UnreadableError:
    reason = (error.strerror or str(error)).lower()
    return UnreadableError(
        f"it cannot be opened ({reason})", hint="check the path, its links and permissions"
    )


def _name(path: str) -> str:
    """The path as an id: NFC with forward slashes; bytes that are not UTF-8 are replaced."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return unicodedata.normalize("NFC", text).replace(os.sep, "/")
