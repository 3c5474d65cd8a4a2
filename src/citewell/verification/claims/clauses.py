"""What the words of a stretch can be: a clause, a verb's beginning, the inside of a quotation.

In: a stretch of a sentence. Out: yes or no, or the subject that a later verb shares. By word tables alone, and
"no" where they leave a doubt. Knows nothing about scopes, nor about where a sentence is cut.
"""

from __future__ import annotations

import re

from citewell.verification.verbs import AUXILIARIES, INTRANSITIVE, IRREGULAR, PAST, is_doubtful, is_finite

WORD = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")
DETERMINERS = frozenset("the a an its their his her our this these those".split())
"""What opens the name of a thing: the lists of words of this stage that hold them all are these and their own."""
_STARTERS = DETERMINERS | frozenset(
    "that it he she they we there i one two three some most many all each".split()
)
_AFTER_VERB = DETERMINERS | frozenset(
    "in on at to from by for with of about over under more less no not nearly approximately around up down into as also only "
    "all several some any new".split()
)

# An adverb between subject and verb is the verb's.
_ADVERB_END = re.compile(r"(?<=\s)(?:only|also|first|then|later|now|still|soon|\w+ly)\s+$")


def lowered(text: str) -> list[str]:
    """The words, without the marks around them. Behind the first, a capital stays: a name is no verb ("May")."""
    words = WORD.findall(text)
    return [word.lower() for word in words[:1]] + words[1:]


def verb_at(words: list[str]) -> int:
    """Place of the first finite verb that is not in first position, -1 when there is none."""
    for index, word in enumerate(words):
        participle = words[index - 1] in {"be", "been", "being", "having"}
        doubtful = is_doubtful(word) and not _object_follows(words, index)
        if index and is_finite(word) and not participle and not doubtful:
            return index
    return -1


def _object_follows(words: list[str], index: int) -> bool:
    following = words[index + 1] if index + 1 < len(words) else ""
    return following in _AFTER_VERB or following[:1].isdigit()


def is_clause(text: str) -> bool:
    """Something stands before a finite verb."""
    return verb_at(lowered(text)) > 0


_NEW_CLAUSE = re.compile(
    r"[,(]|\b(?:and|or)\b|"
    r"\s(?:that|which|whose|who|where|when|after|before|because|while|until|since|if|he|she|it|they|we|I|you)\b"
)


def late_subject(text: str) -> bool:
    """A comma, another joint, a bracket or a new clause before the verb: ``text`` does not begin with its subject
    alone."""
    at = verb_at(lowered(text))
    verb = list(WORD.finditer(text))[at].start()
    return bool(_NEW_CLAUSE.search(text[:verb]))


def perhaps_no_verb(text: str) -> bool:
    """Its verb may be a participle or a noun: "an embargo imposed by Rome", "its reports on trade"."""
    words = lowered(text)
    at = verb_at(words)
    participle = words[at] in PAST - IRREGULAR - AUXILIARIES - INTRANSITIVE
    behind = re.match(
        r"(?:as|at|by|during|for|from|in|into|of|on|to|with)(?= \D|$)", " ".join(words[at + 1 :])
    )
    return bool(behind) and (participle or is_doubtful(words[at]))


def unfinished(text: str) -> bool:
    """Its end may go on behind an "and": ", meaning Ann (and Bob had ...)", ", and his speed (and skill were ...)"."""
    match = re.search(r",\s(?:and\s|but\s|while\s|[a-z]+ing\s)[^,;]*$", text)
    return match is not None and not is_clause(match.group())


def plainly_clause(text: str) -> bool:
    """Begins like a subject, and its verb comes soon."""
    first = WORD.search(text)
    if not first:
        return False
    words = lowered(text)
    at = verb_at(words)
    likely = words[0] in _STARTERS or first.group()[0].isupper() or words[at] in AUXILIARIES
    return 0 < at <= 6 and likely and not re.match(r"(?:of|in|for|to|from|with|by|on|at)\b", text)


def starts_with_verb(text: str) -> bool:
    """A finite verb is its first word, but for an adverb."""
    words = lowered(text)
    while words and (words[0].endswith("ly") or words[0] in {"also", "then", "later", "now"}):
        words = words[1:]
    return bool(words) and is_finite(words[0]) and (not is_doubtful(words[0]) or _object_follows(words, 0))


def shared_subject(left: str, right: str, comma: bool) -> str:
    """The subject (with what goes before it) that the verb at the head of ``right`` shares, or ""."""
    rights, lefts = lowered(right), lowered(left)
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
    at = verb_at(lefts)
    spans = [match.span() for match in WORD.finditer(left)]
    if at <= 0 or at > 12:
        return ""
    subject = _ADVERB_END.sub("", left[: spans[at][0]]).rstrip()
    if subject.endswith(("-", "\u2013", "\u2014", "(", ":")):
        return ""
    if rights[0] in AUXILIARIES | INTRANSITIVE or lefts[at] not in AUXILIARIES:
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
    words = WORD.findall(text)
    return len(words) > 1 and (words[1][0].isupper() or words[1][0].isdigit())


def balanced(text: str) -> bool:
    """No bracket or quotation is open at its end."""
    return (
        text.count("(") == text.count(")")
        and text.count("\u201c") == text.count("\u201d")
        and text.count('"') % 2 == 0
    )


def quoted(sentence: str) -> bool:
    """A sentence with a quotation is left whole: the quotation is checked as one."""
    return any(mark in sentence for mark in '"\u201c\u201d\u00ab\u00bb')
