"""The lines of an answer, and which of them and of their sentences state something.

In: clean text, where its fences are and where markers stood; or one sentence. Out: :class:`Line` values in
order (paragraphs, list items, table rows, headings, code); the kind of a sentence that states nothing about the
world: an abstention, a question, talk about the answer. What looks like a heading, a table's head or an entry
of a list of sources but states something is text, and a sentence with content of its own behind a polite
opening stays a claim. Patterns and word tables only. Over 400 lines: the word lists are half of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import StrEnum

from citewell.core.records import Record
from citewell.verification.entities import names
from citewell.verification.quantities import extract_quantities
from citewell.verification.quantity import Form
from citewell.verification.words import (
    AUXILIARIES,
    DETERMINERS,
    INTRANSITIVE,
    IRREGULAR,
    PAST,
    PLAIN_BASES,
    THIRD,
    WORD,
    is_clause,
    is_doubtful,
    is_finite,
)

_DATED = frozenset({Form.DATE, Form.YEAR, Form.ORDINAL})
_MEASURED = frozenset({Form.MONEY, Form.PERCENT, Form.POINTS})
_DETERMINERS = DETERMINERS | frozenset("my your no all some any every".split())
_SMALL = _DETERMINERS | frozenset(
    "in on at to from by for with of about over under into as per via and or but & vs versus than that which who".split()
)
_LONGEST = 500
"""Characters of a line: whatever is longer is no heading, and says something."""
_NAMED_SO = re.compile(r"-|^\d[A-Z]$")  # "30-day plan", "5G"
_CALLED = re.compile(r"\b[A-Z]{2,}[- ]$")  # "ISO 27001"
# What opens a title of a part, and no statement: "Overview: Nike".
_PART = re.compile(
    r"(?:(?:key|main|final|executive|brief)\s+)?(?:overview|summary|conclusions?|introduction|background|context|analysis|"
    r"discussion|notes?|points?|takeaways?|findings|details|topics?|agenda|contents)\s*:",
    re.IGNORECASE,
)
_PRONOUNS = frozenset("it he she they we i".split())
# Plurals that stand before another noun, and the nouns that close such a title ("Interest rates outlook").
_PLURALS = frozenset(
    "accounts affairs assets awards bonds effects events experiences facts funds goods items laws markets means notes "
    " parts payments prices rates resources rights rules sales sports steps stocks systems taxes terms types".split()
)
_NOUNS_GO_ON = frozenset({"of", "and", "or"})
_NOUN = re.compile(r"(?:[aeo]rs|ings|tions|sions|ments|[ai]n?ces|ies|ics|als|isms|ists|ss|us|is)$")
_EVERYDAY = re.compile(r"(?:ing|ed|ly|tion|ment|s)$")
# Behind a past form, how or where and no object: "shares held overseas" tells which shares.
_WHERE = re.compile(r"(?:ly|wide)$|^(?:abroad|overseas|offshore|online|elsewhere)$")
_CLOSES = frozenset(
    "summary overview outlook analysis breakdown report review table list data details".split()
)
# "Step 1: ", "2.1 ", "IV. ": what only counts a heading.
_LABEL = re.compile(
    r"^(?:(?:step|part|chapter|section|option|phase|item|note|appendix|example|question|table|figure)\s+"
    r"(?:\d+[.\d]*|[a-z]|[ivx]+)\b[:.)]*\s*|\(?(?:\d+(?:\.\d+)*|[a-z]|[ivx]+)[.)]\s+)",
    re.IGNORECASE,
)
# What a title asks, or a condition without what follows from it.
_ASKS = re.compile(
    r"(?:(?:how|why|what|when|where|which|who|whom|whose|whether)\b|(?:if|unless)\b(?!.*,))", re.IGNORECASE
)
_VALUE = re.compile(r"\w[^:]*:\s+(?!(?:how|why|what|when|where|which|who)\b)\S", re.IGNORECASE)
# What a lead-in says of its list alone.
_TAIL = re.compile(
    r"(?P<aside>[,;]?\s{0,9}\b(?:(?:for|in|by|of|to|on|with|through|because of|due to) (?:the following|these)(?: [a-z]+){0,2}|"
    r"as follows|including|such as|namely|below))$|\s{0,9}\b(?:the following|these)(?: [a-z]+){0,2}$",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"(?:.*, )?(?:here(?:'s| is| are)|below (?:is|are)|the following|there (?:is|are|were)(?: [a-z]+){0,3} "
    r"(?:reasons?|factors?|ways?|points?|steps?|things?|options?|differences|findings))\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(r"\b(?:how|why)\b(?! (?:to|much|many|long|often|old|far)\b)", re.IGNORECASE)


def has_amount(text: str) -> bool:
    """A sum, a share or a measure; neither a year, nor a place in a count ("Top 5 risks"), nor what a name has
    ("ISO 27001", "5G", "30-day plan")."""
    return len(text) > _LONGEST or any(
        found.form in _MEASURED
        or found.unit
        or found.scaled
        or (abs(found.value) >= 1_000 and not _CALLED.search(text[: found.start]))
        for found in extract_quantities(text)
        if found.form not in _DATED and found.value and not _NAMED_SO.search(found.text)
    )


def has_sum(text: str) -> bool:
    """Money; "(in $000)" is none."""
    return any(found.form is Form.MONEY and found.value for found in extract_quantities(text))


def has_number(text: str) -> bool:
    """Any number but dates and years."""
    return any(found.form not in _DATED for found in extract_quantities(text))


def states(text: str) -> bool:
    """A line without a sentence's shape that says something: a clause, an amount, "Name: value", a full stop."""
    bare = _LABEL.sub("", text.strip(" \t\n*_#`|>"))
    if has_amount(bare):
        return True
    if _ASKS.match(bare):
        return tells(bare) and any(name.certain for name in names(bare))
    closed = bare.endswith((".", "!")) and len(bare.split()) >= 3
    return closed or (bool(_VALUE.match(bare)) and not _PART.match(bare)) or acts(bare)


def acts(text: str) -> bool:
    """Somebody does or is something in it: a verb of the tables or one told by its ending, with a subject. A
    question in the form of a title does not say so ("What is insulin")."""
    words = [] if _ASKS.match(text) else WORD.findall(text)
    opens = words[0].lower() if words else ""
    for at in range(1, len(words)):
        word, before = words[at].lower(), words[at - 1]
        after = words[at + 1].lower() if at + 1 < len(words) else ""
        if word in AUXILIARIES and words[at] != "May":
            return True
        article = after in _DETERMINERS
        thing = after[:1].isalpha() and after not in _SMALL | _CLOSES and not after.endswith(("ing", "ed"))
        named = before[:1].isupper() and not _EVERYDAY.search(before.lower()) and before.lower() not in _SMALL
        known = (word in THIRD or word in PAST) and not is_doubtful(word)
        if opens in _PRONOUNS and at == 1 and (word in THIRD or word in PAST) and (known or after):
            return True
        goes_on = after in _NOUNS_GO_ON or (word in THIRD and not after)
        if known and word not in _PLURALS and (article or (named and not goes_on)):
            return True
        if is_doubtful(word):
            if article or (word in THIRD and thing and opens in _DETERMINERS and at == 2):
                return True
            continue
        if word in PAST or re.fullmatch(r"[a-z]{3,}ed", word):
            clear = thing or not before.lower().endswith(("s", "ed"))
            told = opens in _DETERMINERS and at >= 2 and clear
            simple = word in IRREGULAR and thing and (word in INTRANSITIVE or not _WHERE.search(after))
            if named or told or article or simple:
                return True
        elif words[at].islower() and thing and before.lower() not in _SMALL:
            ends = word in THIRD or re.fullmatch(r"[a-z]{3,}s", word)
            plural = before.lower().endswith("s") and not _NOUN.search("x" + before.lower()[-2:])
            if ends and word not in _PLURALS and not _NOUN.search(word) and not plural:
                return True
            if plural and word in PLAIN_BASES:
                return True
    return False


def tells(text: str) -> bool:
    """It says how or why something happened, and so that it did."""
    cause = _CAUSE.search(text)
    return bool(cause and acts(text[cause.end() :]))


def asserted(lead: str) -> str:
    """What a list's lead-in states without its list: "" when it only announces ("The main risks are")."""
    bare = lead.rstrip(" :")
    tail = _TAIL.search(bare, max(0, len(bare) - 80))
    said = bare[: tail.start()] if tail else bare
    whole = said if tail and tail["aside"] else bare
    if has_amount(said) or tells(said):
        return whole
    words = WORD.findall(said)
    if _ANNOUNCES.match(bare) or not words:
        return ""
    # A verb at the end waits for the list.
    if is_finite(words[-1].lower()) or words[-1].lower() == "include":
        return whole if acts(" ".join(words[:-1])) else ""
    return whole if is_clause(said) or acts(said) else ""


_FRAME = re.compile(
    r"(?:(?:based on|according to|from|in|as (?:stated|described|mentioned|noted|reported) in) (?:the )?"
    r"(?:provided |available |given |supplied |retrieved )?(?:sources?|documents?|context|passages?|texts?|"
    r"excerpts?)\b(?: (?:provided|above|given))?, |(?:the )?answer(?: is)?: |in (?:summary|conclusion|short), |"
    r"to summari[sz]e, |overall, |did you know,? that )",
    re.IGNORECASE,
)


def frame_length(sentence: str) -> int:
    """How many characters of the opening only point at the sources ("According to the documents, ")."""
    match = _FRAME.match(sentence)
    return match.end() if match else 0


class PieceKind(StrEnum):
    """What a stretch of an answer is; only CLAIM is checked."""

    CLAIM = "claim"
    MARKER = "marker"
    SPACE = "space"
    MARK = "list or emphasis mark"
    HEADING = "heading"
    QUESTION = "question"
    META = "talk about the answer"
    ABSTENTION = "abstention"
    LEAD_IN = "lead-in of a list"
    CODE = "code"
    REFERENCES = "list of sources"


ABSTENTIONS = (
    "The available sources do not contain enough information to answer this question reliably.",
    "I cannot answer this based on the provided sources.",
    "The provided sources do not contain information to answer this question.",
    "No supporting passage found.",
    "No passage was found that answers this question reliably.",
)
"""What Citewell's own writers say where they decline, recognised word for word."""

_BARE = r"(?:sources?|documents?|passages?|context|texts?|excerpts?)"
_GIVEN = r"(?:provided|available|given|supplied|retrieved|cited|above|search|current)"
# A filing, or a report, is part of the world unless it is called the one given.
_SOURCES = (
    rf"(?:(?:the|these|this|those|any|my|your|of)\s+){{0,3}}(?:{_BARE}|(?:{_GIVEN}\s+){{1,3}}(?:{_BARE}|"
    rf"materials?|articles?|information|results?|evidence|data|filings?|reports?))(?:\s+{_GIVEN})?\b"
)
_FIND = r"(?:answer|find|determine|know|say|tell|confirm|verify|locate)"
_ABOUT = rf"\s+(?:(?:about|on|regarding|concerning|of|as to|whether|for|to {_FIND})\b|(?:in|within|from) {_SOURCES})"
_UNABLE = r"(?:cannot|can't|could not|couldn't|(?:am|are|was|were) unable to)"
# The groups are what the sentence asks for; they may state nothing (:func:`_only_named`).
_ABSTENTION = re.compile(
    r"(?:(?:unfortunately|sorry|however|but|i(?:'m| am) sorry|i apologi[sz]e)[,;:]?\s*+(?:but\s++)?)?(?:"
    rf"{_SOURCES}\s+(?:(?:do(?:es)?|did)(?: not|n't) (?:contain|mention|say|state|answer|provide|specify|cover|tell|give|"
    r"include|indicate|address|discuss|disclose|explain|have (?:any |enough |sufficient )?information)|lacks?|"
    r"(?:contains?|provides?|offers?|gives?|has|have) no|makes? no mention|(?:is|are) (?:not sufficient|insufficient))"
    r"\b(?P<lacking>.*)"
    rf"|(?:no|none of) {_SOURCES}\s+(?:mentions?|states?|contains?|addresse?s?|answers?|discuss(?:es)?)\b(?P<untold>.*)"
    r"|(?:there (?:is|was) )?(?:no|not enough|insufficient|not sufficient) (?P<what>information|evidence|mention|data|"
    rf"details?|supporting passages?)(?: (?:is|are|was|were) (?:available|found))?(?P<none>$|{_ABOUT}.*)"
    rf"|(?P<absent>.*) (?:is|are|was|were) not (?:mentioned|stated|specified|provided|given|disclosed|discussed|addressed|"
    rf"found|included|available) (?:in|by|within) {_SOURCES}"
    rf"|(?:(?:(?:i|we) {_UNABLE}|i (?:do not|don't)) (?:{_FIND}|provide|give)|we (?:do not|don't) know|"
    rf"(?:it is|it's) not (?:possible to {_FIND}|clear|stated|specified|mentioned))\b(?P<unanswered>.*)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_UNKNOWN = re.compile(
    rf"(?:(?:i|we) (?:{_UNABLE}|do not|don't) {_FIND}(?: (?:this|that|it))?|no supporting passages? found|"
    r"no answer(?: found)?|unknown|n/?a|unanswerable|(?:not (?:enough|sufficient)|insufficient) (?:evidence|data)|"
    r"not (?:mentioned|stated|specified|available|found|provided))",
    re.IGNORECASE,
)
_ASKED = re.compile(rf"\b(?:{_SOURCES}|information|answers?|questions?)\b", re.IGNORECASE)
_POINTED = re.compile(
    r"(?:\b(?:is|was) (?:found|available|given|provided)\s+)?(?:\b(?:based on|according to|from|in|within|by|with)\s+)?"
    rf"\b{_SOURCES}|\b(?:needed|required) to\b|\bwhether\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TURNS = re.compile(r"[;:()\u2013\u2014]|\b(?:but|however|although|though|yet|except|which)\b", re.IGNORECASE)
_AMOUNT = re.compile(r"\d|[$\u20ac\u00a3%]|\b(?:million|billion|percent)\b", re.IGNORECASE)
# Verbs that no table knows, where a noun stands before them.
_ENDED = re.compile(
    r"\b(?!requested|needed|required)[a-z]+[^\We]ed\b(?=\s+(?:in|at|on|from|to|by|with|into|during|after|before)\b|\s*$)"
)
_PERIOD = re.compile(r"\b(?:(?:19|20)\d\d|Q[1-4])\b")
_JOINED = re.compile(
    r"[,;]\s+(?:(?:and|but|because|as|since|so)\s+)?|(?<!\s)\s+(?:because|since|as)\s+", re.IGNORECASE
)
_MADE = (
    r"(?:answer|summary|overview|list|table|breakdown|explanation|response|comparison|points?|details|steps|results|"
    r"information|facts|figures|findings)"
)
_OFFER = (
    r"(?:please )?(?:let me know|feel free to (?:ask|reach out)|(?:just )?ask|do(?:n't| not) hesitate to ask)"
)
_NEED = (
    r"if (?:you(?: have| need| want|'d like| would like)|there(?:'s| is)) "
    r"(?:any|anything|more|other|further|additional|another|help|clarification)\b(?: [a-z]+){0,4}"
)
_META = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|good question|thanks|thank you(?: for (?:your|the|this) \w+)?|"
    r"hello|hi|hey|ok(?:ay)?|yes, (?:of course|sure)|(?:please )?note|in (?:summary|conclusion|short|brief)[:,]?|"
    r"to summari[sz]e[:,]?|overall[:,]?|(?:the )?answer|see below|as follows|"
    rf"(?:based on|according to|from) {_SOURCES}[:,]?|{_OFFER}(?: {_NEED}| for (?:more|further) \w+)?|{_NEED}, {_OFFER}"
    r"|i (?:hope|trust) (?:this|that) (?:helps?|answers?|clarifies|is (?:helpful|useful|clear))\b(?P<hoped>.*)"
    rf"|(?:here's|here is|here are|below is|below are) (?:(?:a|an|the|my|your|some) )?(?:[a-z]+ ){{0,2}}{_MADE}\b(?P<announced>.*)"
    r"|the following (?:list|table|points?|summary)(?: (?:shows?|lists?|summari[sz]es?|gives?|contains?|compares?))?\b(?P<shown>.*)"
    rf"|as an ai(?: language)?(?: model| assistant)?, i (?:{_UNABLE}|do not|don't)\b(?P<denied>.*)"
    r"|i(?:'m| am|'d be| would be) (?:happy|glad) to (?:help|assist|answer|clarify|explain)\b(?P<offered>.*)"
    r"|(?:i will|i'll|i can|i shall|let me|let's|let us) (?:now )?(?:explain|summari[sz]e|outline|list|break (?:it|this|that|them) down|"
    r"walk (?:you )?through|start (?:with|by)|look at|go (?:through|over))\b(?P<begun>.*)"
    r")",
    re.IGNORECASE | re.DOTALL,
)
_NAMING = re.compile(r"[A-Z]|,|:|\s-+\s")
_ASIDE = re.compile(r"[,:]\s+(?:[A-Z]|(?:a|an|the)\b)|:|\s-+\s")
# Questions that tell: "Did you know that ...?", "..., didn't it?".
_TOLD = re.compile(
    r"(?:(?:but|and|so|well),? )?(?:did(?:n't| not)? you know\b(?!,? (?:what|which|who|when|where|whether|if|how to|the)\b)|"
    r"(?:is(?:n't| not) it true|have(?:n't| not)? you heard|are(?:n't| not)? you aware|do(?:n't| not)? you know|"
    r"who (?:knew|would have thought)),? that\b)",
    re.IGNORECASE,
)
_TAG = re.compile(
    r",\s*(?:(?:is|are|was|were|has|have|had|do|does|did|will|would|can|could|should|ai)(?:n['\u2019]?t|not| not)?"
    r" (?:it|they|he|she|we|you|i|there|that|this)(?: not)?|(?:am|is|are) i (?:right|wrong)|(?:is ?n['\u2019]t that |that['\u2019]s )?"
    r"(?:right|correct|true|yes|no|eh|ok(?:ay)?|agreed|innit|huh|surely|so))\s*\?$",
    re.IGNORECASE,
)
_REFERENCE_HEAD = re.compile(
    r"^\W*(?:sources?|references?|citations?|bibliography|works cited|footnotes)\W*$", re.IGNORECASE
)


def kind_of(sentence: str) -> PieceKind | None:
    """QUESTION, ABSTENTION or META; None when it may state something, as a question that tells does."""
    bare = " ".join(sentence.split()).strip("*_`\"'").strip()
    if not any(letter.isalnum() for letter in bare):
        return PieceKind.MARK
    plain = bare.replace("\u2019", "'").rstrip(" .!")
    if (
        f"{plain}." in ABSTENTIONS
        or _abstains(plain)
        or all(_abstains(piece) for piece in _JOINED.split(plain))
    ):
        return PieceKind.ABSTENTION
    if bare.endswith("?"):
        return None if _TOLD.match(plain) or _TAG.search(bare) or has_amount(bare) else PieceKind.QUESTION
    match = _META.fullmatch(plain.removesuffix(":"))
    if not match or not _only_named(_rest(match)):
        return None
    # "Here is the answer: Paris" names what it announces.
    names_it = _NAMING if match["announced"] or match["shown"] else _ASIDE
    return None if names_it.search(_rest(match)) and not match["denied"] else PieceKind.META


def _abstains(text: str) -> bool:
    match = _ABSTENTION.fullmatch(text)
    if not match:
        return bool(_UNKNOWN.fullmatch(text))
    # These speak of the sources only when they name them, or the answer.
    open_ended = match["unanswered"] is not None or (match["what"] or "information").lower() != "information"
    return bool(_UNKNOWN.fullmatch(text)) or (
        (not open_ended or bool(_ASKED.search(_rest(match)))) and _only_named(_rest(match))
    )


def _rest(match: re.Match[str]) -> str:
    return next((text for name, text in match.groupdict().items() if text and name != "what"), "")


def _only_named(rest: str) -> bool:
    """The rest names what was asked for: no clause, no turn, no amount. A year or a name tells nothing there;
    what a noun presupposes ("the fraud") is not seen."""
    left = _PERIOD.sub("", _POINTED.sub("", rest))
    return (
        not _TURNS.search(rest)
        and not tells(rest)
        and not _AMOUNT.search(_PERIOD.sub("", rest))
        and not _ENDED.search(left)
        and not is_clause(f"x {left}".lower())
    )


def heads_references(line: str) -> bool:
    """The line announces a list of sources that runs to the end of the answer."""
    return bool(_REFERENCE_HEAD.match(line))


class LineKind(StrEnum):
    TEXT = "text"
    HEADING = "heading"
    CODE = "code"
    REFERENCES = "references"

    @property
    def piece(self) -> PieceKind:
        return {
            LineKind.HEADING: PieceKind.HEADING,
            LineKind.CODE: PieceKind.CODE,
            LineKind.REFERENCES: PieceKind.REFERENCES,
        }.get(self, PieceKind.CLAIM)


class Line(Record, frozen=True, kw_only=True):
    """``paragraph`` counts blank-line-separated blocks; ``row_text`` spells a table row with its heads."""

    start: int
    end: int
    kind: LineKind
    paragraph: int
    item: bool = False
    row: bool = False
    row_text: str = ""
    blank: bool = False


_ITEM = re.compile(r"[ \t]*(?:>\s*)?(?:[-*•‣◦▪–]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])[ \t]+")
_HASH = re.compile(r"[ \t]*#{1,6}\s")
_BOLD_ONLY = re.compile(r"[ \t]*(\*\*|__)[^*_\n]{1,80}\1:?[ \t]*")
_RULE = re.compile(r"[ \t]*+(?:[-*_=]\s*+){3,}+|(?=[ \t:|-]*---)[ \t:|-]+")
_MOST_HEAD = 200
"""Characters of a column's head that its cells take over."""
_QUOTE = re.compile(r"[ \t]*>\s?")


# Signs of a reference: an address, a file, a year in brackets, pages, an edition.
_BIBLIOGRAPHIC = re.compile(
    r"https?:|www\.|\bdoi\b|\b[\w-]{1,60}\.(?:com|org|net|gov|edu|pdf|docx?|html?|txt|md|csv|xlsx?|pptx?|json)\b|"
    r"\((?:19|20)\d\d[a-z]?\)|\bet al\b|\bpp?\. ?\d|\bvol\. ?\d|\bISBN\b|"
    r"\b(?:retrieved|accessed) (?:on|from|\d)",
    re.IGNORECASE,
)


def read_lines(text: str, fenced: Sequence[tuple[int, int, str]], marked: Sequence[int] = ()) -> list[Line]:
    """Every line with something on it, in order. ``marked``: the places of the markers taken out."""
    lines: list[Line] = []
    paragraph, references = 0, False
    heads: list[str] | None = None
    places = sorted(marked)
    ranges = sorted((low, high) for low, high, _ in fenced)
    for match in re.finditer(r"[^\n]*\n?", text):
        raw = match.group().rstrip("\n")
        start, end = match.start(), match.start() + len(raw)
        if not raw.strip():
            paragraph += match.end() > match.start()
            heads = None
            continue
        while end > start and text[end - 1].isspace():
            end -= 1
        fence = bisect_right(ranges, (start, len(text) + 1)) - 1
        if fence >= 0 and start < ranges[fence][1]:
            lines.append(Line(start=start, end=end, kind=LineKind.CODE, paragraph=paragraph))
            continue
        place = bisect_left(places, start)
        cited = place < len(places) and places[place] <= end
        titled = _HASH.match(raw) or _BOLD_ONLY.fullmatch(raw)
        references = heads_references(raw) or (references and not titled)
        if references and (heads_references(raw) or _refers(raw, cited)):
            lines.append(Line(start=start, end=end, kind=LineKind.REFERENCES, paragraph=paragraph))
            continue
        if _RULE.fullmatch(raw) or (titled and not cited and not states(raw)):
            lines.append(Line(start=start, end=end, kind=LineKind.HEADING, paragraph=paragraph))
            continue
        if raw.lstrip().startswith("|") and raw.count("|") >= 2:
            cells = [cell.strip(" *`") for cell in raw.strip().strip("|").split("|")]
            below_end = text.find("\n", match.end())
            below = text[match.end() : below_end if below_end >= 0 else len(text)]
            names = heads is None and _names_columns(cells, below, cited)
            head = names and not any(acts(cell) for cell in cells)
            spelled = _spell(heads or [], cells)
            heads = [cell[:_MOST_HEAD] for cell in cells] if names else heads or []
            lines.append(
                Line(
                    start=start, end=end, kind=LineKind.HEADING if head else LineKind.TEXT,
                    paragraph=paragraph, row=True, row_text="" if head else spelled,
                )
            )  # fmt: skip
            continue
        heads = None
        item = _ITEM.match(raw)
        opening = item or _HASH.match(raw) or _QUOTE.match(raw)
        begin = start + (opening.end() if opening else 0)
        while begin < end and text[begin].isspace():
            begin += 1
        if begin >= end:
            lines.append(Line(start=start, end=end, kind=LineKind.HEADING, paragraph=paragraph))
            continue
        previous = lines[-1] if lines else None
        if not item and not titled and previous and _wrapped(text, previous, begin, paragraph):
            lines[-1] = Line(
                start=previous.start, end=end, kind=previous.kind, paragraph=paragraph, item=previous.item
            )
            continue
        lines.append(Line(start=begin, end=end, kind=LineKind.TEXT, paragraph=paragraph, item=bool(item)))
    return lines


def _refers(line: str, cited: bool) -> bool:
    """An entry of a list of sources: an address, or a title. A clause is a title only behind a label and
    without a full stop."""
    if _BIBLIOGRAPHIC.search(line):
        return True
    bare = line[item.end() :].strip() if (item := _ITEM.match(line)) else line.strip()
    clause = acts(bare) and (bare.endswith((".", "!")) or not (item or cited))
    return not has_amount(bare) and not clause


def _names_columns(cells: Sequence[str], below: str, cited: bool) -> bool:
    """The first line of a table names what stands below it when a rule is under it or, above another row,
    when no cell holds a number or a statement. A sum of money names nothing."""
    if any(has_sum(cell) for cell in cells):
        return False
    if _RULE.fullmatch(below):
        return True
    row = below.lstrip().startswith("|") and not cited
    return row and not any(has_number(cell) or acts(cell) for cell in cells)


def _wrapped(text: str, previous: Line, begin: int, paragraph: int) -> bool:
    """The line goes on where the one before it stopped in mid-sentence."""
    if previous.kind is not LineKind.TEXT or previous.row or previous.paragraph != paragraph:
        return False
    last, first = text[previous.end - 1], text[begin]
    between = text[previous.end : begin]
    return (
        between.count("\n") == 1
        and last not in ".!?:;|"
        and (first.islower() or first.isdigit() or last in ",-(" or first in "$€£(")
    )


def _spell(heads: Sequence[str], cells: Sequence[str]) -> str:
    label = cells[0]
    pairs = [
        f"{head}: {cell}" if head else cell
        for head, cell in zip([*heads[1:], *[""] * len(cells)], cells[1:], strict=False)
        if cell
    ]
    return f"{label}: " + "; ".join(pairs) + "." if pairs else label
