"""One sentence -> the statements it makes, each with the stretch of the sentence it stands for.

In: a sentence. Out: :class:`Part` values whose stretches follow one another and cover it. Cuts at
semicolons, joined clauses, joined verbs of one subject, relative clauses and appositions, and lists
of names; a part that lost its subject gets it back. A cut that could leave a fragment, or take a
statement out of the scope of a condition, a denial, a report or a comparison, is not made: one claim too
coarse is safer than one that was never said. Knows nothing about citations or evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from citewell.records import Record
from citewell.verification.entities import names
from citewell.verification.verbs import AUXILIARIES, PAST, is_doubtful, is_finite


class Part(Record, frozen=True, kw_only=True):
    """``text`` stands alone as a sentence; ``[start, end)`` is its stretch of the given sentence."""

    text: str
    start: int
    end: int


_WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
# Words whose scope reaches over what follows, so that nothing behind them may be cut off.
_SCOPE = re.compile(
    r"\b(?:if|unless|except|whether|that|because|since|although|though|when|whenever|while|where|after|before|until|once|than|"
    r"as|how|why|what|who|whom|whose|which|said|says|stated|claim(?:s|ed)?|argue[sd]?|believe[sd]?|denie[sd]|den(?:y|ying)|"
    r"reported(?:ly)?|alleged(?:ly)?|think[s]?|thought|expect(?:s|ed)?|suggest(?:s|ed)?|both|either|"
    r"neither|between|not only|"
    r"respectively|compared|versus|vs|total(?:s|ed|ing)?|sum|combined|together|assuming|provided)\b",
    re.IGNORECASE,
)
_JOINT = re.compile(
    r"(?P<comma>,)?\s+(?P<word>and|but|while|whereas|yet)\s+(?P<adverb>(?:(?:also|then|later|subsequently|now|\w+ly)\s+)*)"
)
_SEMICOLON = re.compile(r";\s+(?:and\s+|but\s+|however,\s+|moreover,\s+)?")
_STARTERS = frozenset(
    [
        "the",
        "a",
        "an",
        "its",
        "their",
        "his",
        "her",
        "our",
        "this",
        "these",
        "those",
        "that",
        "it",
        "he",
        "she",
        "they",
        "we",
        "there",
        "i",
        "one",
        "two",
        "three",
        "some",
        "most",
        "many",
        "all",
        "each",
    ]
)
_AFTER_VERB = frozenset(
    [
        "the",
        "a",
        "an",
        "its",
        "their",
        "his",
        "her",
        "our",
        "this",
        "these",
        "those",
        "in",
        "on",
        "at",
        "to",
        "from",
        "by",
        "for",
        "with",
        "of",
        "about",
        "over",
        "under",
        "more",
        "less",
        "no",
        "not",
        "nearly",
        "approximately",
        "around",
        "up",
        "down",
        "into",
        "as",
        "also",
        "only",
        "all",
        "its",
        "several",
        "some",
        "any",
        "new",
    ]
)
_RELATIVE = re.compile(r"^(?P<head>[^,;:()]+), (?:which|who) (?P<clause>[^,;:()]+), (?P<rest>[^;:]+)$")
_RELATIVE_END = re.compile(r"^(?P<rest>[^;:()]+), (?:which|who) (?P<clause>[^;:()]+?)(?P<stop>[.!]?)$")
_APPOSITION = re.compile(
    r"^(?P<head>[^,;:()]+), (?P<what>(?:the|a|an|its|their|his|her|one of) [^,;:()]+), (?P<rest>[^;:]+)$"
)
_LIST = re.compile(r"^(?P<before>.+?\s)(?P<items>[^\s,].*?,? (?:and|as well as) [^,]+?)(?P<stop>[.!]?)$")


def split_sentence(sentence: str) -> tuple[Part, ...]:
    """The parts of ``sentence``, at least one, covering ``[0, len(sentence))`` in order."""
    return tuple(_split(sentence, 0, 4))


def _split(sentence: str, offset: int, depth: int) -> list[Part]:
    if depth and len(_WORD.findall(sentence)) >= 5 and not _quoted(sentence):
        for cut in _CUTS:
            if parts := cut(sentence):
                return _recurse(parts, offset, depth)
    return [Part(text=sentence.strip() or sentence, start=offset, end=offset + len(sentence))]


def _recurse(parts: list[Part], offset: int, depth: int) -> list[Part]:
    """Cut again what a cut left; a part cut twice keeps its stretch, shared out among its pieces."""
    result: list[Part] = []
    for part in parts:
        inner = _split(part.text, 0, depth - 1)
        spare = len(part.text) - (part.end - part.start)
        for index, piece in enumerate(inner):
            start = part.start if index == 0 else max(part.start, part.start + piece.start - max(0, spare))
            end = part.end if index == len(inner) - 1 else part.start + piece.end - max(0, spare)
            end = min(max(end, start), part.end)
            result.append(Part(text=piece.text, start=offset + start, end=offset + end))
    return _in_order(result)


def _in_order(parts: list[Part]) -> list[Part]:
    """Stretches that touch: each begins where the one before it ended."""
    place, result = parts[0].start, []
    for index, part in enumerate(parts):
        end = parts[-1].end if index == len(parts) - 1 else max(place, part.end)
        result.append(Part(text=part.text, start=place, end=end))
        place = end
    return result


def _semicolons(sentence: str) -> list[Part]:
    for match in _SEMICOLON.finditer(sentence):
        left, right = sentence[: match.start()], sentence[match.end() :]
        if _balanced(left) and _is_clause(left) and _is_clause(right) and not _open_scope(left):
            return _two(sentence, left, right, match.start())
    return []


def _relative(sentence: str) -> list[Part]:
    match = _RELATIVE.match(sentence)
    if (
        match
        and _is_subject(match["head"])
        and _starts_with_verb(match["clause"])
        and _starts_with_verb(match["rest"])
    ):
        return _two(
            sentence,
            f"{match['head']} {match['clause']}",
            f"{match['head']} {match['rest']}",
            match.end("clause"),
        )
    match = _RELATIVE_END.match(sentence)
    if (
        match
        and _starts_with_verb(match["clause"])
        and _is_clause(match["rest"])
        and not _open_scope(match["rest"])
    ):
        # Only a name that ends at the comma is surely what the clause speaks of.
        last = [name for name in names(match["rest"]) if name.end == len(match["rest"]) and name.certain]
        others = re.findall(r"\b(?:of|for|from|with|by)\s+$", match["rest"][: last[0].start]) if last else []
        if last and not others:
            return _two(
                sentence, match["rest"], f"{last[0].text} {match['clause']}{match['stop']}", match.end("rest")
            )
    return []


def _apposition(sentence: str) -> list[Part]:
    match = _APPOSITION.match(sentence)
    if not match or not _starts_with_verb(match["rest"]) or not _is_subject(match["head"]):
        return []
    head, what = match["head"], match["what"]
    if not names(head) or any(is_finite(word) and not is_doubtful(word) for word in _lower(what)):
        return []
    copula = "was" if re.match(r"(?:the|a|an) (?:former|late|then)\b", what) else "is"
    return _two(sentence, f"{head} {copula} {what}", f"{head} {match['rest']}", match.end("what"))


def _joined(sentence: str) -> list[Part]:
    """ "A did x and B did y", "A did x and did y"."""
    for match in _JOINT.finditer(sentence):
        left, right = sentence[: match.start()], sentence[match.end() :]
        if not _balanced(left) or not _is_clause(left) or _open_scope(left):
            continue
        words = _lower(right)
        if match["word"] in {"while", "whereas"} and not match["comma"]:
            continue
        if _is_clause(right) and not _late_subject(right) and (match["comma"] or _plainly_clause(right)):
            return _two(sentence, left, match["adverb"] + right, match.start())
        if (
            match["word"] in {"and", "but"}
            and words
            and (subject := _shared_subject(left, right, bool(match["comma"])))
        ):
            return _two(sentence, left, f"{subject} {match['adverb']}{right}", match.start())
    return []


def _listed(sentence: str) -> list[Part]:
    """ "It operates in China, India and Japan": one part a name."""
    found = names(sentence)
    end = len(sentence.rstrip(".! "))
    items = [name for name in found if name.certain]
    run: list[tuple[int, int]] = []
    for name in reversed(items):
        if not run and name.end != end:
            return []
        gap = sentence[name.end : run[0][0]] if run else ""
        if run and not re.fullmatch(r",? and |, ", gap):
            break
        run.insert(0, (name.start, name.end))
    before = sentence[: run[0][0]] if run else ""
    joined = run and " and " in sentence[run[0][0] : run[-1][1]]
    if (
        len(run) < 2
        or not joined
        or not _is_clause(before + "x")
        or _open_scope(before)
        or before.rstrip().endswith(",")
    ):
        return []
    if (
        len(run) == 2
        and "," not in sentence[run[0][0] : run[1][1]]
        and not re.search(r"\b(?:in|to|from|with|include[sd]?)\s$", before)
    ):
        return []
    stop = sentence[end:]
    parts = []
    for index, (start, finish) in enumerate(run):
        begin = 0 if index == 0 else run[index - 1][1]
        close = len(sentence) if index == len(run) - 1 else finish
        parts.append(Part(text=before + sentence[start:finish] + stop, start=begin, end=close))
    return parts


_CUTS: tuple[Callable[[str], list[Part]], ...] = (_semicolons, _relative, _apposition, _joined, _listed)


def _two(sentence: str, left: str, right: str, at: int) -> list[Part]:
    if min(len(_WORD.findall(left)), len(_WORD.findall(right))) < 3:
        return []
    return [
        Part(text=_sentence(left), start=0, end=at),
        Part(text=_sentence(right), start=at, end=len(sentence)),
    ]


def _sentence(given: str) -> str:
    text = given.strip().rstrip(",;").rstrip()
    if text and text[0].islower() and text[:1].isalpha() and not re.match(r"\w*[A-Z]", text.split()[0]):
        text = text[0].upper() + text[1:]
    return (text or given) if not text or text[-1] in ".!?\"'\u201d)" else text + "."


def _lower(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _verb_at(words: list[str]) -> int:
    """Place of the first finite verb that is not in first position, -1 when there is none."""
    for index, word in enumerate(words):
        if index and is_finite(word) and not (is_doubtful(word) and not _object_follows(words, index)):
            return index
    return -1


def _object_follows(words: list[str], index: int) -> bool:
    following = words[index + 1] if index + 1 < len(words) else ""
    return following in _AFTER_VERB or following[:1].isdigit()


def _is_clause(text: str) -> bool:
    return _verb_at(_lower(text)) > 0


def _late_subject(text: str) -> bool:
    """A comma or another joint before the verb: the subject of ``text`` is not its beginning."""
    at = _verb_at(_lower(text))
    verb = list(_WORD.finditer(text))[at].start()
    return bool(re.search(r",|\b(?:and|or)\b", text[:verb]))


def _plainly_clause(text: str) -> bool:
    """Begins like a subject, and its verb comes soon."""
    first = _WORD.search(text)
    if not first:
        return False
    words = _lower(text)
    at = _verb_at(words)
    likely = words[0] in _STARTERS or first.group()[0].isupper() or words[at] in AUXILIARIES
    return 0 < at <= 6 and likely and not re.match(r"(?:of|in|for|to|from|with|by|on|at)\b", text)


def _starts_with_verb(text: str) -> bool:
    words = _lower(text)
    while words and (words[0].endswith("ly") or words[0] in {"also", "then", "later", "now"}):
        words = words[1:]
    return bool(words) and is_finite(words[0]) and (not is_doubtful(words[0]) or _object_follows(words, 0))


def _is_subject(text: str) -> bool:
    words = _lower(text)
    return (
        0 < len(words) <= 10
        and not any(is_finite(word) and not is_doubtful(word) for word in words)
        and not _SCOPE.search(text)
    )


def _shared_subject(left: str, right: str, comma: bool) -> str:
    """The subject (with what goes before it) that the verb at the head of ``right`` shares, or ""."""
    rights, lefts = _lower(right), _lower(left)
    if not rights or not is_finite(rights[0]):
        return ""
    if is_doubtful(rights[0]) and not (_object_follows(rights, 0) and comma):
        return ""
    if (
        not comma
        and rights[0] not in AUXILIARIES
        and not (_object_follows(rights, 0) or _capital_follows(right))
    ):
        return ""
    if is_finite(lefts[-1]) and lefts[-1] not in AUXILIARIES:
        return ""  # "recorded and produced an album": the first verb waits for the object of the second
    at = _verb_at(lefts)
    spans = [match.span() for match in _WORD.finditer(left)]
    if at <= 0 or at > 12:
        return ""
    subject = left[: spans[at][0]].rstrip()
    if rights[0] in AUXILIARIES or lefts[at] not in AUXILIARIES:
        return subject
    if rights[0] in PAST and lefts[at] in {"has", "have", "had"}:
        return left[: spans[at][1]]
    follows = rights[1] if len(rights) > 1 else ""
    passive = at + 1 < len(lefts) and (lefts[at + 1] in PAST or lefts[at + 1].endswith("ed"))
    if rights[0] in PAST and lefts[at] in {"is", "are", "was", "were"} and passive:
        # "was founded in 1990 and acquired by X" shares the auxiliary; "... and acquired X" may not.
        return (
            left[: spans[at][1]]
            if follows in {"by", "in", "on", "at", "from", "to", "for", "as", "into"}
            else ""
        )
    return subject if not passive and rights[0] not in PAST else ""


def _capital_follows(text: str) -> bool:
    words = _WORD.findall(text)
    return len(words) > 1 and (words[1][0].isupper() or words[1][0].isdigit())


def _open_scope(left: str) -> bool:
    return bool(_SCOPE.search(left)) or bool(
        re.search(r"\b(?:no|not|never|without)\b|n't\b", left, re.IGNORECASE)
    )


def _balanced(text: str) -> bool:
    return (
        text.count("(") == text.count(")")
        and text.count("\u201c") == text.count("\u201d")
        and text.count('"') % 2 == 0
    )


def _quoted(sentence: str) -> bool:
    """A sentence with a quotation is left whole: the quotation is checked as one."""
    return any(mark in sentence for mark in '"\u201c\u201d\u00ab\u00bb')
