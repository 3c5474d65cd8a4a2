"""Does a claim stand in a text, word for word and as a whole statement?

In: a claim and a text. Out: yes or no. "No" says nothing against the claim: whatever leaves a doubt is for
the entailer. Knows nothing about models.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import HEDGES, NEGATIONS
from citewell.verification.verbatim import find_all
from citewell.verification.verbs import is_doubtful, is_finite
from citewell.verification.words import content_words, words_of

_LIST_MARK = (
    r"(?:[-*#>\u2022\u2023\u25e6\u25aa\u00b7\u2013\u2014]+\s+"
    r"|\(?(?:\d{1,3}[.)]|(?:[a-z]|[ivxlc]{1,5})\))\s+)"
)
# Whoever writes over it or before it says it himself, unlike "Myth:" or "The prosecution's case:".
_ASSERTED = (
    r"(?:(?:key|main|financial)\s+)?(?:notes?|facts?|highlights?|results?|figures|features|details|summary|"
    r"overview|important|warning|caution|tips?):\s*"
)
_CONNECTIVE = (
    r"(?:(?:and|but|so|yet|thus)\s+|(?:however|moreover|furthermore|additionally|in addition|also|besides|"
    r"finally|therefore|thus|hence|consequently|accordingly|as a result|indeed|in fact|of course|similarly|"
    r"likewise|nevertheless|nonetheless|still|yet|instead|meanwhile|overall|notably|importantly|specifically|"
    r"in particular|conversely|in contrast|by contrast|on the other hand),\s*)"
)
_MARKUP = r"(?P<marks>[\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb()\[\]*_]*)"
_QUOTES = re.compile("[\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb]")
_SINGLE_OPENS = re.compile(r"(?<!\w)['\u2018](?=\w)(?!(?:s|t|d|m|re|ve|ll|em|n)\b)", re.IGNORECASE)
_SINGLE_CLOSES = re.compile(r"(?<=\S)['\u2019](?!\w)")
_OPENS = re.compile(rf"\s*{_LIST_MARK}*{_MARKUP}\s*(?:{_ASSERTED})?{_CONNECTIVE}?", re.IGNORECASE)
_CLOSES = re.compile(rf"\s*[.!]?\s*{_MARKUP}\s*[.!]?")
_BREAKS = r",;:\"\u201c\u201d\u00ab\u00bb()\u2014"
_CLAUSES_BEFORE = re.compile(
    rf"\s*{_LIST_MARK}*{_CONNECTIVE}?"
    rf"(?P<clauses>(?:[^\s{_BREAKS}][^{_BREAKS}]*(?:;|,\s+(?:and|but|while|whereas)\b)\s+)+){_CONNECTIVE}?",
    re.IGNORECASE,
)
_CLAUSE_BEHIND = re.compile(r"(?:;|,\s+and\b)\s+(?P<clause>[^?]+)")
_JOINT = re.compile(r"(?:;|,)\s+(?:(?:and|but|while|whereas)\b)?", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
# Words that set the place, the time or the case of what follows their clause too.
_FRAMES = re.compile(
    r"\W*(?:in|at|on|for|from|under|over|during|within|by|per|among|between|with|without|absent|given|according|despite|"
    r"throughout|of|to|upon|like|suppose|imagine|assume|let|say|had|were|should|or|nor)\b",
    re.IGNORECASE,
)
# Words by which one clause may govern another, or may tell only what somebody says.
_GOVERNS = re.compile(
    r"\b(?:that|whether|who|whom|whose|which|what|how|why|when|whenever|where|wherever|while|whereas|once|as|because|"
    r"since|unless|if|until|till|after|before|though|although|than|either|both|only|save|provided|testified|told|"
    r"warned|wrote|announced|found|feared|insisted|promised|maintained|submitted|assumed|supposed)\b",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"\b(?:but|yet|however|still|nevertheless|notwithstanding|instead|rather|otherwise|respectively|prior|pending|later|"
    r"subsequent\w*|this|these|those|such|the (?:same|foregoing)|delet\w*|revers\w*|repeal\w*|supersed\w*|"
    r"revo[ck]\w*|withdr[ae]w\w*|rescind\w*|overturn\w*|overrul\w*|restate\w*|correct\w*|cancel\w*|void\w*|vacat\w*|"
    r"struck|quash\w*|annul\w*|amend\w*|abandon\w*|expir\w*|laps\w*|waiv\w*|limit\w*|cap(?:s|ped)?|"
    r"opposite|contrary|wrong\w*|untrue|mistak\w*|erroneous\w*)\b",
    re.IGNORECASE,
)
_ASSERTS = re.compile(_ASSERTED, re.IGNORECASE)
# A list that lost its lines ("any of the following is a default: The borrower fails to pay. ...").
_LED = re.compile(r"\b(?i:following|these|that|if|when|where|unless)\b[^.!?:]{0,200}:\s+([A-Z][^.!?]*)")
_ITEM = re.compile(_LIST_MARK, re.IGNORECASE)
# A heading: marked, bold as a whole, or a short line without a stop.
_HEADING = re.compile(
    r"#{1,6}\s+(.*\w.*)|(?:\*\*|__)(.*\w.*)(?:\*\*|__)|([A-Z0-9\"'\u201c\u2018(][^\t]*[\w)\]?])"
)
_HEADING_WORDS, _HEADING_LONGEST = 12, 200
# Words of a heading that make what stands under it untrue, not so yet or any more, a wish or a case.
_TURNS = re.compile(
    r"\b(?:except\w*|exclu\w+|myths?|misconceptions?|fallac\w+|fiction\w*|rumou?rs?|alleg\w+|fals\w+|untrue|incorrect|"
    r"wrong|drafts?|former\w*|superseded|obsolete|outdated|deprecated|repealed|deleted|withdrawn|cancel+ed|revoked|"
    r"rescinded|expired|rejected|propos\w+|hypothe\w+|scenarios?|assumptions?|objectives?|goals?|examples?|"
    r"(?:patients|people|persons|adults|children|women|men|customers|users|members|employees|tenants|students|"
    r"applicants|those) (?:with\w*|who|in|on|under|over|aged|from|without))\b",
    re.IGNORECASE,
)
# The sentence behind takes something off it, or the one before makes it a thought.
_BACK = re.compile(r"\W*(?:this|that|these|those|the (?:above|foregoing|statement))\b", re.IGNORECASE)
_ASIDE_WORDS = 5  # a longer question or "No ..." with a verb says something of its own
_TAKES = re.compile(
    r"\W*(?:not|none|no|only|false|true|untrue|wrong|except|unless|otherwise|provided|"
    r"the (?:opposite|contrary|reverse))\b",
    re.IGNORECASE,
)
_ENDED = re.compile(
    r"\b(?:only|false|untrue|wrong|incorrect|myth|lie|delet\w+|revers\w+|repeal\w+|supersed\w+|revok\w+|withdr\w+|"
    r"rescind\w+|overturn\w+|cancel\w+|expir\w+|laps\w+|ended|ceas\w+|except|unless|no longer|appl(?:y|ies)|"
    r"not (?:true|so|valid|hold|the case))\b",
    re.IGNORECASE,
)
_POSES = re.compile(
    r"\W*(?:suppose|supposing|assume|assuming|imagine|imagining|hypothes\w+|pretend)\b.*"
    r"|.*\b(?:following|as follows)\W*",
    re.IGNORECASE | re.DOTALL,
)
_GOES_ON = re.compile(r"[,;](?:\s+(?:and|or))?$", re.IGNORECASE)
_INLINE_LIST = re.compile(rf":\s*{_LIST_MARK}", re.IGNORECASE)
_MOST_LINES = 50  # looked back over, from an item to the words that lead up to it


def stands_whole(claim: str, text: str) -> bool:
    """``claim`` stands in ``text`` word for word and as a whole statement.

    It is a whole sentence, but for marks and a connective ("However,"), or a clause beside coordinate ones
    that neither frame nor turn it. A fragment without a verb is no clause. Questions, speech, items of a
    list with words that lead up to it, what stands under a heading that may turn it ("Do not take it") and
    what the sentence behind may take back ("This rule was withdrawn.") state nothing by themselves.
    """
    bare = claim.strip().rstrip(".!").rstrip()
    words = bare.split()
    if len(words) < 3 or bare.rstrip("\"'\u201d\u2019)").endswith("?"):
        return False
    verb = any(is_finite(word.strip(".,;:()").lower()) for word in words)
    # A sentence made of a clause begins with a capital that the clause does not have, and the reverse.
    variants = {bare, bare[:1].swapcase() + bare[1:]}
    return any(
        _stated(text, start, end, verb)
        for variant in sorted(variants)
        for start, end in find_all(variant, text)
    )


def _stated(text: str, start: int, end: int, verb: bool) -> bool:
    first, last = _sentence_around(text, start, end)
    sentence, before, after = text[first:last], text[first:start], text[end:last]
    if _GOES_ON.search(sentence) or not _balanced(sentence):
        return False
    opens, closes = _OPENS.fullmatch(before), _CLOSES.fullmatch(after)
    if opens and closes:
        whole = _paired(opens["marks"], closes["marks"]) and not (
            _QUOTES.search(opens["marks"]) and _QUOTES.search(closes["marks"]) and _told(text, first, last)
        )
    else:
        whole = (
            verb
            and (_stand_before(before) if not opens else not opens["marks"])
            and (_stands_behind(after) if not closes else not closes["marks"])
        )
    return (
        whole
        and not _introduced(text, first)
        and not _turned_by_heading(text, first, text[start:end])
        and not _taken_back(text, first, last)
    )


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """From the start of the sentence that holds ``start`` to the end of the one that holds ``end``."""
    spans = sentence_spans(text)
    first = max((a for a, _ in spans if a <= start), default=0)
    last = min((b for _, b in spans if b >= end), default=len(text))
    return first, last


def _paired(opening: str, closing: str) -> bool:
    """Brackets and emphasis close as they opened: an asterisk at the end alone is a footnote's."""
    left, right = _QUOTES.sub("", opening), _QUOTES.sub("", closing)
    return left.translate(str.maketrans("([", ")]"))[::-1] == right


def _balanced(text: str) -> bool:
    """No quotation is open at its end; a mark behind a digit is inches, one before "s" an apostrophe."""
    straight = re.sub(r'(?<=\d)"', "", text).count('"')
    return (
        straight % 2 == 0
        and len(_SINGLE_OPENS.findall(text)) <= len(_SINGLE_CLOSES.findall(text))
        and text.count("\u201c") == text.count("\u201d")
        and text.count("\u00ab") == text.count("\u00bb")
    )


def _told(text: str, first: int, last: int) -> bool:
    """What stands beside a quotation in its line says that somebody said it."""
    line, stop = text.rfind("\n", 0, first) + 1, text.find("\n", last)
    return bool(cut_off(text[line:first], text[last : stop if stop >= 0 else len(text)]))


def _stand_before(before: str) -> bool:
    """Coordinate clauses stand before, up to the border ("Costs fell, and ")."""
    found = _CLAUSES_BEFORE.fullmatch(before)
    return found is not None and all(
        _coordinate(part) for part in _JOINT.split(found["clauses"]) if part.strip()
    )


def _stands_behind(after: str) -> bool:
    """A coordinate clause follows that says nothing more about what was stated."""
    found = _CLAUSE_BEHIND.fullmatch(after)
    return found is not None and _coordinate(found["clause"]) and not _TURNED.search(found["clause"])


def _coordinate(clause: str) -> bool:
    """It has a subject and a verb, and no word whose scope may reach out of it."""
    words = [word.lower() for word in _WORD.findall(clause)]
    return (
        any(is_finite(word) for word in words[1:])
        and not _is_verb(words[0])
        and not _FRAMES.match(clause)
        and not _GOVERNS.search(clause)
        and not cut_off(clause, "")
    )


def _introduced(text: str, first: int) -> bool:
    """The sentence is part of a speech or a list, or the words above it lead up to it ("It is a myth that:").

    A list may have lost its marks, so lines of one sentence count as its items, up to a heading.
    """
    begin, stop = text.rfind("\n", 0, first) + 1, text.find("\n", first)
    line, ahead = text[begin : stop if stop >= 0 else len(text)].strip(), text[begin:first]
    if _INLINE_LIST.search(ahead) or not _balanced(ahead) or any(map(_has_verb, _LED.findall(ahead))):
        return True
    for above in itertools.islice(_lines_above(text, begin), _MOST_LINES):
        if above.endswith(":"):
            # A row of a table is turned by a denial above it only.
            return bool(cut_off(above, "")) if "\t" in line else not _ASSERTS.fullmatch(above)
        if _GOES_ON.search(above):
            return True
        if not _is_item(line) or not _is_item(above):
            return False
    return False


def _turned_by_heading(text: str, first: int, claim: str) -> bool:
    """The nearest heading denies, dates back or narrows what stands under it, and ``claim`` does not say so;
    or an item stands right under words with a verb that lead up to it."""
    begin, stop = text.rfind("\n", 0, first) + 1, text.find("\n", first)
    line = text[begin : stop if stop >= 0 else len(text)].strip()
    right_above = bool(_ITEM.match(line))
    for above in itertools.islice(_lines_above(text, begin), _MOST_LINES):
        if name := _heading(above, line):
            turns = bool(_TURNS.search(name) or cut_off(name, "")) or (right_above and _leads(name))
            return turns and not set(content_words(name)) <= set(content_words(claim))
        right_above = right_above and bool(_ITEM.match(above))
        line = above
    return False


def _heading(line: str, below: str) -> str:
    """Its words, or "": a plain line is none where the one below goes on with it, or where it is an item."""
    found = _HEADING.fullmatch(line) if len(line) <= _HEADING_LONGEST else None
    if not found:
        return ""
    marked = found[1] or found[2]
    plain = len(line.split()) <= _HEADING_WORDS and not below[:1].islower() and not _ITEM.match(line)
    return str(marked or (line if plain else ""))


def _leads(name: str) -> bool:
    """It says something of what follows ("Any of the following is a default"), and asks nothing."""
    return (
        _has_verb(name)
        and not name.endswith("?")
        and not re.match(r"\W*(?:how|what|why|where)\b", name, re.I)
    )


def _taken_back(text: str, first: int, last: int) -> bool:
    """In the same paragraph a sentence behind ends it, limits it or asks, or one before it poses it."""
    spans = sentence_spans(text)
    behind = next((text[a:b] for a, b in spans if a >= last and "\n" not in text[last:a]), "")
    before = next((text[a:b] for a, b in reversed(spans) if b <= first and "\n\n" not in text[b:first]), "")
    speaks = _BACK.match(behind) and _ENDED.search(behind)
    short = len(behind.split()) <= _ASIDE_WORDS
    asks = short and behind.rstrip("\"')\u201d").endswith("?")
    takes = _TAKES.match(behind) and (short or not _has_verb(behind))
    return bool(speaks or takes or asks or _POSES.fullmatch(before))


def _lines_above(text: str, line: int) -> Iterator[str]:
    """The lines before the one that begins at ``line`` and that hold something, nearest first."""
    while line > 0:
        begin = text.rfind("\n", 0, line - 1) + 1
        if above := text[begin : line - 1].strip():
            yield above
        line = begin


def _is_item(line: str) -> bool:
    """It has a list's mark, or is one sentence or row by itself and no heading."""
    heading = line[-1].isalnum() and line[0].isupper() and not _has_verb(line)
    return bool(_ITEM.match(line)) or (not heading and len(sentence_spans(line)) == 1)


def _has_verb(text: str) -> bool:
    return any(_is_verb(word.lower()) for word in _WORD.findall(text))


def _is_verb(word: str) -> bool:
    return is_finite(word) and not is_doubtful(word)


_REPORTERS = re.compile(
    r"\b(?:said|says|stated|claims?|claimed|argued?|argues|alleged?|alleges|believed?|believes|reported(?:ly)?|"
    r"according to|"
    r"denied|denies|doubts?|doubted|rumou?red|thinks?|thought|suggest(?:s|ed)?|asserts?|asserted|"
    r"contends?|predicted|predicts|hoped?|pretended)\b",
    re.IGNORECASE,
)

_DENIERS = re.compile(
    r"\b(?:den(?:y|ies|ied|ying)|refut\w+|reject\w*|disput\w+|doubt\w*|fail\w* to|refus\w+ to|contrary to|"
    r"no evidence(?: that)?|"
    r"(?:is|was|are|were) (?:not true|false|a myth|a hoax)|falsely|pretend\w*|hoax|myth that|never|"
    r"n't|not)\b",
    re.IGNORECASE,
)

_CONDITION = re.compile(
    r"\b(?:if|unless|except|provided that|assuming|only when|in the event|subject to|until|but not|"
    r"other than|excluding)\b",
    re.IGNORECASE,
)


def cut_off(before: str, after: str) -> str:
    """What the words around a verbatim span do to it: a denial, report, hedge or condition, or "".

    ``before`` and ``after`` are the rest of the span's sentence on either side.
    """
    for kind, pattern, sides in (
        ("negation", _DENIERS, (before,)),
        ("attribution", _REPORTERS, (before, after)),
        ("condition", _CONDITION, (before, after)),
    ):
        for side in sides:
            if found := pattern.search(side):
                return f"{kind} ({found.group().strip()!r})"
    hedged = [
        word for word in words_of(before) if word in HEDGES or word in NEGATIONS or word.endswith("n't")
    ]
    return f"hedge ({hedged[-1]!r})" if hedged else ""
