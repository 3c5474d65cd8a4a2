"""JSON lines in and files out, each with one clear error.

In: a path. Out: its objects, each with the line it stands at; or a file, whole or not at all. Knows nothing
about what the lines say.
"""

from __future__ import annotations

import difflib
import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.errors import UsageError
from citewell.core.replacing import replace_file


def json_lines(path: Path, shape: str = "one object a line") -> Iterator[tuple[str, dict[str, Any]]]:
    """(where, object) of each line that is not blank; gzipped under ``.gz``. Raises UsageError."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read ({error})", hint="check the path") from error
    # Not splitlines: a text may hold what Unicode, not JSON, calls the end of a line.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            given = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise UsageError(f"{where} is not JSON ({error})", hint=shape) from error
        if not isinstance(given, dict):
            raise UsageError(f"{where} is no object", hint=shape)
        yield where, given


def write_file(path: Path, data: bytes) -> None:
    """Raises UsageError when it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror})", hint="check the folder") from error


def nearest(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint for a word that is not known."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else otherwise or f"known are {', '.join(known)}"
