"""One sentence -> the statements it makes, each with the stretch of the sentence it stands for.

In: a sentence. Out: :class:`Part` values whose stretches follow one another and cover it. Cuts at
semicolons, joined clauses, joined verbs of one subject and relative clauses behind it; a part that lost its
subject, or the adjunct that opened the sentence, gets it back. There is no tagger, only word tables, and a cut
that could leave a fragment, or take a statement out of the scope of a condition, a denial, a report or a
comparison, is not made: one claim too coarse is safer than one that was never said. Knows nothing about
citations or evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from citewell.core.records import Record
from citewell.verification.entities import names
from citewell.verification.quantity import MONTHS
from citewell.verification.words import (
    AUXILIARIES,
    INTRANSITIVE,
    IRREGULAR,
    PAST,
    THIRD,
    is_doubtful,
    is_finite,
)


class Part(Record, frozen=True, kw_only=True):
    """``text`` stands alone as a sentence; ``[start, end)`` is its stretch of the given sentence."""

    text: str
    start: int
    end: int


WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
DETERMINERS = frozenset("the a an its their his her our this these those".split())
"""What opens the name of a thing."""
_STARTERS = DETERMINERS | frozenset(
    "that it he she they we there i one two three some most many all each".split()
)
_PREPOSITIONS = frozenset(
    "about above across after against among around as at before behind below beside between by during for from in inside "
    "into like near of off on onto out outside over per since than through throughout to toward under until up upon via "
    "with within without".split()
)
_AFTER_VERB = DETERMINERS | frozenset(
    "in on at to from by for with of about over under more less no not nearly approximately around up down into as also only "
    "all several some any new".split()
)
_ADVERB_END = re.compile(r"(?<=\s)(?:only|also|first|then|later|now|still|soon|\w+ly)\s+$")
_NEW_CLAUSE = re.compile(
    r"[,(]|\b(?:and|or)\b|"
    r"\s(?:that|which|whose|who|where|when|after|before|because|while|until|since|if|he|she|it|they|we|I|you)\b"
)
_SOURCES = r"(?:sources?|documents?|context|passages?|texts?|excerpts?)\b"
_GIVEN = r"(?:provided |available |given |supplied |retrieved )?"
_FRAME = re.compile(
    rf"(?:(?:based on|according to|from|in|as (?:stated|described|mentioned|noted|reported) in) (?:the )?{_GIVEN}"
    rf"{_SOURCES}(?: (?:provided|above|given))?, |(?:the )?answer(?: is)?: |in (?:summary|conclusion|short), |"
    r"to summari[sz]e, |overall, |did you know,? that )",
    re.IGNORECASE,
)
_TOLD = (
    r"(?:acknowledg|alleg|announc|argu|assert|believ|claim|confirm|contend|deni|deny|disclos|doubt|estimat|expect|explain|"
    r"fear|forecast|hope|indicat|maintain|predict|reveal|rumou?r|suggest|suspect|testif|think|warn)\w*|"
    r"said|says?|reports|reported(?:ly)?|stated?|states|told|thought|wrote|found|finds?|shows?|showed|shown|notes|noted|evidence|appears?|seems?|"
    r"(?:un)?likely|possible|probable|plausible|conceivable|unclear"
)
# Whoever says so; not the sources themselves, and not a rate ("per share").
_WHOSE = (
    rf"according to (?!(?:the )?{_GIVEN}{_SOURCES})|(?-i:[Pp]er (?=the\b|[A-Z]))|"
    r"in (?:the|its|his|her|their|[^\W_]+['\u2019]s?) (?:views?|opinions?|words|eyes)"
)
# Words whose scope reaches over what follows, so that nothing behind them may be cut off.
_SCOPE = re.compile(
    r"^\s*(?:only|had|should|were)\b|(?::|\s(?:--|\u2013|\u2014))\s(?!\d)|n't\b|\b(?:"
    r"if|unless|except|whether|that|because|since|although|though|when|whenever|while|where|after|before|until|once|than|"
    r"as|how|why|what|who|whom|whose|which|both|either|neither|between|not|no|never|without|few|fewer|hardly|scarcely|"
    r"barely|rarely|seldom|respectively|compared|versus|vs|total(?:s|ed|ing)?|sum|combined|together|assuming|provided|"
    rf"{_TOLD}|{_WHOSE})\b",
    re.IGNORECASE,
)
# An end that may go on behind an "and": ", meaning Ann (and Bob had ...)", ", and his speed (and skill were ...)".
_UNFINISHED = re.compile(r",\s(?:and|but|while|[a-z]+ing)\s[^,;]*$")
# A pronoun that is the subject of a clause inside: "pictures he has taken".
_INNER = re.compile(r"\w(?<!\band)(?<!\bbut) (?:he|she|they|we|I) ")
# What may be of all that stands before it: a condition, a sharing out, a report.
_BACKWARDS = re.compile(
    r"\s(?:if|unless|except|when|whenever|where|provided that|assuming|as long as|subject to|depending on|in case|"
    rf"in the event|respectively|combined|together|in total|reportedly|allegedly|{_WHOSE})\b|"
    rf",\s(?!and\b|but\b)[^,;]{{0,100}}\b(?:{_TOLD})(?:\s(?:on|in|at|to|last|this)\s[^,;]*)?[.!]?\s*$",
    re.IGNORECASE,
)
_LINKS = re.compile(
    r"(?:however|moreover|furthermore|additionally|also|therefore|thus|consequently|finally|meanwhile|similarly|"
    r"likewise|notably|importantly|specifically|in (?:addition|fact|particular|contrast|turn)|by contrast|indeed|instead|"
    r"for (?:example|instance)|on the other hand|yes|no|first|second|third),\s+",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[^,]+?(?:, (?:1[5-9]|20)\d\d)?,\s+")
_BARE_YEAR = re.compile(r"(?:In|During|By|Since) (?:(?:fiscal|the year|FY) )?(?:1[5-9]|20)\d\d\s+")
# Place, time and group hold for every clause that follows; "to raise cash" or "with 500 stores" need not.
_CARRIED = re.compile(
    r"(?:in|on|during|among|within|across|throughout|outside|under|of|for(?! \W?\d)|excluding|at(?! \W?\d)|last|this|next|"
    r"possibly|probably|perhaps|maybe|presumably|supposedly)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\b(?:(?:1[5-9]|20)\d\ds?|Q[1-4]|(?-i:{'|'.join(m.title() for m in MONTHS)})\b(?: \d\d?\b(?! ?%))?|"
    r"(?:month|quarter|year|week|day|decade|century)s?|today|now|currently|later|then|since|ago|"
    r"before|after|previously|earlier|initially|eventually)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|half)\b", re.IGNORECASE
)
_WHERE = re.compile(rf"{_TIME.pattern}|\b(?:in|during|among|across|within|outside|for)\s", re.IGNORECASE)
_JOINT = re.compile(
    r"(?P<comma>,)?(?<!\s)\s+(?P<word>and|but|while|whereas|yet)\s+"
    r"(?P<adverb>(?:(?:also|then|later|subsequently|now|\w+ly)\s+)*)"
)
_SEMICOLON = re.compile(r";\s+(?:and\s+|but\s+|however,\s+|moreover,\s+)?")
_RELATIVE = re.compile(r"^(?P<head>[^,;:()]+), (?:which|who) (?P<clause>[^,;:()]+), (?P<rest>[^;:]+)$")
_LONGEST = 2_000
_DEPTH = 4


def split_sentence(sentence: str) -> tuple[Part, ...]:
    """The parts of ``sentence``, at least one, covering ``[0, len(sentence))`` in order. A longer one than
    sentences are is not split: every cut is tried against all that stands on both its sides."""
    return tuple(_split(sentence, 0, _DEPTH if len(sentence) <= _LONGEST else 0))


def frame_length(sentence: str) -> int:
    """How many characters of the opening only point at the sources ("According to the documents, ")."""
    match = _FRAME.match(sentence)
    return match.end() if match else 0


def is_clause(text: str) -> bool:
    """Something stands before a finite verb."""
    return _verb_at(_lowered(text)) > 0


def _split(sentence: str, offset: int, depth: int) -> list[Part]:
    # A quotation is checked as one.
    whole = any(mark in sentence for mark in '"\u201c\u201d\u00ab\u00bb') or _BACKWARDS.search(sentence)
    if depth and len(WORD.findall(sentence)) >= 5 and not whole:
        for cut in _CUTS:
            if parts := cut(sentence):
                return _recurse(parts, offset, depth)
    return [Part(text=sentence.strip() or sentence, start=offset, end=offset + len(sentence))]


def _recurse(parts: list[Part], offset: int, depth: int) -> list[Part]:
    """Cut again what a cut left; a part cut twice keeps its stretch, shared out among its pieces."""
    result: list[Part] = []
    place = offset + parts[0].start
    for part in parts:
        inner = _split(part.text, 0, depth - 1)
        spare = max(0, len(part.text) - (part.end - part.start))
        for piece in inner:
            last = piece is inner[-1]
            end = offset + (
                part.end if last else min(max(part.start, part.start + piece.end - spare), part.end)
            )
            result.append(Part(text=piece.text, start=place, end=max(place, end)))
            place = max(place, end)
    return result


def _semicolons(sentence: str) -> list[Part]:
    for match in _SEMICOLON.finditer(sentence):
        left, right = sentence[: match.start()], sentence[match.end() :]
        if _balanced(left) and is_clause(left) and is_clause(right) and not _open_scope(left):
            before = _opening(left)
            if before is not None and _apart(before, left, right):
                return _two(sentence, left, before + right, match.start())
    return []


def _relative(sentence: str) -> list[Part]:
    """ "Nike, which was founded in 1964, sells shoes"."""
    match = _RELATIVE.match(sentence)
    if not match or not all(_starts_with_verb(match[part]) for part in ("clause", "rest")):
        return []
    head = match["head"]
    words = _lowered(head)
    if (
        len(words) > 10
        or _leads(head)
        or _BARE_YEAR.match(head)
        or _open_scope(head)
        or any(is_finite(word) and not is_doubtful(word) for word in words)
    ):
        return []
    return _two(sentence, f"{head} {match['clause']}", f"{head} {match['rest']}", match.end("clause"))


def _joined(sentence: str) -> list[Part]:
    """ "A did x and B did y", "A did x and did y"."""
    for match in _JOINT.finditer(sentence):
        left, right = sentence[: match.start()], sentence[match.end() :]
        if not _balanced(left) or not is_clause(left) or _open_scope(left):
            continue
        comma = bool(match["comma"])
        if match["word"] in {"while", "whereas"} and not comma:
            continue
        told = match["adverb"] + right
        before = _opening(left)
        goes_on = None if comma else _UNFINISHED.search(left)
        if _is_new_clause(right, comma) and not (goes_on and not is_clause(goes_on.group())):
            if before is not None and _apart(before, left, told):
                return _two(sentence, left, before + told, match.start())
        elif (
            match["word"] in {"and", "but"}
            and (subject := _shared_subject(left, right, comma))
            and _apart(before or subject, left, told)
        ):
            return _two(sentence, left, f"{subject} {told}", match.start())
    return []


_CUTS: tuple[Callable[[str], list[Part]], ...] = (_semicolons, _relative, _joined)


def _two(sentence: str, left: str, right: str, at: int) -> list[Part]:
    if min(len(WORD.findall(left)), len(WORD.findall(right))) < 3:
        return []
    return [
        Part(text=_sentence(left), start=0, end=at),
        Part(text=_sentence(right), start=at, end=len(sentence)),
    ]


def _sentence(given: str) -> str:
    text = given.strip().rstrip(",;").rstrip()
    if text and text[0].islower() and not re.match(r"\w*[A-Z]", text.split()[0]):
        text = text[0].upper() + text[1:]
    return (text or given) if not text or text[-1] in ".!?\"'\u201d)" else text + "."


def _lowered(text: str) -> list[str]:
    """The words, without the marks around them. Behind the first, a capital stays: a name is no verb ("May")."""
    words = WORD.findall(text)
    return [word.lower() for word in words[:1]] + words[1:]


def _verb_at(words: list[str]) -> int:
    """Place of the first finite verb that is not in first position, -1 when there is none."""
    for index in range(len(words)):
        if index and words[index - 1] not in {"be", "been", "being", "having"} and _is_verb(words, index):
            return index
    return -1


def _is_verb(words: list[str], index: int) -> bool:
    """A finite verb; a word that may be another is one before an object."""
    word = words[index]
    return is_finite(word) and (not is_doubtful(word) or _object_follows(words, index))


def _object_follows(words: list[str], index: int) -> bool:
    following = words[index + 1] if index + 1 < len(words) else ""
    return following in _AFTER_VERB or following[:1].isdigit()


def _is_new_clause(text: str, comma: bool) -> bool:
    """Behind a joint: it begins with its subject alone, and its verb is one."""
    words = _lowered(text)
    at = _verb_at(words)
    if at <= 0 or _starts_with_verb(text) or _late_subject(text):
        return False
    # "an embargo imposed by Rome", "its reports on trade"
    participle = words[at] in PAST - IRREGULAR - AUXILIARIES - INTRANSITIVE
    if (participle or is_doubtful(words[at])) and words[at + 1 : at + 2] and words[at + 1] in _PREPOSITIONS:
        return False
    likely = words[0] in _STARTERS or text.lstrip()[:1].isupper() or words[at] in AUXILIARIES
    return comma or (at <= 6 and likely and words[0] not in _PREPOSITIONS)


def _late_subject(text: str) -> bool:
    """A comma, another joint, a bracket or a new clause before the verb."""
    verb = list(WORD.finditer(text))[_verb_at(_lowered(text))].start()
    return bool(_NEW_CLAUSE.search(text[:verb]))


def _starts_with_verb(text: str) -> bool:
    """A finite verb is its first word, but for an adverb."""
    words = _lowered(text)
    while words and (words[0].endswith("ly") or words[0] in {"also", "then", "later", "now"}):
        words = words[1:]
    return bool(words) and _is_verb(words, 0)


def _shared_subject(left: str, right: str, comma: bool) -> str:
    """The subject (with what goes before it) that the verb at the head of ``right`` shares, or ""."""
    rights, lefts = _lowered(right), _lowered(left)
    if not rights or not is_finite(rights[0]):
        return ""
    verb, follows = rights[0], rights[1] if len(rights) > 1 else ""
    if is_doubtful(verb) and not (_object_follows(rights, 0) and comma):
        return ""
    named = follows[:1].isupper() or follows[:1].isdigit()
    if not comma and verb not in AUXILIARIES and not (_object_follows(rights, 0) or named):
        return ""
    if is_finite(lefts[-1]) and lefts[-1] not in AUXILIARIES:
        return ""  # "recorded and produced an album": the first verb waits for the object of the second
    at = _verb_at(lefts)
    if at <= 0 or at > 12:
        return ""
    spans = [match.span() for match in WORD.finditer(left)]
    subject = _ADVERB_END.sub("", left[: spans[at][0]]).rstrip()
    if subject.endswith(("-", "\u2013", "\u2014", "(", ":")):
        return ""
    with_verb, first = left[: spans[at][1]], lefts[at]
    if verb in AUXILIARIES | INTRANSITIVE or first not in AUXILIARIES:
        return subject
    if verb in PAST and first in {"has", "have", "had"}:
        return with_verb
    passive = at + 1 < len(lefts) and (lefts[at + 1] in PAST or lefts[at + 1].endswith("ed"))
    if verb in PAST and first in {"is", "are", "was", "were"} and passive:
        # "was founded in 1990 and acquired by X" shares the auxiliary; "... and acquired X" may not.
        return with_verb if follows in {"by", "in", "on", "at", "from", "to", "for", "as", "into"} else ""
    return subject if not passive and verb not in PAST else ""


def _balanced(text: str) -> bool:
    return text.count("(") == text.count(")")


def _open_scope(left: str) -> bool:
    """A condition, a report, a comparison or a denial in it may reach over what follows."""
    return bool(_SCOPE.search(left[frame_length(left) :]) or _INNER.search(left))


def _opening(left: str) -> str | None:
    """The adjunct before the subject, which reaches over all that follows ("In 2023, "), "" when there is none,
    None where it cannot be told, or cannot be said again."""
    rest = left[frame_length(left) :]
    while link := _LINKS.match(rest):
        rest = rest[link.end() :]
    begin, found = rest, ""
    while (match := _OPENING.match(rest)) and _verb_at(_lowered("x " + match.group())) < 0:
        if not _CARRIED.match(match.group()):
            # "Apple, Google and Nike sold", "Nike, the maker of shoes, sold"; else "To raise cash, Nike sold".
            behind = rest[match.end() :]
            plain = names(match.group()) and not found and is_clause(behind) and _late_subject(behind)
            return "" if plain else None
        found, rest = found + match.group(), rest[match.end() :]
    if match := _BARE_YEAR.match(rest):
        return found + match.group()
    return None if begin and _leads(rest) else found


def _leads(text: str) -> bool:
    """An adjunct stands first, not a quantity ("Over 500 people") or a name ("Under Armour")."""
    first = _lowered(text)[:1]
    if first and first[0] in _PREPOSITIONS:
        quantity = re.match(r"\w+ (?:the |least |most )?\W?\d", text)
        return not quantity and not any(name.start == 0 for name in names(text))
    return bool(_CARRIED.match(text))


def _apart(before: str, left: str, right: str) -> bool:
    """``right``, said behind ``before`` of ``left``, is of the time and place that the sentence means: it has no
    time of its own, and of two figures not only one is told with a time, place or group."""
    if before and re.match(r"[^,]+,\s", right) and _leads(right):
        return False
    if _TIME.search(before) and (_TIME.search(right) or (_present(right) and not _present(left))):
        return False
    sides = left.replace(before, "", 1), right
    figures = all(_FIGURE.search(_TIME.sub("", side)) for side in sides)
    return not figures or bool(_WHERE.search(sides[0])) == bool(_WHERE.search(sides[1]))


def _present(text: str) -> bool:
    words = _lowered(text)
    return any(word in THIRD or word in {"is", "are", "has", "have", "does", "do", "will"} for word in words)
