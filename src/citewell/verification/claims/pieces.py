"""The pieces of an answer by kind: its lines (paragraphs, list items, table rows, headings, code, lists of
sources), and sentences that state nothing about the world (an abstention, a question, talk about the answer).

In: clean text, the ranges of its code fences and the offsets of removed markers; one sentence. Out:
:class:`TextLine` values in order; a sentence's kind, or None if it may state something. What looks like a
heading, a table head or a list-of-sources entry but states something is text, and a sentence with content
after a polite opening stays a claim. Patterns only.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from enum import StrEnum

from citewell.core.records import Record
from citewell.questions.quantity import QuantityForm
from citewell.verification.claims.statements import has_amount, has_verb, makes_statement
from citewell.verification.quantities import extract_values

_FRAME = re.compile(
    r"(?:(?:based on|according to|from|in|as (?:stated|described|mentioned|noted|reported) in) (?:the )?"
    r"(?:provided |available |given |supplied |retrieved )?(?:sources?|documents?|context|passages?|texts?|"
    r"excerpts?)\b(?: (?:provided|above|given))?, |(?:the )?answer(?: is)?: |in (?:summary|conclusion|short), |"
    r"to summari[sz]e, |overall, |did you know,? that )",
    re.IGNORECASE,
)


def frame_length(sentence: str) -> int:
    """Length in characters of an opening without content ("According to the documents, ", "Overall, ")."""
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
"""What Citewell's own writers say when they decline, matched word for word."""

_BARE = r"(?:sources?|documents?|passages?|context|texts?|excerpts?)"
_GIVEN = r"(?:provided|available|given|supplied|retrieved|cited|above|search|current)"
# A filing or report counts as a source only if described as provided, available and so on.
_SOURCES = (
    rf"(?:(?:the|these|this|those|any|my|your|of)\s+){{0,3}}(?:{_BARE}|(?:{_GIVEN}\s+){{1,3}}(?:{_BARE}|"
    rf"materials?|articles?|information|results?|evidence|data|filings?|reports?))(?:\s+{_GIVEN})?\b"
)
_FIND = r"(?:answer|find|determine|know|say|tell|confirm|verify|locate)"
_ABOUT = rf"\s+(?:(?:about|on|regarding|concerning|of|as to|whether|for|to {_FIND})\b|(?:in|within|from) {_SOURCES})"
_UNABLE = r"(?:cannot|can't|could not|couldn't|(?:am|are|was|were) unable to)"
# The groups capture what was asked for; they must state nothing (:func:`_only_named`).
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
# Participles that no table lists ("... opened in").
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
# Questions that state something: "Did you know that ...?", "..., didn't it?".
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


def piece_kind(sentence: str) -> PieceKind | None:
    """QUESTION, ABSTENTION, META or MARK; None if it may state something, as some questions do."""
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
    # "Here is the answer: Paris" contains the answer it announces.
    names_it = _NAMING if match["announced"] or match["shown"] else _ASIDE
    return None if names_it.search(_rest(match)) and not match["denied"] else PieceKind.META


def _abstains(text: str) -> bool:
    match = _ABSTENTION.fullmatch(text)
    if not match:
        return bool(_UNKNOWN.fullmatch(text))
    # These patterns concern the sources only if they mention them, the question or the answer.
    open_ended = match["unanswered"] is not None or (match["what"] or "information").lower() != "information"
    return bool(_UNKNOWN.fullmatch(text)) or (
        (not open_ended or bool(_ASKED.search(_rest(match)))) and _only_named(_rest(match))
    )


def _rest(match: re.Match[str]) -> str:
    return next((text for name, text in match.groupdict().items() if text and name != "what"), "")


def _only_named(rest: str) -> bool:
    """Whether the rest only names what was asked for: no clause, contrast or amount. Years and names are
    allowed; what a noun presupposes ("the fraud") is not detected."""
    left = _PERIOD.sub("", _POINTED.sub("", rest))
    return (
        not _TURNS.search(rest)
        and not _AMOUNT.search(_PERIOD.sub("", rest))
        and not _ENDED.search(left)
        and not has_verb(f"x {left}")
    )


def heads_references(line: str) -> bool:
    """Whether the line is the heading of a list of sources."""
    return bool(_REFERENCE_HEAD.match(line))


class TextLine(Record, frozen=True, kw_only=True):
    """``kind`` is CLAIM for text, else HEADING, CODE or REFERENCES; ``paragraph`` counts blocks separated by
    blank lines; ``row_text`` is a table row with its heads."""

    start: int
    end: int
    kind: PieceKind
    paragraph: int
    item: bool = False
    row: bool = False
    row_text: str = ""


_ITEM = re.compile(r"[ \t]*(?:>\s*)?(?:[-*•‣◦▪–]|\(?\d{1,2}[.)]|\(?[a-zA-Z][.)])[ \t]+")
_HASH = re.compile(r"[ \t]*#{1,6}\s")
_BOLD_ONLY = re.compile(r"[ \t]*(\*\*|__)[^*_\n]{1,80}\1:?[ \t]*")
_RULE = re.compile(r"[ \t]*+(?:[-*_=]\s*+){3,}+|(?=[ \t:|-]*---)[ \t:|-]+")
_MOST_HEAD = 200
"""Maximum characters of a column head repeated with its cells."""
_QUOTE = re.compile(r"[ \t]*>\s?")


# Signs of a reference: a URL, a file name, a year in parentheses, pages, a volume, an ISBN.
_BIBLIOGRAPHIC = re.compile(
    r"https?:|www\.|\bdoi\b|\b[\w-]{1,60}\.(?:com|org|net|gov|edu|pdf|docx?|html?|txt|md|csv|xlsx?|pptx?|json)\b|"
    r"\((?:19|20)\d\d[a-z]?\)|\bet al\b|\bpp?\. ?\d|\bvol\. ?\d|\bISBN\b|"
    r"\b(?:retrieved|accessed) (?:on|from|\d)",
    re.IGNORECASE,
)


def read_lines(
    text: str, fenced: Sequence[tuple[int, int, str]], marked: Sequence[int] = ()
) -> list[TextLine]:
    """All non-blank lines, in order. ``marked``: the offsets of removed markers."""
    lines: list[TextLine] = []
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
            lines.append(TextLine(start=start, end=end, kind=PieceKind.CODE, paragraph=paragraph))
            continue
        place = bisect_left(places, start)
        cited = place < len(places) and places[place] <= end
        titled = _HASH.match(raw) or _BOLD_ONLY.fullmatch(raw)
        references = heads_references(raw) or (references and not titled)
        if references and (heads_references(raw) or _refers(raw, cited)):
            lines.append(TextLine(start=start, end=end, kind=PieceKind.REFERENCES, paragraph=paragraph))
            continue
        if _RULE.fullmatch(raw) or (titled and not cited and not makes_statement(raw)):
            lines.append(TextLine(start=start, end=end, kind=PieceKind.HEADING, paragraph=paragraph))
            continue
        if raw.lstrip().startswith("|") and raw.count("|") >= 2:
            cells = [cell.strip(" *`") for cell in raw.strip().strip("|").split("|")]
            below_end = text.find("\n", match.end())
            below = text[match.end() : below_end if below_end >= 0 else len(text)]
            names = heads is None and _names_columns(cells, below, cited)
            head = names and not any(has_verb(cell) for cell in cells)
            spelled = _spell(heads or [], cells)
            heads = [cell[:_MOST_HEAD] for cell in cells] if names else heads or []
            lines.append(
                TextLine(
                    start=start, end=end, kind=PieceKind.HEADING if head else PieceKind.CLAIM,
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
            lines.append(TextLine(start=start, end=end, kind=PieceKind.HEADING, paragraph=paragraph))
            continue
        previous = lines[-1] if lines else None
        if not item and not titled and previous and _wrapped(text, previous, begin, paragraph):
            lines[-1] = TextLine(
                start=previous.start, end=end, kind=previous.kind, paragraph=paragraph, item=previous.item
            )
            continue
        lines.append(
            TextLine(start=begin, end=end, kind=PieceKind.CLAIM, paragraph=paragraph, item=bool(item))
        )
    return lines


def _refers(line: str, cited: bool) -> bool:
    """Whether the line is an entry in a list of sources: a reference or a title. A clause is a title only
    after a label and without a full stop."""
    if _BIBLIOGRAPHIC.search(line):
        return True
    bare = line[item.end() :].strip() if (item := _ITEM.match(line)) else line.strip()
    clause = has_verb(bare) and (bare.endswith((".", "!")) or not (item or cited))
    return not has_amount(bare) and not clause


def _names_columns(cells: Sequence[str], below: str, cited: bool) -> bool:
    """Whether a table's first line is its head: a rule follows, or another row follows and no cell contains
    a number or a statement. A line with a sum of money is never a head."""
    numbers = [value for cell in cells for value in extract_values(cell)]
    if any(value.form is QuantityForm.MONEY and value.value for value in numbers):
        return False
    if _RULE.fullmatch(below):
        return True
    row = below.lstrip().startswith("|") and not cited
    return row and not numbers and not any(has_verb(cell) for cell in cells)


def _wrapped(text: str, previous: TextLine, begin: int, paragraph: int) -> bool:
    """Whether the line continues a previous line that broke off mid-sentence."""
    if previous.kind is not PieceKind.CLAIM or previous.row or previous.paragraph != paragraph:
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
