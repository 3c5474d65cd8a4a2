"""Title, author, date and language of a document, each with where it was read.

In: raw values of a format's metadata, and canonical text. Out: :class:`Found` values, or None if
nothing trustworthy was found: an unknown date is better than a wrong one. Dates are ISO 8601
(``2023-07-20``). Knows nothing about file formats except how they write dates.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from citewell.core.records import Found, Record
from citewell.questions.periods import MONTHS

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

FIRST_PAGE = 3_000
_SAMPLE = 20_000
_FEWEST_LETTERS = 20
_SURE = 0.85
_WORD = re.compile(r"[^\W\d_]+")
MONTH = "|".join([*MONTHS, "sept", *(month[:3] for month in MONTHS)])
_ISO = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_COMPACT = re.compile(r"^(?:D:)?(\d{4})(\d\d)(\d\d)(?:\d{6})?(?:[Z+-].*)?$")
_US = re.compile(rf"\b({MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.I)
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\.?\s+({MONTH})\.?,?\s+(\d{{4}})\b", re.I)
DATE = (
    rf"(?i:(?:[a-z]+day,?\s+)?(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|(?:{MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:{MONTH})\.?,?\s+\d{{4}}))(?!\d)"
)
_LABELS = {
    "published_at": r"published|publication date|date of (?:report|issue|publication)|issue date|release date"
    r"|date filed|filed|issued|last (?:updated|modified|revised)|updated|revised|revision date|dated|date"
    r"|as of",
    "effective_at": r"effective(?: date| from| as of| since)?|date of effect|(?:in force|valid|applies"
    r"|applicable)(?: from| since)|commencement(?: date)?|entry into force|takes effect|comes into force",
    "expires_at": r"expir(?:es|y|ation)(?: date)?|valid (?:until|to|through|till)|in force until"
    r"|end of validity",
    "signed_at": r"signed|signature date|date of signature|executed|date of execution",
    "edition": r"version|edition|revision|rev\.?|document version",
}
_LABELLED = re.compile(rf"(?<!\w)(?=(?i:{'|'.join(_LABELS.values())}|valid(?:ity)?|in force)\s*:|[A-Z]\w+:)")
_PAIRED = re.compile(r"[A-Z][\w ]{0,30}:[^\"“”`'’]*$")
_PAIRS = {
    name: re.compile(rf"(?:{labels})\W{{0,3}}(?:(?:on|from|as of|until)\b\W{{0,3}})?({DATE})\W{{0,2}}", re.I)
    for name, labels in _LABELS.items()
}
_PAIRS["edition"] = re.compile(
    rf"(?:{_LABELS['edition']})[\s:#]{{0,4}}([A-Z]|[A-Z]?\d+(?:\.\d+)*[a-z]?)\W?", re.I
)
_SPAN = re.compile(
    rf"(?:[\w ]{{0,60}}\b)?(?:valid(?:ity)?|in force|applicable)(?: period)?\W{{0,3}}(?:from\W{{1,3}})?"
    rf"({DATE})"
    rf"\W{{0,3}}(?:to|until|till|through|and)?\W{{1,3}}({DATE})\W{{0,2}}",
    re.I,
)
_TITLED = re.compile(
    r"[\w ,'’()&-]{0,80}\b(?:"
    r"(?P<effective_at>effective|in force|valid|applicable)(?: as)?(?: from| of| since)+"
    rf"|(?P<expires_at>valid (?:until|to|through)|expires? on))\s+(?P<date>{DATE})\W?",
    re.I,
)
_PUBLISHED = re.compile(rf"\b(?:{_LABELS['published_at']})\b\W{{0,3}}(?:on\b|as of\b)?\W{{0,3}}", re.I)
_EDITION = re.compile(
    r"\b(?:version|edition|revision|rev\.?|v\.?)\s?(?:of\s)?(\d+(?:\.\d+)*|(?-i:[A-Z])\b)"
    r"|\b(\d{4}) edition\b",
    re.I,
)
_WORTHLESS = re.compile(
    r"^(?:untitled.*|document ?\d*|title|microsoft word\b.*|powerpoint presentation|slide \d+|"
    r".*\.(?:docx?|pdf|indd|qxd|xlsx?|rtf|tmp))$",
    re.I,
)
_PROGRAM = re.compile(
    r"^(?:python-docx|openpyxl|xlsxwriter|apache poi|microsoft office user|user|admin)$", re.I
)
_CODE = re.compile("[a-z]{2,3}")
_NO_LANGUAGE = frozenset(("und", "mul", "zxx", "mis"))
# Each language has one code here, the one that :func:`language` also returns.
_SHORT_CODES: dict[str, str] = dict(
    re.findall(
        "(...):(..)",
        "eng:en deu:de ger:de fra:fr fre:fr spa:es ita:it por:pt nld:nl dut:nl rus:ru pol:pl swe:sv dan:da "
        "nor:no fin:fi ces:cs cze:cs ell:el gre:el tur:tr ara:ar heb:he hin:hi zho:zh chi:zh jpn:ja kor:ko",
    )
)
# Articles, pronouns, prepositions: they make up a fifth of running text in English and in no other language.
_FUNCTION_WORDS = frozenset(
    _WORD.findall(
        "the of and to in a that is was for on with as by are be or from this at it which an were has have "
        "not their its our we they his her you your will can if but all any such other these been than no may"
    )
)


class Metadata(Record, frozen=True, kw_only=True):
    """What a format says about its document. ``saved_at`` is when its author last saved it: it serves as
    ``published_at``, with that origin, only if neither the format nor the first page gives a publication
    date. The day a file was copied does not count."""

    title: Found | None = None
    author: Found | None = None
    language: Found | None = None
    published_at: Found | None = None
    saved_at: Found | None = None
    effective_at: Found | None = None
    expires_at: Found | None = None
    signed_at: Found | None = None
    edition: Found | None = None
    replaces: tuple[str, ...] = ()


def found(value: str | None, origin: str) -> Found | None:
    """A value on one line, at most 500 characters; None if it is empty."""
    line = unicodedata.normalize("NFC", " ".join((value or "").split()))
    line = "".join(char for char in line if char.isprintable() and not "\ud800" <= char <= "\udfff")
    return Found(value=line[:500], origin=origin) if line else None


def found_title(value: str | None, origin: str) -> Found | None:
    """A title, unless it is a default that software fills in ("Microsoft Word - a.doc")."""
    title = found(value, origin)
    return None if title is None or _WORTHLESS.match(title.value) else title


def found_author(value: str | None, origin: str) -> Found | None:
    """An author, unless it is the program that wrote the file."""
    author = found(value, origin)
    return None if author is None or _PROGRAM.match(author.value) else author


def found_language(value: str | None, origin: str) -> Found | None:
    """The code before the region ("en-GB" is "en"); None for anything that is not a code, like "German"."""
    code = re.split("[-_]", (value or "").strip().lower(), maxsplit=1)[0]
    if not _CODE.fullmatch(code) or code in _NO_LANGUAGE:
        return None
    return Found(value=_SHORT_CODES.get(code, code), origin=origin)


def found_date(value: str | None, origin: str) -> Found | None:
    """A date in any spelling that :func:`parse_date` knows, as ISO 8601."""
    parsed = parse_date(value or "")
    return Found(value=parsed, origin=origin) if parsed else None


def parse_date(text: str) -> str:
    """ISO date of a string that is a date: ISO 8601, PDF's ``D:``, RFC 5322, "July 20, 2023",
    "20 July 2023". "" for anything else, and for ambiguous day-month orders."""
    text = text.strip()
    if compact := _COMPACT.match(text):
        return _iso(*map(int, compact.groups()))
    dates = find_dates(text)
    if dates:
        return dates[0][1]
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def find_dates(text: str) -> list[tuple[int, str]]:
    """``(offset, ISO date)`` of every unambiguous date in ``text``, in order."""
    dates = [(m.start(), _iso(*map(int, m.groups()))) for m in _ISO.finditer(text)]
    dates += [(m.start(), _iso(int(m[3]), _month(m[1]), int(m[2]))) for m in _US.finditer(text)]
    dates += [(m.start(), _iso(int(m[3]), _month(m[2]), int(m[1]))) for m in _DAY_FIRST.finditer(text)]
    return sorted(entry for entry in dates if entry[1])


def dates_of(known: Metadata, text: str, title: str = "") -> dict[str, Any]:
    """What a document says about its dates and edition, each Found or None by field name: from its metadata,
    else from a labelled line of the first page, such as ``Effective: 1 March 2026``, or a row of such cells.
    Only ``published_at`` may be a guess, if nothing better is known."""
    printed = labelled_metadata(text)
    if found_edition := _EDITION.search(title):
        printed.setdefault("edition", Found(value=found_edition[1] or found_edition[2], origin="title"))
    own = {name: getattr(known, name) or printed.get(name) for name in _LABELS}
    first = first_page_date(text)
    if first is not None and not first.guess:
        own["published_at"] = known.published_at or first
    told = {found.value for found in own.values() if found is not None}
    guess = first if first is not None and first.value not in told else None
    return own | {"published_at": own["published_at"] or known.saved_at or guess}


def labelled_metadata(text: str) -> dict[str, Found]:
    """The labelled dates and edition on the first page, by field name."""
    known: dict[str, Found] = {}
    lines = text[:FIRST_PAGE].split("\n")
    rows = [[cell.strip() for cell in re.split(r"\t|\s[|·•]\s|;\s", line)] for line in lines]
    for number, (line, cells) in enumerate(zip(lines, rows, strict=True)):
        below, after = (*rows[number + 1 : number + 3], [], [])[:2]
        pairs = [f"{label}: {value}" for label, value in itertools.pairwise(cells)]
        if len(cells) == len(below) != len(after):  # heads above the only row of a table
            pairs += [f"{label}: {value}" for label, value in zip(cells, below, strict=True)]
        several = _LABELLED.split(line) if _PAIRED.match(line) else ()
        for part in (*cells, *pairs, *several):
            for name, value in _read(part.strip()):
                known.setdefault(name, Found(value=value, origin=f"first page: {name.split('_')[0]}"))
    return known


def _read(part: str) -> Iterator[tuple[str, str]]:
    """The fields that ``part`` states, if it states nothing else."""
    if span := _SPAN.fullmatch(part):
        yield "effective_at", parse_date(span[1])
        yield "expires_at", parse_date(span[2])
        return
    if titled := _TITLED.fullmatch(part):
        yield ("effective_at" if titled["effective_at"] else "expires_at"), parse_date(titled["date"])
        return
    for name, pattern in _PAIRS.items():
        if match := pattern.fullmatch(part):
            yield name, match[1] if name == "edition" else parse_date(match[1])


def first_page_date(text: str) -> Found | None:
    """The publication date on the first page: after a label that begins its line, or alone on its line; else,
    as a guess, after such a label in running text."""
    head, guess = text[:FIRST_PAGE], None
    for offset, value in find_dates(head):
        line_start = head.rfind("\n", 0, offset) + 1
        if label := next(
            (m for m in _PUBLISHED.finditer(head, line_start, offset) if m.end() == offset), None
        ):
            if label.start() == line_start:
                return Found(value=value, origin="first page")
            guess = guess or Found(value=value, origin="first page: running text", guess=True)
        line = head[line_start:].split("\n", 1)[0].strip()
        if len(line) <= 32 and offset == line_start and len(_WORD.findall(line)) <= 2:
            return Found(value=value, origin="first page")
    return guess


def language(text: str) -> Found | None:
    """The ISO 639-1 code and how it was determined; None for text that is too short or too mixed."""
    sample = _running_text(text)
    words = _WORD.findall(sample)
    if sum(map(len, words)) < _FEWEST_LETTERS or len(words) < 3:
        return None
    share = sum(word.casefold() in _FUNCTION_WORDS for word in words) / len(words)
    if share >= 0.2 and len(words) >= 20:
        return Found(value="en", origin=f"text: {share:.0%} English function words")
    code, probability = _identifier().classify(" ".join(words))
    if probability < _SURE:
        return None
    return Found(value=str(code), origin=f"text: py3langid {probability:.2f}")


def _running_text(text: str) -> str:
    """Prose rather than tables, from the beginning and the middle."""
    lines = [line for line in text.splitlines() if "\t" not in line] or [text]
    prose = "\n".join(lines)
    middle = len(prose) // 2
    return prose if len(prose) <= _SAMPLE else prose[: _SAMPLE // 2] + prose[middle : middle + _SAMPLE // 2]


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _month(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name[:3].lower()))


def _iso(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat() if year >= 1000 else ""
    except ValueError:
        return ""
