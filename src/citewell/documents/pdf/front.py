"""What a PDF says about itself: title, author, dates; a filing's cover takes precedence over file properties.

In: the information dictionary and the lines of the first pages. Out: title, author and dates, each with its
origin. Nothing is invented: a title contains only words of the page. Knows nothing about text offsets.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from citewell.core.records import Found
from citewell.documents.metadata import Metadata, dates_of, find_dates, found, found_date, found_title
from citewell.documents.pdf.layout import VisualLine

_FORM = re.compile(
    r"\bFORM\s+(10-?\s?[KQ](?:/A|T|405)?|8-?\s?K(?:/A)?|20-?F|40-?F|6-?K|S-\d{1,2}|DEF 14A)", re.I
)
_NAMED = re.compile(rf"{_FORM.pattern}\s*(?:\([^()]{{0,40}}\)|(?:annual|quarterly|current) report)?", re.I)
"""A line of a cover that names the form. Other papers mention one in their text."""
_PERIOD = re.compile(
    r"(for\s+the\s+(?:fiscal|transition|quarterly)?\s*(?:year|period)\s+ended|for\s+the\s+quarterly\s+period\s+ended|"
    r"date\s+of\s+report\s*(?:\([^)]*\))?)\s*:?\s*",
    re.I,
)
_ANNOUNCED = re.compile(
    r"\(?([A-Z][a-z]{2,8}\.? \d{1,2}, (?:19|20)\d{2})\)?\s*[-–—/]+\s*"
    r"([A-Z].{5,200}?\b(?:announce[sd]?|report(?:s|ed))\b.{5,160}?)\.(?=\s)"
)
_YEAR = re.compile(r"(?:19|20)\d{2}")
_REGISTRANT = re.compile(r"\(?exact\s+name\s+of\s+(?:the\s+)?(?:registrant|company)", re.I)


def describe(info: dict[str, str], pages: list[list[VisualLine]]) -> dict[str, Any]:
    """The fields of the Document, by name; ``pages``: the lines of the first pages."""
    lines = pages[0] if pages else []
    filed = any(_NAMED.fullmatch(line.text.strip()) for line in lines)
    filing = _filing(lines) if filed else _release(lines)
    title = filing.title or found_title(info.get("Title"), "metadata") or _largest(pages)
    author = filing.author or found(info.get("Author"), "metadata")
    first_page = "\n".join(line.text for line in lines)
    created = found_date(info.get("CreationDate"), "metadata: created")
    known = Metadata(published_at=filing.published_at, saved_at=created)
    dates = dates_of(known, first_page, title.value if title else "")
    # An expiry date on the cover of a form is that of the form itself.
    dates |= {"expires_at": None, "effective_at": None} if filed else {}
    return {"title": title, "author": author, **dates}


def _filing(lines: list[VisualLine]) -> Metadata:
    texts = [line.text for line in lines]
    whole = " ".join(texts)
    form = _FORM.search(whole)
    if form is None:
        return Metadata()
    company = _company(texts)
    period = _PERIOD.search(whole)
    words = [company, f"Form {form.group(1).upper().replace(' ', '')}"]
    published = None
    # Without such a phrase, a date can be anything, such as that of the law that asks for the form.
    dates = [(at, iso) for at, iso in find_dates(whole) if period is not None and at >= period.end()]
    if period is not None and dates and dates[0][0] - period.end() < 120:
        at, iso = dates[0]
        printed = _YEAR.search(whole, at)
        phrase = re.sub(r" ?\(.*", "", re.sub(r"\s+", " ", period.group(1)).lower())
        words += [phrase, whole[at : printed.end()] if printed else iso]
        origin = "first page: period end" if phrase.startswith("for ") else "first page"
        published = Found(value=iso, origin=origin)
    title = " ".join(word for word in words if word)
    return Metadata(
        title=found(title, "first page"), author=found(company, "first page"), published_at=published
    )


def _release(lines: list[VisualLine]) -> Metadata:
    """A press release's metadata: from the dateline and the first sentence, which says what was announced."""
    whole = " ".join(line.text for line in lines).replace("- ", "-")
    match = _ANNOUNCED.search(whole)
    dates = find_dates(match.group(1)) if match else []
    if match is None or not dates:
        return Metadata()
    sentence = re.sub(r"(?<!\s)\s*\([^()]*\)|(?<!\s)\s*\btoday\b", "", match.group(2))
    company = re.split(r"(?<!\s)\s*\(|,? (?:today )?(?:announce|report)", match.group(2), maxsplit=1)[0]
    return Metadata(
        title=found(sentence, "first page"),
        author=found(company, "first page"),
        published_at=Found(value=dates[0][1], origin="first page"),
    )


def _company(texts: list[str]) -> str:
    """The words above "(Exact name of registrant as specified in its charter)"."""
    for index, text in enumerate(texts):
        if not _REGISTRANT.search(text):
            continue
        before = _REGISTRANT.split(text)[0].strip(" (")
        if len(before) > 2:
            return before
        for above in reversed(texts[max(0, index - 3) : index]):
            if any(letter.isalpha() for letter in above) and not above.startswith("("):
                return above.strip()
    return ""


def _largest(pages: list[list[VisualLine]]) -> Found | None:
    """The largest type on the first page that has any words; if all has one size, its bold heading."""
    for lines in pages:
        wordy = [line for line in lines if sum(letter.isalpha() for letter in line.text) > 3]
        if not wordy:
            continue
        size = max(line.size for line in wordy)
        large = [line for line in wordy if line.size >= size - 0.3]
        if len(large) > max(4, 0.3 * len(wordy)):
            large = list(itertools.takewhile(lambda line: line.bold, (line for line in wordy if line.bold)))
            large = large or wordy
        first = [large[0], *_following(large)]
        return found(" ".join(line.text for line in first)[:300], "first page")
    return None


def _following(large: list[VisualLine]) -> list[VisualLine]:
    """The lines directly under the first, in the same size: the rest of a long title."""
    found_lines = []
    for above, line in itertools.pairwise(large[:3]):
        if above.size != line.size or not 0 < above.base - line.base < 1.6 * line.size:
            break
        found_lines.append(line)
    return found_lines
