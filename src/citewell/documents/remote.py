"""Addresses (``s3://bucket/reports``, ``https://host/page.html``) -> the files behind them.

In: an address that the owner of the home named. Out: :class:`SourceFile` and :class:`FileFailure`, as of a
folder; the bytes of a file when it is about to be read, in a private folder that holds one file at a time.
Fetches nothing else: no link in a document, nothing that a caller of the server names. Knows nothing about
formats.
"""

from __future__ import annotations

import os
import re
import tempfile
import threading
import time
import unicodedata
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from citewell.core.addresses import is_address
from citewell.core.config import Documents
from citewell.core.errors import DocumentError, LimitError, MissingExtraError, UnreadableError, UsageError
from citewell.documents.files import (
    DEEPEST,
    SKIPPED_PREFIXES,
    FileFailure,
    Found,
    SourceFile,
    resolve_folder,
    too_large,
)

_PIECE = 1 << 20
_SILENCE_S = 20.0  # that a web server may take for its next bytes
_REDIRECTS = 5
_WEB = ("http://", "https://")
_OUTSIDE = "check the address, the network and your credentials"
_NOTHING = "there is nothing at this address"
Pieces = Callable[[int], Generator[bytes, None, None]]
"""The bytes of a file, given the most that it may have."""


def uri_of(address: str) -> str:
    """The address as stored with a document: a ``#`` in it would separate a file from what is inside it."""
    return address.partition("#")[0] if address.startswith(_WEB) else quote(address, "/:@", errors="replace")


def place_of(given: Path | str) -> Path:
    """What identifies a named path or address: :func:`resolve_folder`, or the URI as a relative path."""
    return Path(uri_of(str(given))) if is_address(given) else resolve_folder(Path(given))


class Remote(ExitStack):
    """The addresses of one ingest; closing it deletes what it holds. ``missing``: the URIs of files that were
    gone when they were fetched."""

    def __init__(self, limits: Documents) -> None:
        super().__init__()
        self._limits, self._stopped = limits, threading.Event()
        self._roots: dict[str, tuple[Any, str]] = {}
        self._present: set[str] = set()
        self.missing: set[str] = set()

    def stop(self) -> None:
        """Ends the current fetch at its next bytes."""
        self._stopped.set()

    def is_gone(self, uri: str) -> bool:
        """Whether there is nothing at an address under those that were walked; False if that is unknown."""
        if uri in self._present:
            return uri in self.missing
        address = unquote(uri)
        root = next((one for one in self._roots if address.startswith(one)), None)
        if root is None:
            return False
        system, path = self._roots[root]
        try:
            system.info(path + address.removeprefix(root))
        except Exception as error:  # noqa: BLE001 - every file system raises its own
            return _absent(error)
        return False

    def under(self, given: str) -> Found:
        """The file at the address, or every file under it; no hidden ones, and no links. Raises UsageError
        for an address that cannot be used, MissingExtraError if its package is not installed."""
        address = _checked(given)
        if address.startswith(_WEB):
            yield self._file(address, partial(_get, address), None)
            return
        try:
            system, path = _open(address)
            system.invalidate_cache()
            self._roots[address] = system, path
            kind = system.info(path)["type"]
        except (UsageError, MissingExtraError):
            raise
        except Exception as error:  # noqa: BLE001 - every file system raises its own
            yield _unseen(address, error)
            return
        if kind != "directory":
            yield self._file(address, partial(_read, system, path), None)
            return
        found = False
        for item in self._under(system, path, address, Path(uri_of(address)), 0):
            found = True
            yield item
        if not found:  # in an object store, this may be a mistyped name: nothing is withdrawn
            yield _unseen(address, UnreadableError(_NOTHING, hint=_OUTSIDE))

    def _under(self, system: Any, path: str, address: str, root: Path, depth: int) -> Found:
        try:
            if depth > DEEPEST:
                raise LimitError("its folders are nested too deep", hint="ingest the folders one by one")
            entries = sorted(system.ls(path, detail=True), key=lambda entry: str(entry["name"]))
        except Exception as error:  # noqa: BLE001 - every file system raises its own
            yield _unseen(address, error)
            return
        for entry in entries:
            full = entry["name"].rstrip("/")
            name = full.rpartition("/")[2]
            below = f"{address}{'' if address.endswith('/') else '/'}{name}"
            if full == path.rstrip("/") or name.startswith(SKIPPED_PREFIXES):  # an object that marks a folder
                continue
            if entry["type"] == "directory":
                yield from self._under(system, full, below, root, depth + 1)
            elif entry["type"] == "file":
                yield self._file(below, partial(_read, system, entry["name"]), root)
            else:
                fault = UnreadableError("it is a link or a device", hint="name a regular file")
                yield replace(_unseen(below, fault), skipped=True)

    def _file(self, address: str, pieces: Pieces, root: Path | None) -> SourceFile:
        uri = uri_of(address)
        self._present.add(uri)
        name = unicodedata.normalize("NFC", address)
        fetch = partial(self._fetch, pieces)
        return SourceFile(address, name, Path(uri), root, remote=uri, fetch=fetch)

    def _fetch(self, pieces: Pieces, source: SourceFile) -> SourceFile:
        """The file with its bytes in the private folder, until the next fetch. Raises UnreadableError, or
        LimitError for more bytes or time than a file may have."""
        self.close()
        folder = self.enter_context(tempfile.TemporaryDirectory(prefix="citewell-"))
        limits, size = self._limits, 0
        most, ends = limits.max_file_mb << 20, time.monotonic() + limits.timeout_s
        name = source.remote.partition("?")[0].rpartition("/")[2]
        place = Path(folder, re.sub(r"[^\w. -]", "_", name)[-60:].strip(". ") or "document")
        try:
            with closing(pieces(most)) as found, place.open("xb") as kept:
                for piece in found:
                    size += len(piece)
                    if size > most:
                        raise too_large(most)
                    if time.monotonic() > ends:
                        told = f"fetching it took longer than {limits.timeout_s:g} s"
                        raise LimitError(told, hint="raise documents.timeout_s")
                    if self._stopped.is_set():
                        raise UnreadableError("the fetch was stopped", hint="run the same command again")
                    kept.write(piece)
        except DocumentError:
            raise
        except Exception as error:
            if _absent(error):
                self.missing.add(source.remote)
            raise _told(error) from error
        return replace(source, place=place, root=None, fetch=None)


def _checked(given: str) -> str:
    """The address in one spelling. Raises UsageError if it must not or cannot be fetched."""
    scheme, _, rest = given.partition("://")
    rest = rest.partition("#")[0] if given.startswith(_WEB) else rest.rstrip("/")
    address = f"{scheme}://{rest}"
    if scheme in ("file", "local") or "::" in given:
        raise UsageError(f"{given} is not an address of files elsewhere", hint="name the path of the file")
    # An address is the document's id: everybody who sees an answer from it can read it.
    if scheme != "github" and ":" in rest.partition("/")[0].rpartition("@")[0]:
        hint = "give it to the file system as its documentation says, or in ~/.netrc for the web"
        raise UsageError(f"the {scheme} address holds a password", hint=hint)
    return address


def _open(address: str) -> tuple[Any, str]:
    """The file system and the path in it. Raises UsageError, MissingExtraError, or any other exception if it
    cannot be reached."""
    scheme = address.partition("://")[0]
    try:
        from fsspec import available_protocols
        from fsspec.core import url_to_fs
        from fsspec.registry import known_implementations
    except ImportError as error:
        told = f"{scheme}:// addresses need fsspec"
        raise MissingExtraError(told, hint="pip install 'citewell[remote]'") from error
    if scheme not in available_protocols():
        hint = "use one that fsspec knows, such as s3://, gs://, az://, sftp:// or https://"
        raise UsageError(f"{scheme}:// is not a known kind of address", hint=hint)
    try:
        found: tuple[Any, str] = url_to_fs(address)
    except ImportError as error:
        package = known_implementations.get(scheme, {}).get("class", "").partition(".")[0]
        hint = str(error) if package == "fsspec" else f"pip install {package}"
        raise MissingExtraError(f"{scheme}:// needs a package that is missing", hint=hint) from error
    return found


def _read(system: Any, path: str, most: int) -> Generator[bytes, None, None]:
    with system.open(path, "rb") as stream:
        if (getattr(stream, "size", None) or 0) > most:
            raise too_large(most)
        while piece := stream.read(_PIECE):
            yield piece


def _get(address: str, most: int) -> Generator[bytes, None, None]:
    """One GET. Redirects stay on its host: a server elsewhere could point at one that only this machine
    reaches."""
    import httpx2

    def same_host(request: Any) -> None:
        host = request.url.host
        if host.removeprefix("www.") != httpx2.URL(address).host.removeprefix("www."):
            hint = "open it in a browser, and ingest the address where you end up"
            raise UnreadableError(f"it redirects to another host, {host}", hint=hint)

    # Compressed, a few bytes could be any number.
    headers = {"Accept-Encoding": "identity", "User-Agent": "citewell"}
    hooks = {"request": [same_host]}
    try:
        client = httpx2.Client(
            follow_redirects=True, max_redirects=_REDIRECTS, timeout=_SILENCE_S, event_hooks=hooks
        )
    except OSError as error:  # not found here would mean that the page is gone
        hint = "check SSL_CERT_FILE and SSL_CERT_DIR"
        raise UnreadableError("the certificates of this machine cannot be read", hint=hint) from error
    with client, client.stream("GET", address, headers=headers) as answer:
        if answer.status_code in (404, 410):
            raise FileNotFoundError(address)
        if not answer.is_success or answer.headers.get("Content-Encoding", "identity") != "identity":
            coding = answer.headers.get("Content-Encoding", "")
            told = f"HTTP status {answer.status_code}{coding and ', compressed with ' + coding}"
            raise UnreadableError(f"the server's answer cannot be used ({told})", hint=_OUTSIDE)
        yield from answer.iter_raw()


def _absent(error: Exception) -> bool:
    """Whether it says that there is nothing at the address, and not that a file of this machine, such as one
    with credentials, is missing: that error names it."""
    return isinstance(error, FileNotFoundError) and not os.path.isabs(str(error.filename or ""))


def _told(error: Exception) -> DocumentError:
    if isinstance(error, DocumentError):
        return error
    if _absent(error):
        return UnreadableError(_NOTHING, hint=_OUTSIDE)
    said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return UnreadableError(f"it cannot be fetched ({said})", hint=_OUTSIDE)


def _unseen(address: str, error: Exception) -> FileFailure:
    return FileFailure(address, _told(error), place_of(address), unseen=True)
