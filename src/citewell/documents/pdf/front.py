"""What a PDF says of itself: title, author, date; filings' own words before the file's properties.

In: the information dictionary and the lines of the first pages. Out: :class:`Front`, each value with
where it was read. Nothing is made up: a title holds only words of the page. Knows nothing about text
offsets.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from citewell.documents.pdf.layout import Line
from citewell.records import Found

_FORM = re.compile(
    r"\bFORM\s+(10-?\s?[KQ](?:/A|T|405)?|8-?\s?K(?:/A)?|20-?F|40-?F|6-?K|S-\d{1,2}|DEF 14A)", re.I
)
_MONTHS = "january february march april may june july august september october november december".split()
_DATE = re.compile(rf"\b({'|'.join(_MONTHS)})\s+(\d{{1,2}})\s*,\s*((?:19|20)\d{{2}})", re.IGNORECASE)
_PERIOD = re.compile(
    r"(for\s+the\s+(?:fiscal|transition|quarterly)?\s*(?:year|period)\s+ended|for\s+the\s+quarterly\s+period\s+ended|"
    r"date\s+of\s+report\s*(?:\([^)]*\))?)\s*:?\s*",
    re.IGNORECASE,
)
_REGISTRANT = re.compile(r"\(?exact\s+name\s+of\s+(?:the\s+)?(?:registrant|company)", re.IGNORECASE)
_USELESS = re.compile(
    r"^(?:untitled|microsoft word|document\d*|.*\.(?:docx?|pdf|htm l?|html?|xlsx?|indd)|.{0,3}|\d+)$", re.I
)


class Front(NamedTuple):
    title: Found | None
    author: Found | None
    published_at: Found | None


def describe(info: dict[str, str], pages: list[list[Line]]) -> Front:
    """``pages``: the lines of the first pages."""
    lines = pages[0] if pages else []
    filing = _filing(lines)
    title = filing.title or _property(info, "Title") or _largest(pages)
    author = filing.author or _property(info, "Author")
    published = filing.published_at or _dated(lines) or _created(info)
    return Front(title, author, published)


def _filing(lines: list[Line]) -> Front:
    texts = [line.text for line in lines]
    whole = " ".join(texts)
    form = _FORM.search(whole)
    if not form:
        return Front(None, None, None)
    company = _company(texts)
    period = _PERIOD.search(whole)
    date = _DATE.search(whole, period.end(), period.end() + 120) if period else None
    if date is None:
        date = _DATE.search(whole)
    words = [company or "", f"Form {form.group(1).upper().replace(' ', '')}"]
    published = None
    if date:
        phrase = re.sub(r"\s+", " ", period.group(1)).lower() if period else ""
        phrase = re.sub(r"\s*\(.*", "", phrase)
        words.append(f"{phrase} {date.group()}".strip())
        iso = _iso(date)
        published = Found(value=iso, origin="first page") if iso else None
    title = " ".join(word for word in words if word)
    return Front(
        Found(value=title, origin="first page"),
        Found(value=company, origin="first page") if company else None,
        published,
    )


def _company(texts: list[str]) -> str:
    """The words above "(Exact name of registrant as specified in its charter)"."""
    for index, text in enumerate(texts):
        if _REGISTRANT.search(text):
            before = _REGISTRANT.split(text)[0].strip(" (")
            if len(before) > 2:
                return before
            for above in reversed(texts[max(0, index - 3) : index]):
                if any(letter.isalpha() for letter in above) and not above.startswith("("):
                    return above.strip()
    return ""


def _property(info: dict[str, str], key: str) -> Found | None:
    value = (info.get(key) or "").strip()
    if _USELESS.match(value) or not any(letter.isalpha() for letter in value):
        return None
    return Found(value=value[:300], origin="metadata")


def _largest(pages: list[list[Line]]) -> Found | None:
    """The largest writing on the first page that has any."""
    for lines in pages:
        wordy = [line for line in lines if sum(letter.isalpha() for letter in line.text) > 3]
        if not wordy:
            continue
        size = max(line.size for line in wordy)
        top = [line for line in wordy if line.size >= size - 0.3]
        if len(top) > 4 and size <= min(line.size for line in wordy) + 0.5:
            top = wordy[:1]
        return Found(value=" ".join(line.text for line in top[:3])[:300], origin="first page")
    return None


def _dated(lines: list[Line]) -> Found | None:
    for line in lines[:40]:
        match = _DATE.search(line.text)
        if match and (iso := _iso(match)):
            return Found(value=iso, origin="first page")
    return None


def _created(info: dict[str, str]) -> Found | None:
    match = re.match(r"D:(\d{4})(\d{2})(\d{2})", info.get("CreationDate") or "")
    if not match:
        return None
    try:
        date = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
    except ValueError:
        return None
    return Found(value=date.date().isoformat(), origin="metadata")


def _iso(match: re.Match[str]) -> str:
    try:
        month = _MONTHS.index(match.group(1).lower()) + 1
        return datetime(int(match.group(3)), month, int(match.group(2)), tzinfo=UTC).date().isoformat()
    except ValueError:
        return ""
