"""Bytes -> text, only if the encoding is certain enough to quote from.

In: bytes, and the encoding they declare, if any. Out: text and how its encoding was determined. A wrong guess
would change what a source says ("£5" read as "Ł5"), so bytes that fit several encodings equally well are an
error; the likeliest is never assumed. Knows nothing about what the text means.
"""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata

from citewell.core.errors import DamagedError, UnsupportedError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Encodings in use; exotic code pages fit anything and would make every guess a tie.
_COMMON = re.findall(
    r"\w+", "cp1252 cp1250 cp1251 cp1253 cp1255 cp1256 koi8_r cp932 euc_jp gb18030 big5 euc_kr"
)
# Text that declares Latin-1 is written as its superset, and read as such by the HTML standard.
_WIDER = {"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}
_SAMPLE = 65_536
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST_COHERENCE, _LEAST_LEAD = 0.2, 0.1
_HINT = "save it as UTF-8"
READS = (
    "Citewell reads PDF, HTML, Markdown, DOCX, PPTX, ODT, RTF, EPUB, XLSX, CSV, JSON, text, mail (EML, MSG)"
)
READS += " and ZIP, and with citewell[ocr] PNG, JPEG, TIFF, GIF and WebP"


def decode(data: bytes, *, declared: str = "") -> tuple[str, str]:
    """``(text, note)``; the note is "" for UTF-8 and if a byte order mark or declaration names the encoding.

    Raises UnsupportedError for binary data and DamagedError if no encoding, or more than one, fits.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = _strictly(data[len(mark) :], encoding, "its byte order mark says")
            if _is_noise(text):
                raise binary()
            return text, ""
    if declared:
        declared = declared.lower()
        return _strictly(data, _WIDER.get(declared, declared), "it declares"), ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _guessed(data, error)
    if "\0" in text:
        return _utf16(data)
    return text, ""


def _is_noise(text: str) -> bool:
    """Whether more than one character in twenty is unassigned, private or a surrogate."""
    sample = text[:4_000]
    return sum(unicodedata.category(char) in ("Cn", "Co", "Cs") for char in sample) * 20 > len(sample)


def _is_scrambled(text: str) -> bool:
    """Whether more than one word in five changes from lower to upper case inside, as in no language: a few
    recurring letters look coherent in some alphabet or other."""
    words = _WORD.findall(text)
    turned = [word for word in words if any(a.islower() and b.isupper() for a, b in itertools.pairwise(word))]
    return 5 * len(turned) > len(words)


def _strictly(data: bytes, encoding: str, says: str) -> str:
    try:
        return data.decode(encoding)
    except LookupError as error:
        raise DamagedError(f"{says} the encoding {encoding!r}, which is unknown", hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise DamagedError(
            f"{says} {encoding}, but byte {error.start} is not valid in it", hint=_HINT
        ) from error


def _utf16(data: bytes) -> tuple[str, str]:
    """Text in UTF-16 without a mark has a zero in every second byte; other zeros mean binary."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    half = max(1, len(data) // 2)
    for zeros, others, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if zeros > 0.7 * half and others < 0.05 * half:
            note = f"read as {encoding}, detected from its zero bytes"
            return _strictly(data, encoding, "its zero bytes say"), note
    raise binary()


def binary() -> UnsupportedError:
    """The error for bytes that are not text at all."""
    return UnsupportedError("it is binary data of an unknown kind", hint=READS)


def _guessed(data: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    from charset_normalizer import from_bytes

    controls = sum(
        data[:_SAMPLE].count(bytes([code])) for code in (*range(9), *range(14, 27), *range(28, 32))
    )
    if controls > len(data[:_SAMPLE]) // 100:
        if b"\0" in data[:_SAMPLE]:
            return _utf16(data)
        raise binary()
    matches = [
        match
        for match in from_bytes(data[:_SAMPLE], cp_isolation=_COMMON)
        if _fits(data, match.encoding) and not _is_scrambled(data[:_SAMPLE].decode(match.encoding, "ignore"))
    ]
    matches.sort(key=lambda match: -match.coherence)
    rivals = [match for match in matches[1:] if str(match) != str(matches[0])]
    # A few letters can suggest a language by chance: a rival that decodes as cleanly may be right instead.
    alone = bool(matches) and all(
        matches[0].coherence - rival.coherence >= _LEAST_LEAD and rival.chaos > matches[0].chaos
        for rival in rivals
    )
    if alone and matches[0].coherence >= _LEAST_COHERENCE:
        encoding = matches[0].encoding
        return data.decode(encoding), f"read as {encoding}, detected from its letters"
    fits = f" and fits {', '.join(m.encoding for m in matches[:3])} equally well" if matches else ""
    raise DamagedError(f"it is not UTF-8 (byte {error.start}){fits}", hint=_HINT) from error


def _fits(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
