"""What a file is, by its content: the first bytes, the contents of a ZIP, the shape of a text.

In: bytes and the file's name. Out: a media type. The name decides only between kinds of text
(Markdown, CSV, plain), which overlap; text under the name of a binary format is refused, because
the name promises something else. Knows nothing about reading.
"""

from __future__ import annotations

import contextlib
import csv
import re
import zipfile
from pathlib import PurePosixPath

import msgspec

from citewell.core.config import Documents
from citewell.core.errors import (
    DamagedError,
    EmptyDocumentError,
    EncryptedError,
    OtherKindError,
    UnsupportedError,
)
from citewell.documents import ocr
from citewell.documents.archives import open_archive, refuse_entities, unpack
from citewell.documents.encoding import READS, binary, decode

PDF, HTML, MARKDOWN, CSV, PLAIN = ("application/pdf", "text/html", "text/markdown", "text/csv", "text/plain")
JSON = "application/json"
DATA = (JSON,)
"""Text that programs write for each other: read if the file was named, skipped in a folder."""
EML, MSG, ZIP = "message/rfc822", "application/vnd.ms-outlook", "application/zip"
PICTURES = {
    "a PNG image": "image/png",
    "a JPEG image": "image/jpeg",
    "a TIFF image": "image/tiff",
    "a GIF image": "image/gif",
    "a WebP image": "image/webp",
}
"""What is read by OCR, by what it is called."""
PAGED = (PDF, *PICTURES.values())
"""What has pages that can be drawn."""
CONTAINERS = (EML, MSG, ZIP)
"""Files that contain other files."""
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
ODT = "application/vnd.oasis.opendocument.text"
EPUB, RTF = "application/epub+zip", "application/rtf"

_OTHERS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\x00", "a TIFF image"),
    (0, b"MM\x00*", "a TIFF image"),
    (8, b"WEBP", "a WebP image"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ\x90", "a program"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"ID3", "an audio file"),
    (4, b"ftyp", "a video"),
    (0, b"%!PS", "a PostScript file"),
)
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")
# The part that identifies a ZIP archive, with its media type, or the name of a kind that is not read.
_PARTS = (("word/document.xml", DOCX), ("xl/workbook.xml", XLSX), ("ppt/presentation.xml", PPTX))
_UNREAD_PARTS = (("xl/workbook.bin", "a binary Excel workbook"), ("content.xml", "an OpenDocument file"))
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAIL_STREAM = "__properties_version1.0".encode("utf-16-le")
_ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
_BY_NAME = dict.fromkeys((".md", ".markdown"), MARKDOWN) | dict.fromkeys((".csv", ".tsv"), CSV)
_BY_NAME |= dict.fromkeys((".txt", ".text", ".log"), PLAIN)
_SPOKEN = {HTML: "HTML", MARKDOWN: "Markdown", JSON: "JSON"}
_SPOKEN |= {CSV: "a table in plain text", PLAIN: "plain text"}
_PDF_OBJECT = re.compile(rb"\d\s{1,8}obj\b")
_BINARY_NAMES = (".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".epub", ".rtf", ".msg", ".zip")
_MAIL_START = re.compile(rb"(?:From [^\n]{1,200}\n)?(?:[!-9;-~]{1,76}:[^\n]*+\n(?:[ \t][^\n]*+\n)*+)++")
# Fields that do not occur in a typed memo.
_MAIL_FIELD = re.compile(rb"^(?:message-id|mime-version|received|return-path)[ \t]*:", re.I | re.M)
_MAIL_FROM = re.compile(rb"^from[ \t]*:", re.I | re.M)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->).)*+-->\s*)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TAG = re.compile(
    rb"<(?:p|div|table|tr|td|ul|ol|li|h[1-6]|br|span|a|b|i|article|section)(?:\s[^<>]*)?/?>", re.I
)
_MARKDOWN_SIGNS = (
    re.compile(r"\A---\n(?:[\w-]+:.*\n)+---\n"),
    re.compile(r"^#{1,6} \S.*(?:\n\s*\n|\Z)", re.M),
    re.compile(r"^(?:```|~~~)", re.M),
    re.compile(r"^[ \t]*+(?:\|[ \t]*+)?:?-{3,}+:?[ \t]*+\|[ \t:|-]*+$", re.M),
    re.compile(r"\[[^\[\]\n]{1,200}\]\([^()\s]{1,500}\)"),
    re.compile(r"\*\*[^\s*][^*\n]*\*\*"),
    re.compile(r"^[-*] \S", re.M),
)
_SNIFFED = 65_536
_LONGEST_TYPE = 200


def other_kind(data: bytes) -> str:
    """What ``data`` is by its first bytes, such as "a PNG image"; "" if it is no known kind without text."""
    for offset, magic, what in _OTHERS:
        # Letters and digits alone may also begin a text: "ID3,name" heads a table.
        if data.startswith(magic, offset) and (not magic.isalnum() or _BINARY.search(data, 0, 512)):
            return what
    return ""


def detect(data: bytes, name: str, limits: Documents) -> str:
    """The media type of ``data``. Raises EmptyDocumentError, EncryptedError, DamagedError, LimitError,
    or UnsupportedError that says what it is instead (OtherKindError: a kind that is not text at all)."""
    if not data.strip():
        raise EmptyDocumentError("the file is empty", hint="check that it was saved or downloaded completely")
    if _is_pdf(data):
        return PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_archive(data, name, limits)
    if data[:64].lstrip().startswith(b"{\\rtf"):
        return RTF
    if data.startswith(_OLE):
        if _MAIL_STREAM in data:
            return MSG
        if _ENCRYPTED_OFFICE in data:
            told = "it is an Office file protected by a password"
            raise EncryptedError(told, hint="remove the password and save it again")
        told = "it is an Office file from before 2007 (.doc, .xls, .ppt)"
        raise OtherKindError(told, hint="save it as .docx or .xlsx")
    if what := other_kind(data):
        if what not in PICTURES:
            raise OtherKindError(f"it is {what}", hint=READS)
        if not ocr.installed():
            raise OtherKindError(f"it is {what} that citewell[ocr] would read", hint=ocr.INSTALL)
        return PICTURES[what]
    suffix = PurePosixPath(name).suffix
    if _is_mail(data, suffix.lower()):
        return EML
    if suffix.lower() not in _BINARY_NAMES:
        return _text_kind(data, suffix.lower())
    again = f"download or save it again as {suffix}"
    try:
        content = _SPOKEN[_text_kind(data, suffix.lower())]
        again += ", or rename it if the text is what you want"
    except DamagedError:
        content = "text in an encoding that cannot be determined"
    except UnsupportedError:
        content = "binary data of an unknown kind"
    raise UnsupportedError(f"its name ends in {suffix} but its content is {content}", hint=again)


def dialect(text: str) -> str | None:
    """The delimiter that gives most lines the same number (two or more) of short cells; None if none does."""
    lines = text[:_SNIFFED].splitlines()[:60]
    lines = lines[:-1] if len(text) > _SNIFFED and len(lines) > 1 else lines
    best: tuple[float, int, str] | None = None
    for delimiter in (",", "\t", ";", "|"):
        try:
            rows = [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if any(row)]
        except csv.Error:
            continue
        widths = [len(row) for row in rows]
        if len(rows) < 2:
            continue
        width = max(set(widths), key=lambda w: (widths.count(w), w))
        share = widths.count(width) / len(widths)
        cells = [len(cell) for row in rows for cell in row]
        if width >= 2 and share >= 0.9 and sum(cells) <= 40 * len(cells):
            best = max(best or (0.0, 0, ""), (share, width, delimiter))
    return best[2] if best else None


def _is_json(text: str) -> bool:
    """Whether the text is one object or list, or one object per line."""
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return False
    for part in (text, text.split("\n", 1)[0] if start == "{" else ""):
        with contextlib.suppress(msgspec.DecodeError, RecursionError):
            msgspec.json.decode(part)
            return True
    return False


def _is_pdf(data: bytes) -> bool:
    """Viewers accept the marker within the first kilobyte; text that merely mentions it is not a PDF, even
    if it begins with it: a PDF, even a truncated one, contains objects."""
    if data[:64].lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"%PDF-"):
        return _PDF_OBJECT.search(data) is not None
    return b"%PDF-" in data[:1024] and b"%%EOF" in data[-2048:]


def _is_mail(data: bytes, suffix: str) -> bool:
    """Header fields and a blank line; unless it is named .eml, one must be a field of mail programs only."""
    head = data[:_SNIFFED].replace(b"\r\n", b"\n")
    fields = _MAIL_START.match(head)
    if fields is None or not _MAIL_FROM.search(fields.group()):
        return False
    if (rest := head[fields.end() :]) and not rest.startswith(b"\n") and b"\n" in rest:
        return False
    return suffix == ".eml" or _MAIL_FIELD.search(fields.group()) is not None


def _in_archive(data: bytes, name: str, limits: Documents) -> str:
    with open_archive(data, limits) as archive:
        names = set(zipfile.ZipFile.namelist(archive))
        kind = next((media_type for part, media_type in _PARTS if part in names), "")
        said = unpack(archive, "mimetype", _LONGEST_TYPE) if "mimetype" in names else b""
        if not kind and "content.xml" in names and said.strip() == ODT.encode():
            kind = ODT
        if kind:
            refuse_entities(archive)
            return kind
        if "META-INF/container.xml" in names and said.strip() in (EPUB.encode(), b""):
            refuse_entities(archive, ("META-INF/container.xml", "META-INF/encryption.xml", ".opf"))
            return EPUB
    what = next((what for part, what in _UNREAD_PARTS if part in names), "")
    # Programs and many other kinds of file are archives too, but not of documents.
    if not what and PurePosixPath(name).suffix.lower() == ".zip":
        return ZIP
    raise OtherKindError(f"it is {what or 'a ZIP archive'}", hint=READS + "; unpack or convert it first")


def _text_kind(data: bytes, suffix: str) -> str:
    head = data[:_SNIFFED]
    if _HTML_START.match(head):
        return HTML
    text, _ = decode(data)
    if text.count("\ufffd") > len(text) // 100 + 1 or any(c in text[:_SNIFFED] for c in "\x01\x02\x03\x04"):
        raise binary()
    sample = text[:_SNIFFED].replace("\r\n", "\n")
    encoded = sample.encode("utf-8", "replace")
    if _HTML_START.match(encoded):
        return HTML
    tags = len(_HTML_TAG.findall(encoded))
    signs = sum(bool(sign.search(sample)) for sign in _MARKDOWN_SIGNS)
    # Many READMEs open with a centred image in HTML and continue in Markdown.
    opens = encoded.lstrip()[:1] == b"<" and tags >= 3 and signs < 2
    if tags and (suffix in (".html", ".htm", ".xhtml") or opens):
        return HTML
    if suffix in _BY_NAME and not (_BY_NAME[suffix] == PLAIN and signs >= 3):
        return _BY_NAME[suffix]
    if _is_json(text):
        return JSON
    if signs >= 2:
        return MARKDOWN
    return CSV if dialect(sample) else PLAIN
