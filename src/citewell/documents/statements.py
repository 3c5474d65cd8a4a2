"""Formal statements of supersession, what a document says about itself, and where a clause is.

In: a document. Out: :class:`DocumentStatements`: its title, dates and edition, and each whole sentence that
fits an exact grammar: "Clause 5 of the Lease is deleted", "Section 4.1 is replaced by ...", "Rule 3 shall
read ...", "In clause 4 “30 days” is replaced by “60 days”", "This policy replaces the Travel Policy of 2024".
A sentence with a condition never fits. Also the offsets of "4.1", "5(b)" or "Break clause" in a document.
Knows nothing about other documents, whose names are resolved in :mod:`citewell.documents.supersession`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

from citewell.core.records import Document, Record, Standing
from citewell.core.sentences import sentence_spans
from citewell.documents.metadata import DATE, parse_date

SKETCH = 96
"""Hashes that represent a document's words (bottom-k sketch: Broder 1997)."""
UNIT = (
    r"(?i:(?:sub-?)?clause|section|article|rule|paragraph|item|schedule|annex|appendix|chapter|part|point"
    r"|regulation|condition)s?"
)
NUMBER = r"(?:\d+[A-Z]?(?:\.\d+)*(?:\s?\([a-z0-9]{1,4}\))*|[IVXLC]+\b|[A-Z]\b)"
_REF = (
    rf"(?:(?i:the\s+)?(?:{UNIT}|§)\s*(?P<numbers>{NUMBER}(?:(?:,\s*(?:and\s+)?|\s+and\s+|\s*&\s*){NUMBER})*)"
    r"(?:\s*\([^()\d][^()]*\)|,?\s*[“\"][^”\"]+[”\"])?"
    rf"|(?i:the\s+)?(?:{UNIT}|(?i:heading))(?i:\s+(?:headed|entitled|titled|called|on))?\s+[“\"](?P<head>[^”\"]+)[”\"]"
    rf"|(?i:the\s+)[“\"](?P<head_>[^”\"]+)[”\"]\s+{UNIT})"
)
_SINCE = (
    r"(?i:with effect from|effective(?: from| as of| on)?|as of|as from|starting|from|on)\s+"
    rf"(?P<date0>{DATE})"
)
_AT = tuple(rf"(?:,?\s*{_SINCE.replace('date0', f'date{n}')},?)?" for n in range(4))
_LEAD = rf"(?:\(?[a-z0-9.]{{1,5}}[.)]\s+|[-•*]\s+)?(?:{_SINCE},?\s+)?"
_OF = r"(?:,?\s+(?i:of|in|to)\s+(?i:the\s+|this\s+|our\s+)?(?P<doc>\S.{0,120}?))?"
_BE = r"\s+(?i:is|are|shall be|will be|has been|have been)\s+(?i:hereby\s+)?"
_GONE = r"(?i:deleted|removed|repealed|revoked|struck out|cancell?ed|withdrawn|omitted|rescinded)"
_NEW = r"(?i:replaced|substituted|superseded|amended|restated)"
_WHOLLY = r"(?i:\s+(?:in (?:its|their) entirety|entirely|in full|completely|without replacement))?"
_QUOTED = r"[“\"‘«](?P<old>[^”\"’»]+)[”\"’»]"
_WORDS = (
    r"(?i:(?:the\s+)?(?:words?|figures?|amounts?|sums?|numbers?|phrase|sentence|date|rate|text|value|term"
    r"|period)\s+)?"
)
_TO = r"(?i:by|with|to(?: read)?)"


def _bounded(pattern: str) -> re.Pattern[str]:
    """Limits runs of white space: however long they are, matching time grows with the text alone."""
    return re.compile(pattern.replace(r"\s+", r"\s{1,3}").replace(r"\s*", r"\s{0,3}"), re.S)


_STATEMENTS = tuple(
    (standing, _bounded(pattern))
    for standing, pattern in (
        (Standing.DELETED, f"{_LEAD}{_REF}{_OF}{_AT[1]}{_BE}{_GONE}{_WHOLLY}{_AT[2]}\\.?"),
        (
            Standing.REPLACED,
            f"{_LEAD}{_REF}{_OF}{_AT[1]}{_BE}(?:{_GONE}{_WHOLLY}{_AT[2]}\\s+(?i:and\\s+)(?i:is\\s+)?)?"
            rf"{_NEW}{_WHOLLY}{_AT[3]}\s+(?i:by|with|to read)\b"
            r"(?i:\s+the following(?: \w+)?|\s+as follows)?(?P<new>.*)",
        ),
        (
            Standing.REPLACED,
            rf"{_LEAD}{_REF}{_OF}{_AT[1]},?\s+(?i:shall|should|will|must|is to|now)\s+"
            rf"(?i:(?:now|instead|henceforth)\s+)?(?i:reads?){_AT[2]}(?i:\s+as follows)?(?P<new>.*)",
        ),
        (
            Standing.REPLACED,
            rf"{_LEAD}(?i:in\s+){_REF}{_OF}{_AT[1]},?\s+{_WORDS}{_QUOTED}{_BE}"
            rf"(?:(?i:replaced|substituted|changed|amended)\s+{_TO}(?P<new>.*)|{_GONE}{_AT[2]}\.?)",
        ),
        (
            Standing.REPLACED,
            rf"{_LEAD}{_WORDS}{_QUOTED}\s+(?i:in\s+){_REF}{_OF}{_BE}"
            rf"(?:(?i:replaced|substituted|changed|amended)\s+{_TO}(?P<new>.*)|{_GONE}{_AT[2]}\.?)",
        ),
    )
)
_SELF = r"(?i:th(?:is|ese)|the present|it|they)\b[\w\s-]{0,50}?"
_REPLACES = (
    r"(?i:replaces?|supersedes?|cancels?|repeals?|revokes?)(?i:\s+and\s+(?:replaces?|supersedes?|cancels?))?"
)
_REPLACING = _bounded(
    rf"{_LEAD}(?P<subject>{_SELF}|\S.{{0,90}}?){_AT[1]}\s+(?i:hereby\s+)?{_REPLACES}{_WHOLLY}"
    r"(?i:\s+all (?:previous|earlier|prior) (?:editions?|versions?) of)?\s+"
    rf"(?P<doc>\S.{{0,120}}?){_AT[2]}\.?"
)
_REPLACED = _bounded(
    rf"{_LEAD}(?P<doc>\S.{{0,120}}?){_BE}(?:{_GONE}|{_NEW}){_WHOLLY}{_AT[1]}"
    rf"(?i:\s+by\s+(?P<subject>.{{1,90}}?))?{_AT[2]}\.(?P<exact>)"
)
_REPLACES_FIELD = _bounded(r"(?i:supersedes|replaces)\s*:\s*(?P<doc>.+?)\.?(?P<subject>)")
_AMENDS = re.compile(
    rf"{_SELF}\s+(?i:hereby\s+)?(?i:amends|modifies|changes|varies|supplements|corrects)\s+(?P<doc>.{{3,120}}?)\.?"
)
_AMENDMENT = re.compile(
    r"(?i)\b(?:amendment|addendum|corrigendum|errat\w+|correction|variation|supplement|change notice"
    r"|side letter|notice of change|changes|revision)\b.{0,60}?\b(?:to|of|for)\s{1,3}(.{1,200})$"
)
_OVER = r"(?:superseded|withdrawn|repealed|obsolete|cancell?ed|no longer (?:in force|valid))"
RETIRED = re.compile(
    rf"(?i)^(?:[(\[]{_OVER}[)\]]|{_OVER}:)\s{{0,3}}"
    rf"|\s{{0,3}}[(\[,:;–-]\s{{0,3}}(?:now\s)?(?:(?:superseded|replaced) by\s(?P<by>[^()\[\]]{{1,80}})"
    rf"|{_OVER}(?:\s(?:on|from|since|in|as of)\s[^()\[\]]{{1,40}})?)[)\]]?$"
)
"""What a title says of its own document if that is no longer in force."""
_HINT = re.compile(
    r"(?i)delet|remov|repeal|revok|struck|cancel|withdrawn|omitted|rescind|replac|substitut|supersed|amend"
    r"|restat|\breads?\b|changed|modif|varies|supplements|corrects"
)
_NEXT = re.compile(r"\(?(?:[a-z]|[ivx]+)\)|[-•*“\"]|\d+(?:\.\d+)+\s")
_WORD = re.compile(r"[^\W\d_]+|\d+(?:\.\d+)*")
_LITTLE = frozenset(
    _WORD.findall("the a an of and to for our on in at by dated version edition revision rev v no")
)
_YEAR = re.compile(r"(?:19|20)\d\d")
ALIASES = frozenset(
    ["agreement", "contract", "document", "policy", "main", "original", "principal", "said", "terms"]
)


class Statement(Record, frozen=True, kw_only=True):
    """One sentence that says what is superseded: sections by number or heading, () for the whole of
    ``document``, as it is named there ("" for the document that this one amends). ``old``: words in the
    section, "" for all of it. ``by`` names what replaces it, "" for the document with the statement.
    ``exact``: the title must be named in full, as any document may contain such a statement."""

    standing: Standing
    sections: tuple[str, ...]
    document: str
    start: int
    end: int
    from_date: str = ""
    old: str = ""
    by: str = ""
    exact: bool = False


class DocumentStatements(Record, frozen=True, kw_only=True):
    """What a document says about itself and others that decides what is in force, as read by this
    ``release`` of Citewell."""

    document_id: str
    version: str
    title: str
    author: str
    length: int
    head: int
    published: str
    effective: str
    expires: str
    edition: str
    amends: tuple[str, ...]
    replaces: tuple[str, ...]
    retired: str | None
    """By what its own title says that it is superseded, "" if by nothing named; None if it is not."""
    statements: tuple[Statement, ...]
    sketch: tuple[int, ...]
    release: str = ""

    @property
    def dated(self) -> str:
        return self.effective or self.published


def read_statements(document: Document) -> DocumentStatements:
    """What ``document`` states. Never raises: a sentence that fits no form is not a statement."""
    own = {
        name: found.value
        for name in ("title", "author", "effective_at", "expires_at", "edition")
        if (found := getattr(document, name)) is not None and not found.guess
    }
    title = own.get("title", "") or readable_id(document.document_id)
    statements, amends = _read(document.text)
    if match := _AMENDMENT.search(title):
        amends.append(match[1])
    words = {zlib.crc32(word.lower().encode()) for word in re.findall(r"[^\W\d_]{4,}", document.text)}
    return DocumentStatements(
        document_id=document.document_id,
        version=document.version,
        title=title,
        author=own.get("author", ""),
        length=len(document.text),
        head=len(document.text.split("\n", 1)[0]),
        published=document.dated,
        effective=own.get("effective_at", ""),
        expires=own.get("expires_at", ""),
        edition=own.get("edition", ""),
        amends=(*amends, title),
        replaces=document.replaces,
        retired=(match["by"] or "").strip() if (match := RETIRED.search(title)) else None,
        statements=tuple(statements),
        sketch=tuple(sorted(words)[:SKETCH]),
    )


def _read(text: str) -> tuple[list[Statement], list[str]]:
    """The statements, and the names of what the document says it amends."""
    statements: list[Statement] = []
    amends: list[str] = []
    base = 0
    for line in text.split("\n"):
        for start, end in sentence_spans(line) if _HINT.search(line) else ():
            sentence = line[start:end].strip()
            if len(sentence) > 2_000 or not _HINT.search(sentence):
                continue
            if match := _AMENDS.fullmatch(sentence):
                amends.append(match["doc"])
            # The new wording may be several sentences: it extends to the end of its line.
            found = _statement(sentence, base + start, base + end, base + len(line), text)
            statements += [found] if found is not None else []
        base += len(line) + 1
    return statements, amends


def _statement(sentence: str, start: int, end: int, line_end: int, text: str) -> Statement | None:
    for standing, pattern in _STATEMENTS:
        if (match := pattern.fullmatch(sentence)) is None:
            continue
        said = match.groupdict()
        new = said.get("new")
        if said["numbers"]:
            sections = tuple(re.sub(r"\s", "", n) for n in re.findall(NUMBER, said["numbers"]))
        else:
            sections = (said["head"] or said["head_"],)
        if new is not None and not said.get("old"):
            end = line_end if new.strip(" .:,") else _new_words(text, line_end)
        return Statement(
            standing=Standing.DELETED if said.get("old") and new is None else standing,
            sections=sections,
            document=said["doc"] or "",
            start=start,
            end=end,
            from_date=_date_in(said),
            old=said.get("old") or "",
        )
    match = (
        _REPLACING.fullmatch(sentence) or _REPLACED.fullmatch(sentence) or _REPLACES_FIELD.fullmatch(sentence)
    )
    if match:
        said = match.groupdict()
        subject = said["subject"] or ""
        own = not subject or re.fullmatch(_SELF, subject)
        return Statement(
            standing=Standing.EDITION,
            sections=(),
            document=said["doc"],
            start=start,
            end=end,
            from_date=_date_in(said),
            by="" if own else subject,
            exact="exact" in said,
        )
    return None


def _date_in(said: Mapping[str, str | None]) -> str:
    return next((parse_date(value) for name, value in said.items() if name.startswith("date") and value), "")


def _new_words(text: str, line_end: int) -> int:
    """Where the new wording below "is replaced by the following:" ends."""
    end = line_end
    for number in range(12):
        line = text[end + 1 :].split("\n", 1)[0]
        if number and not _NEXT.match(line):
            break
        end = min(end + 1 + len(line), len(text))
    return end


class DocumentName(Record, frozen=True, kw_only=True):
    words: frozenset[str]
    years: frozenset[str]
    date: str
    edition: str


def name_of(phrase: str) -> DocumentName:
    phrase = RETIRED.sub("", phrase)
    phrase = re.sub(r"\s{0,3}\([^()“\"]{0,80}[“\"][^()]{0,80}\)", "", phrase).strip(" .,:;“”\"'")
    dates = [match[0] for match in re.finditer(DATE, phrase)]
    numbered = re.search(r"(?i)\b(?:version|edition|revision|rev\.?|v\.?)\s?(\d+(?:\.\d+)*|[A-Z]\b)", phrase)
    plain = re.sub(DATE, " ", phrase)
    if numbered:
        plain = plain.replace(numbered[0], " ")
    words = frozenset(word.casefold() for word in _WORD.findall(plain)) - _LITTLE
    years = frozenset(_YEAR.findall(plain))
    return DocumentName(
        words=frozenset(word for word in words if word not in years),
        years=years,
        date=parse_date(dates[0]) if dates else "",
        edition=numbered[1].casefold() if numbered else "",
    )


def readable_id(document_id: str) -> str:
    return re.sub(r"[-_]+", " ", document_id.rsplit("/", 1)[-1].rsplit(".", 1)[0])


def find_section(document: Document, section: str) -> tuple[int, int] | None:
    """The one section or numbered paragraph with this name ("4.1", "5(b)", "Break clause"); None if there are
    none or several."""
    head, *inner = re.split(r"(?=\()", section) if section[:1].isdigit() else [section]
    place = _section(document, head) or _paragraph(document, head)
    for letter in inner:
        place = _inside(document.text, place, letter) if place else None
    return place


def _section(document: Document, name: str) -> tuple[int, int] | None:
    numbered = _numbered_as(name)
    fit = [
        one
        for one in document.sections
        if one.path[-1].casefold() == name.casefold()
        or re.sub(r"^[\W\d.]+", "", one.path[-1]).casefold() == name.casefold()
        or numbered.match(one.path[-1])
    ]
    return (fit[0].start, fit[0].end) if len(fit) == 1 else None


_LABEL = rf"(?m)^(?:(?:{UNIT}|§)[^\S\n]*)?"
_NUMBERED = re.compile(rf"{_LABEL}(\d+[A-Z]?(?:\.\d+)*)(?:\.?[^\S\n]|[):])")


def _numbered_as(name: str) -> re.Pattern[str]:
    return re.compile(rf"{_LABEL}{re.escape(name)}(?:\.?(?=\s|$)|[):])")


def _paragraph(document: Document, name: str) -> tuple[int, int] | None:
    """The line that begins with the number and the lines below it, up to the next one with a number that is
    not a subdivision, or the end of its section."""
    text = document.text
    found = [match.start() for match in _numbered_as(name).finditer(text)]
    if len(found) != 1 or not re.fullmatch(NUMBER, name):
        return None
    start = found[0]
    ends = [one.end for one in document.sections if one.start <= start < one.end]
    ends += [one.start for one in document.sections if one.start > start]
    end = min([*ends, len(text)])
    others = _NUMBERED.finditer(text, start + 1, end)
    end = next((match.start() for match in others if not match[1].startswith(f"{name}.")), end)
    return start, end - (text[end - 1 : end] == "\n")


def _inside(text: str, place: tuple[int, int], letter: str) -> tuple[int, int] | None:
    """The one line of ``place`` that begins with ``letter``, such as "(b)"."""
    found = [
        match.start() for match in re.finditer(rf"(?m)^{re.escape(letter)}\s", text[place[0] : place[1]])
    ]
    if len(found) != 1:
        return None
    start = place[0] + found[0]
    end = text.find("\n", start)
    return start, min(end if end >= 0 else len(text), place[1])


def sentence_with(text: str, place: tuple[int, int] | None, words: str) -> tuple[int, int] | None:
    """The one sentence of ``place`` that contains these words; None if there are none or several."""
    if place is None:
        return None
    base = text[place[0] : place[1]]
    found = [span for span in sentence_spans(base) if words in base[slice(*span)]]
    return (place[0] + found[0][0], place[0] + found[0][1]) if len(found) == 1 else None
