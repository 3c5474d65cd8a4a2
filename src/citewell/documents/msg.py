"""MSG -> :class:`Mail`: what Outlook saved of a message, and the files attached to it.

In: bytes of a compound file. Out: header fields, bodies, attachments. A message attached to it is left out
and noted. Knows only the properties it needs, by their numbers in MS-OXPROPS.
"""

from __future__ import annotations

import email
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from citewell.core.errors import DamagedError
from citewell.documents.canonical import clean
from citewell.documents.mail import KEPT, Body, Mail, fields_of

_SUBJECT, _SENT, _HEADERS, _TO, _CC = 0x0037, 0x0039, 0x007D, 0x0E04, 0x0E03
_SENDER, _ADDRESS, _MESSAGE_ID, _REPLIES_TO, _REFERENCES = 0x0C1A, 0x5D01, 0x1035, 0x1042, 0x1039
_PLAIN, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_DATA, _LONG_NAME, _SHORT_NAME = 0x3701, 0x3707, 0x3704
_OWN = (("To", _TO), ("Cc", _CC), ("Subject", _SUBJECT))
_IDS = (("Message-ID", _MESSAGE_ID), ("In-Reply-To", _REPLIES_TO), ("References", _REFERENCES))
_UNICODE, _ANSI, _BINARY, _STORAGE = "001F", "001E", "0102", "000D"
_FIXED, _HEAD, _SENT_TAG = 16, 32, _SENT << 16 | 0x0040
_MOST_ATTACHED = 1_000


def from_msg(data: bytes) -> Mail:
    """Raises DamagedError for what is no message."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as file:
            return _read(file)
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise DamagedError(
            f"it is not an Outlook message that can be read ({error})", hint="save it again, or as .eml"
        ) from error


def _read(file: Any) -> Mail:
    notes: list[str] = []
    # What travelled with the message is as it was sent; a draft has nothing but Outlook's own.
    fields = dict(fields_of(email.message_from_string(_text(file, "", _HEADERS))))
    name, address = _text(file, "", _SENDER), _text(file, "", _ADDRESS)
    own = {"From": f"{name} <{address}>" if address else name, "Date": _sent(file)}
    own |= {field: _text(file, "", number) for field, number in (*_OWN, *_IDS)}
    headers = [(field, fields.get(field) or clean(own.get(field, ""))) for field in KEPT]
    body = Body(_text(file, "", _PLAIN), _text(file, "", _HTML) or _html(file))
    if not any(body) and _stream(file, "", _RTF, _BINARY):
        notes.append("the body, which it has in compressed RTF only, was left out")
    attached: list[tuple[str, Callable[[], bytes]]] = []
    folders = sorted({path[0] for path in file.listdir() if path[0].startswith("__attach_version1.0_#")})
    for number, folder in enumerate(folders[:_MOST_ATTACHED], 1):
        if file.exists(f"{folder}/__substg1.0_{_DATA:04X}{_STORAGE}"):
            notes.append("an attached Outlook message was left out")
            continue
        told = _text(file, folder, _LONG_NAME) or _text(file, folder, _SHORT_NAME) or f"part {number}"
        attached.append((told, partial(bytes, _stream(file, folder, _DATA, _BINARY))))
    return Mail(tuple((k, v) for k, v in headers if v), [body], attached, notes)


def _stream(file: Any, folder: str, number: int, kind: str) -> bytes:
    path = f"{folder}/__substg1.0_{number:04X}{kind}".lstrip("/")
    return bytes(file.openstream(path).read()) if file.exists(path) else b""


def _text(file: Any, folder: str, number: int) -> str:
    wide = _stream(file, folder, number, _UNICODE).decode("utf-16-le", "replace")
    return (wide or _stream(file, folder, number, _ANSI).decode("cp1252", "replace")).strip()


def _html(file: Any) -> str:
    """In bytes it is UTF-8 or what Windows used before."""
    data = _stream(file, "", _HTML, _BINARY)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _sent(file: Any) -> str:
    """When it was sent, in UTC, as RFC 5322 writes it; "" for a draft."""
    data = file.openstream("__properties_version1.0").read()
    for at in range(_HEAD, len(data) - _FIXED + 1, _FIXED):
        if int.from_bytes(data[at : at + 4], "little") == _SENT_TAG:
            ticks = int.from_bytes(data[at + 8 : at + 16], "little")
            when = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=min(ticks // 10, 10**17))
            return when.strftime("%a, %d %b %Y %H:%M:%S +0000")
    return ""
