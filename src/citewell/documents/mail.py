"""Mail -> Document: the header fields, and the body as it was written, with quotations marked.

In: bytes of a message as sent (EML) or as saved by Outlook (MSG, of which only the properties needed are
known, by their numbers in MS-OXPROPS). Out: its pieces, and its attachments, which are read separately; a
message attached to an MSG is left out and noted. The date is the header's; messages of one thread share a
tag made from the first message's id. Knows nothing about mailboxes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser, Parser
from email.policy import Compat32
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from citewell.core.config import Documents
from citewell.core.errors import DamagedError, LimitError
from citewell.documents.canonical import Canonical, clean
from citewell.documents.encoding import decode
from citewell.documents.html import read_page
from citewell.documents.metadata import Metadata, found, found_date, found_title
from citewell.documents.outcomes import THREAD
from citewell.documents.text import write_text

_SHOWN = ("From", "To", "Cc", "Date")
KEPT = (*_SHOWN, "Subject", "Reply-To", "Message-ID", "In-Reply-To", "References")
_LONGEST_FIELD, _LONGEST_PARAMETERS, _DEEPEST, _MOST_PARTS = 20_000, 2_000, 30, 1_000
_ID = re.compile(r"<([^<>\s]{1,250})>")
_QUOTED = re.compile(r"^[ \t]*+(?:>[ \t]?+)++")
_LONGEST_ATTRIBUTION = 3  # lines: "On Tue, 3 March 2026, Ann Bee <ann@example.org>\nwrote:"


class Body(NamedTuple):
    """One text of a message, in the forms that exist."""

    plain: str = ""
    html: str = ""


class Mail(NamedTuple):
    """``attached`` pairs each attachment's name with the function that decodes it."""

    headers: tuple[tuple[str, str], ...]
    bodies: list[Body]
    attached: list[tuple[str, Callable[[], bytes]]]
    notes: list[str]


def read_mail(mail: Mail, limits: Documents) -> Canonical:
    """The fields that are shown, the bodies, and the names of the attachments."""
    fields = dict(reversed(mail.headers))
    metadata = Metadata(
        title=found_title(fields.get("Subject"), "mail header"),
        author=found(fields.get("From"), "mail header"),
        published_at=found_date(fields.get("Date"), "mail header"),
    )
    out = Canonical(metadata, titled=False)
    out.headers, out.tags = mail.headers, _thread(fields)
    out.heading(fields.get("Subject", ""), 1)
    for name, value in mail.headers:
        if name in _SHOWN:
            out.paragraph(f"{name}: {value}")
    for body in mail.bodies:
        # Quotations are marked in the plain form; use HTML if there is no other or it has tables.
        trial = Canonical()
        if body.html and body.plain.strip():
            read_page(body.html, trial, limits)
        if body.html and (trial.has_tables or not body.plain.strip()):
            read_page(body.html, out, limits)
        else:
            _write_plain(body.plain, out)
    out.leave(2)
    out.paragraph("; ".join(name for name, _ in mail.attached), "Attachments:")
    for note in mail.notes:
        out.note(note)
    return out


class _ShortFields(Compat32):
    """Cuts long fields, those with parameters further: the standard library reads these in quadratic time."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        most = _LONGEST_PARAMETERS if name.lower().startswith("content-") else _LONGEST_FIELD
        return name, value[:most]


_SHORT_FIELDS = _ShortFields()


class _Part(Message):
    """Raises LimitError while it is parsed: each line is compared with the boundaries of all parts around
    it."""

    depth = 0

    def attach(self, payload: Message) -> None:  # type: ignore[override]
        super().attach(payload)
        payload.depth = self.depth + 1  # type: ignore[attr-defined]
        if self.depth >= _DEEPEST or len(self.get_payload()) > _MOST_PARTS:
            raise _unusual()


def _unusual() -> LimitError:
    hint = f"this is unusual: the limits are {_DEEPEST} levels and {_MOST_PARTS} parts"
    return LimitError("its parts are nested too deep, or too many", hint=hint)


def from_eml(data: bytes) -> Mail:
    """A message from EML. Raises LimitError for parts that are nested too deep or too many."""
    message = BytesParser(_Part, policy=_SHORT_FIELDS).parsebytes(data)
    mail = Mail(tuple(fields_of(message)), [], [], [])
    _collect(message, mail, 0)
    return mail


def fields_of(message: Message) -> Iterator[tuple[str, str]]:
    """The kept fields, first occurrence only, decoded, on one line."""
    for name in KEPT:
        for value in message.get_all(name, [])[:1]:
            yield name, clean(_decoded(str(value)[:_LONGEST_FIELD]))


def _decoded(value: str) -> str:
    try:
        return str(make_header(decode_header(value)))
    except (LookupError, ValueError):  # an unknown or a wrong character set
        return value


def _collect(part: Message, mail: Mail, depth: int) -> None:
    """Adds the part's texts to the bodies and its attachments to the attachments."""
    if depth > _DEEPEST or len(mail.attached) + len(mail.bodies) > _MOST_PARTS:
        raise _unusual()
    kind, inner = part.get_content_type(), part.get_payload()
    name = part.get_filename()
    if kind == "message/rfc822" and isinstance(inner, list) and isinstance(inner[0], Message):
        subject = dict(fields_of(inner[0])).get("Subject", "message")
        mail.attached.append((f"{subject.replace('/', '-')[:100]}.eml", inner[0].as_bytes))
    elif isinstance(inner, list) and part.get_content_maintype() == "multipart":
        first = len(mail.bodies)
        for each in inner:
            if isinstance(each, Message):
                _collect(each, mail, depth + 1)
        if kind == "multipart/alternative":
            forms = [[form for form in pair if form] for pair in zip(*mail.bodies[first:], strict=True)]
            mail.bodies[first:] = [Body(*("\n\n".join(form) for form in forms))] if forms else []
    elif _is_body(part) and not name:
        text = _text(part, mail)
        mail.bodies.append(Body(html=text) if kind == "text/html" else Body(plain=text))
    else:
        number = len(mail.attached) + 1
        told = _decoded(name) if name else f"part {number}.{part.get_content_subtype()}"
        mail.attached.append((told, partial(_decode, part)))
    if part.defects:
        mail.notes.append(f"the message is malformed: {type(part.defects[0]).__name__}")


def _is_body(part: Message) -> bool:
    """Whether the part is text that is shown; a multipart without boundaries counts too."""
    shown = part.get_content_type() in ("text/plain", "text/html")
    return (shown and part.get_content_disposition() != "attachment") or (
        part.get_content_maintype() == "multipart"
    )


def _decode(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else part.as_bytes()


def _text(part: Message, mail: Mail) -> str:
    charset = part.get_content_charset("")
    try:
        text, note = decode(_decode(part), declared=charset)
    except DamagedError as error:
        text, note = _decode(part).decode("utf-8", "replace"), f"characters shown as \ufffd: {error.args[0]}"
    mail.notes.extend([note] if note else [])
    return text


def _write_plain(text: str, out: Canonical) -> None:
    """Paragraphs; a quotation comes under its attribution line, with ">" before each paragraph."""
    marked = groupby(text.splitlines(), key=lambda line: _QUOTED.match(line) is not None)
    runs = [(quoted, list(lines)) for quoted, lines in marked]
    for at, (quoted, lines) in enumerate(runs):
        if quoted:
            write_text("\n".join(_QUOTED.sub("", line) for line in lines), out, ">")
            out.leave(2)
            continue
        attribution = _attribution(lines) if at + 1 < len(runs) else []
        write_text("\n".join(lines[: len(lines) - len(attribution)]), out)
        out.leave(2)
        out.heading(" ".join(attribution), 2)


def _attribution(lines: list[str]) -> list[str]:
    """The last lines after a blank one, with any blank ones that follow, if they end with a colon."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    told = end and lines[end - 1].rstrip().endswith(":") and end - start <= _LONGEST_ATTRIBUTION
    return lines[start:] if told else []


def _thread(fields: dict[str, str]) -> tuple[str, ...]:
    """The tag that all messages of a thread share: the first id that they refer to, or their own."""
    named = (_ID.search(fields.get(name, "")) for name in ("References", "In-Reply-To", "Message-ID"))
    first = next((match.group(1) for match in named if match), "")
    return (THREAD + first,) if first else ()


_SUBJECT, _SENT, _HEADERS, _TO, _CC = 0x0037, 0x0039, 0x007D, 0x0E04, 0x0E03
_SENDER, _ADDRESS, _MESSAGE_ID, _REPLIES_TO, _REFERENCES = 0x0C1A, 0x5D01, 0x1035, 0x1042, 0x1039
_PLAIN, _HTML, _RTF = 0x1000, 0x1013, 0x1009
_DATA, _LONG_NAME, _SHORT_NAME = 0x3701, 0x3707, 0x3704
_OWN = (("To", _TO), ("Cc", _CC), ("Subject", _SUBJECT))
_IDS = (("Message-ID", _MESSAGE_ID), ("In-Reply-To", _REPLIES_TO), ("References", _REFERENCES))
_UNICODE, _ANSI, _BINARY, _STORAGE = "001F", "001E", "0102", "000D"
_FIXED, _HEAD, _SENT_TAG = 16, 32, _SENT << 16 | 0x0040


def from_msg(data: bytes) -> Mail:
    """A message from MSG. Raises LimitError for too many attachments; any other exception says that it is
    damaged."""
    import olefile

    with olefile.OleFileIO(io.BytesIO(data)) as file:
        return _read(_Folder(file, file.root))


class _Folder:
    """A folder of a compound file, by its names: the library looks through all of them for each."""

    def __init__(self, file: Any, entry: Any) -> None:
        self._file, self._entries = file, {kid.name.lower(): kid for kid in reversed(entry.kids)}

    def folders(self, start: str) -> list[_Folder]:
        names = sorted(name for name in self._entries if name.startswith(start))
        return [_Folder(self._file, self._entries[name]) for name in names]

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._entries

    def read(self, name: str) -> bytes:
        """A stream's bytes; none if there is no such name."""
        entry = self._entries.get(name.lower())
        if entry is None:
            return b""
        return bytes(self._file._open(entry.isectStart, entry.size).read())


def _read(file: _Folder) -> Mail:
    notes: list[str] = []
    # Prefer the transport headers, which are as sent; a draft has only Outlook's own properties.
    fields = dict(fields_of(Parser(policy=_SHORT_FIELDS).parsestr(_property(file, _HEADERS))))
    name, address = _property(file, _SENDER), _property(file, _ADDRESS)
    own = {"From": f"{name} <{address}>" if address else name, "Date": _sent(file)}
    own |= {field: _property(file, number) for field, number in (*_OWN, *_IDS)}
    headers = [(field, fields.get(field) or clean(own.get(field, ""))) for field in KEPT]
    body = Body(_property(file, _PLAIN), _property(file, _HTML) or _html(file))
    if not any(body) and _stream(file, _RTF, _BINARY):
        notes.append("the body, which it has in compressed RTF only, was left out")
    attached: list[tuple[str, Callable[[], bytes]]] = []
    folders = file.folders("__attach_version1.0_#")
    if len(folders) > _MOST_PARTS:
        raise _unusual()
    for number, folder in enumerate(folders, 1):
        if f"__substg1.0_{_DATA:04X}{_STORAGE}" in folder:
            notes.append("an attached Outlook message was left out")
            continue
        told = _property(folder, _LONG_NAME) or _property(folder, _SHORT_NAME) or f"part {number}"
        attached.append((told, partial(bytes, _stream(folder, _DATA, _BINARY))))
    return Mail(tuple((k, v) for k, v in headers if v), [body], attached, notes)


def _stream(folder: _Folder, number: int, kind: str) -> bytes:
    return folder.read(f"__substg1.0_{number:04X}{kind}")


def _property(folder: _Folder, number: int) -> str:
    wide = _stream(folder, number, _UNICODE).decode("utf-16-le", "replace")
    return (wide or _stream(folder, number, _ANSI).decode("cp1252", "replace")).strip()


def _html(file: _Folder) -> str:
    """HTML stored as bytes: UTF-8, or else Windows-1252."""
    data = _stream(file, _HTML, _BINARY)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _sent(file: _Folder) -> str:
    """When it was sent, in UTC, in the format of RFC 5322; "" for a draft."""
    data = file.read("__properties_version1.0")
    for at in range(_HEAD, len(data) - _FIXED + 1, _FIXED):
        if int.from_bytes(data[at : at + 4], "little") == _SENT_TAG:
            ticks = int.from_bytes(data[at + 8 : at + 16], "little")
            when = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=min(ticks // 10, 10**17))
            return when.strftime("%a, %d %b %Y %H:%M:%S +0000")
    return ""
