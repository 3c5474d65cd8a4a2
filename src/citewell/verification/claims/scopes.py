"""What reaches over more than its own clause: a condition, a report, a denial, an opening adjunct.

In: a stretch of a sentence. Out: whether something behind or before it is in its reach, or the adjunct that
reaches over all that follows. By word tables alone; where they leave a doubt, it reaches. Knows nothing about
where a sentence is cut.
"""

from __future__ import annotations

import re

from citewell.verification.claims.clauses import (
    DETERMINERS,
    WORD,
    late_subject,
    lowered,
    starts_with_verb,
    verb_at,
)
from citewell.verification.claims.phrases import frame_length
from citewell.verification.dates import MONTHS
from citewell.verification.entities import names
from citewell.verification.verbs import AUXILIARIES, PAST, THIRD, is_doubtful, is_finite

# Whoever says so; not the sources themselves, and not a rate ("per share").
_WHOSE = (
    r"according to (?!(?:the )?(?:(?:provided|available|given|supplied|retrieved) )?"
    r"(?:sources?|documents?|context|passages?|texts?|excerpts?)\b)|(?-i:[Pp]er (?=the\b|[A-Z]))|"
    r"in (?:the|its|his|her|their|[^\W_]+['\u2019]s?) (?:views?|opinions?|words|eyes)"
)
# Words whose scope reaches over what follows, so that nothing behind them may be cut off.
_SCOPE = re.compile(
    r"\b(?:if|unless|except|whether|that|because|since|although|though|when|whenever|while|where|after|before|until|once|than|"
    r"as|how|why|what|who|whom|whose|which|said|says|stated|claim(?:s|ed)?|argue[sd]?|believe[sd]?|denie[sd]|den(?:y|ying)|"
    r"reported(?:ly)?|alleged(?:ly)?|think[s]?|thought|expect(?:s|ed)?|suggest(?:s|ed)?|both|either|"
    r"(?:is|was|seems?|remains?) (?:possible|probable|likely|unlikely|plausible|conceivable|doubtful|unclear|rumou?red|hoped|feared)|"
    r"neither|between|not only|few|fewer|hardly|scarcely|barely|rarely|seldom|"
    r"respectively|compared|versus|vs|total(?:s|ed|ing)?|sum|combined|together|assuming|provided|"
    rf"{_WHOSE})\b",
    re.IGNORECASE,
)
# What may be of all that stands before it: a condition, a sharing out, a report.
_BACKWARDS = re.compile(
    r"\s(?:if|unless|except|when|whenever|where|provided that|assuming|as long as|subject to|depending on|in case|in the event|"
    rf"respectively|combined|together|in total|reportedly|allegedly|{_WHOSE})\b|"
    r",\s(?!and\b|but\b)(?:[^\s,;]+\s){0,12}(?:says?|testified|wrote|"
    r"(?:add|allege|announce|argue|believe|claim|confirm|estimate|explain|note|predict|report|reveal|say|state|suggest|warn)"
    r"(?:s|d|ed)?|said)(?:\s(?:on|in|at|to|last|this)\s[^,;]*)?[.!]?\s*$",
    re.IGNORECASE,
)
# Verbs of telling and nouns of what is told: a clause directly behind them is only told.
_TELLING = re.compile(
    r"(?:acknowledge|add|admit|allege|announce|assert|assume|concede|conclude|confirm|contend|declare|disclose|doubt|"
    r"estimate|explain|fear|find|forecast|guess|hint|hold|hope|hypothesi[sz]e|indicate|insist|know|learn|maintain|mean|"
    r"note|observe|predict|project|propose|reason|recall|reckon|report|reveal|rule|say|show|speculate|state|suspect|"
    r"warn)(?:s|d|ed)?|(?:repl|impl)(?:y|ies|ied)|admitted|feels?|felt|found|held|knew|meant|shown|testif(?:y|ies|ied)|sw(?:ears?|ore)|"
    r"allegations?|chances?|evidence|indications?|possibility|proof|risks?|rumou?rs?|signs?"
)
_NOUN_FOLLOWS = DETERMINERS | frozenset("that of in no some".split())
_PREPOSITIONS = frozenset(
    "about above across after against among around as at before behind below beside between by during for from in inside "
    "into like near of off on onto out outside over per since than through throughout to toward under until up upon via "
    "with within without".split()
)


_LINKS = re.compile(
    r"(?:however|moreover|furthermore|additionally|also|therefore|thus|consequently|overall|finally|meanwhile|similarly|"
    r"likewise|notably|importantly|specifically|in (?:addition|fact|particular|contrast|turn)|by contrast|indeed|instead|"
    r"for (?:example|instance)|on the other hand|yes|no|first|second|third),\s+",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[^,]+?(?:, (?:1[5-9]|20)\d\d)?,\s+")
_BARE_YEAR = re.compile(r"(?:In|During|By|Since) (?:(?:fiscal|the year|FY) )?(?:1[5-9]|20)\d\d\s+")
# Behind these, place, time and group hold for every clause that follows; "to raise cash" or "with 500 stores" need not.
_CARRIED = re.compile(
    r"(?:in|on|during|among|within|across|throughout|outside|under|of|for(?! \W?\d)|excluding|at(?! \W?\d)|last|this|next|"
    r"possibly|probably|perhaps|maybe|presumably|supposedly|purportedly|theoretically|hypothetically)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\b(?:(?:1[5-9]|20)\d\ds?|Q[1-4]|(?-i:{'|'.join(m.title() for m in MONTHS)})\b(?: \d\d?\b(?! ?%))?|"
    r"(?:month|quarter|year|week|day|decade|century)s?|today|now|currently|later|then|since|ago|"
    r"before|after|previously|subsequently|afterwards?|earlier|initially|eventually)\b",
    re.IGNORECASE,
)

_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|half|doubled|tripled)\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    rf"{_TIME.pattern}|\b(?:in|during|among|across|within|outside|for)\s(?!the (?:first|last) time)",
    re.IGNORECASE,
)
# A list behind these is not said of each of its names: "500 stores in China and India", "consists of", "only in".
_SHARED = re.compile(
    r"\b(?:most|half|majority|minority|rest|remainder|only|solely|exclusively|mainly|mostly|primarily|largely|chiefly|principally|"
    r"(?:consist|compris|compos)(?:s|es?|ed|ing)?|made up|all|several|many|various|different|average|joint(?:ly)?|mer(?:ge[ds]?|ger)|"
    r"split|divided|shared|distributed|(?:is|are|was|were)(?= $))\b",
    re.IGNORECASE,
)


def is_subject(text: str) -> bool:
    """Ten words at most, none a finite verb, none that opens a scope; no adjunct before it."""
    words = lowered(text)
    return (
        0 < len(words) <= 10
        and not _leads(text)
        and not _BARE_YEAR.match(text)
        and not any(is_finite(word) and not is_doubtful(word) for word in words)
        and not open_scope(text)
    )


def open_scope(left: str) -> bool:
    """A condition, a report, a comparison or a denial in it may reach over what follows."""
    return (
        bool(_SCOPE.search(left))
        or _tells(left)
        or bool(
            re.search(
                r"\b(?:no|not|never|without)\b|n't\b|^\s*(?:only|had|should|were)\b", left, re.IGNORECASE
            )
        )
    )


def opening(left: str) -> str | None:
    """The adjunct before the subject, which reaches over all that follows ("In 2023, "), "" when there is none,
    None where it cannot be told, or cannot be said again."""
    rest = left[frame_length(left) :]
    while link := _LINKS.match(rest):
        rest = rest[link.end() :]
    begin, found = rest, ""
    while (match := _OPENING.match(rest)) and verb_at(lowered("x " + match.group())) < 0:
        if not _CARRIED.match(match.group()):
            # "Apple, Google and Nike sold", "Nike, the maker of shoes, sold"; else "To raise cash, Nike sold".
            return None if not names(match.group()) or found or not late_subject(rest[match.end() :]) else ""
        found, rest = found + match.group(), rest[match.end() :]
    if match := _BARE_YEAR.match(rest):
        return found + match.group()
    return None if begin and _leads(rest) else found


def elsewhere(before: str, left: str, right: str) -> bool:
    """``right``, said behind ``before`` of ``left``, may be of another time or place than the sentence says."""
    if before and re.match(r"[^,]+,\s", right) and _leads(right):
        return True
    if _TIME.search(before) and (_TIME.search(right) or (_present(right) and not _present(left))):
        return True
    return _unevenly_said(left.replace(before, "", 1), right)


def _unevenly_said(left: str, right: str) -> bool:
    """Two figures, and only one with a time, place or group: that may be of both ("$5 in 2023 and $3")."""
    figures = all(_FIGURE.search(_TIME.sub("", text)) for text in (left, right))
    return figures and bool(_WHERE.search(left)) != bool(_WHERE.search(right))


def own_time(left: str, clause: str) -> bool:
    """A relative ``clause`` does not take the adjunct that opens ``left``: there is none, or only a time, and the
    clause has its own, or holds now."""
    before = opening(left)
    own = _TIME.search(clause) or _present(f"x {clause}")
    return before == "" or bool(before and _TIME.search(before) and own)


def _leads(text: str) -> bool:
    """An adjunct stands first, not a quantity ("Over 500 people") or a name ("Under Armour")."""
    first = lowered(text)[:1]
    if first and first[0] in _PREPOSITIONS:
        quantity = re.match(r"\w+ (?:the |least |most )?\W?\d", text)
        return not quantity and not any(name.start == 0 for name in names(text))
    return bool(_CARRIED.match(text))


def _present(text: str) -> bool:
    words = lowered(f"x {text}" if starts_with_verb(text) else text)
    verb = words[verb_at(words)]
    return verb in THIRD or verb in {"is", "are", "has", "have", "does", "do", "will", "can", "may", "must"}


def shared_out(before: str) -> bool:
    """What ``before`` says of a list, it need not say of each in it: an amount, a share, a whole of parts."""
    return bool(_SHARED.search(before) or _FIGURE.search(_TIME.sub("", before)))


def closing_scope(sentence: str) -> bool:
    """Something behind the first clause may be said of that one too ("..., according to Reuters")."""
    return bool(_BACKWARDS.search(sentence))


def _tells(text: str) -> bool:
    """A verb with a new subject and its verb behind it ("Critics allege Acme lied"), a colon or a dash."""
    spans = [match.span() for match in WORD.finditer(text)]
    words = lowered(text)
    for at in range(1, len(words) - 2):
        told = bool(_TELLING.fullmatch(words[at])) and words[at - 1] not in _NOUN_FOLLOWS
        plain = is_finite(words[at]) and not is_doubtful(words[at]) and words[at] not in AUXILIARIES
        following = words[at + 1]
        if (
            not (told or plain)
            or following in _PREPOSITIONS
            or is_finite(following)
            or following.endswith("ly")
        ):
            continue
        verb = verb_at(words[at + 1 :])
        if verb < 0 or re.search(
            "[,;]" if told else r"[,;]|\b(?:and|or)\b", text[spans[at][1] : spans[at + 1 + verb][0]]
        ):
            continue
        after = words[at + verb + 2 : at + verb + 3]
        # "stores located in Ohio" is no clause.
        if (
            told
            or words[at + 1 + verb] not in PAST - AUXILIARIES
            or not after
            or after[0] not in _PREPOSITIONS
        ):
            return True
    # "he" and its like are subjects wherever they stand: of a clause that the verb before them tells, or of a relative.
    return bool(
        re.search(r"(?::|\s(?:--|\u2013|\u2014))\s(?!\d)|\w(?<!\band)(?<!\bbut) (?:he|she|they|we|I) ", text)
    )
