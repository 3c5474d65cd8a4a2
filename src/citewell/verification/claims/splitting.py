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

from citewell.core.records import Record
from citewell.verification.claims.clauses import (
    WORD,
    balanced,
    is_clause,
    late_subject,
    lowered,
    perhaps_no_verb,
    plainly_clause,
    quoted,
    shared_subject,
    starts_with_verb,
    unfinished,
)
from citewell.verification.claims.scopes import (
    closing_scope,
    elsewhere,
    is_subject,
    open_scope,
    opening,
    own_time,
    shared_out,
)
from citewell.verification.entities import names
from citewell.verification.verbs import is_doubtful, is_finite


class Part(Record, frozen=True, kw_only=True):
    """``text`` stands alone as a sentence; ``[start, end)`` is its stretch of the given sentence."""

    text: str
    start: int
    end: int


_JOINT = re.compile(
    r"(?P<comma>,)?(?<!\s)\s+(?P<word>and|but|while|whereas|yet)\s+(?P<adverb>(?:(?:also|then|later|subsequently|now|\w+ly)\s+)*)"
)
_SEMICOLON = re.compile(r";\s+(?:and\s+|but\s+|however,\s+|moreover,\s+)?")
_RELATIVE = re.compile(r"^(?P<head>[^,;:()]+), (?:which|who) (?P<clause>[^,;:()]+), (?P<rest>[^;:]+)$")
_RELATIVE_END = re.compile(r"^(?P<rest>[^;:()]+), (?:which|who) (?P<clause>[^,;:()]+?)(?P<stop>[.!]?)$")
_APPOSITION = re.compile(
    r"^(?P<head>[^,;:()]+), (?P<what>(?:the|a|an|its|their|his|her|one of) [^,;:()]+), (?P<rest>[^;:]+)$"
)


_LONGEST = 2_000


def split_sentence(sentence: str) -> tuple[Part, ...]:
    """The parts of ``sentence``, at least one, covering ``[0, len(sentence))`` in order. A longer one than
    sentences are is not split: every cut is tried against all that stands on both its sides."""
    return tuple(_split(sentence, 0, 4 if len(sentence) <= _LONGEST else 0))


def _split(sentence: str, offset: int, depth: int) -> list[Part]:
    whole = quoted(sentence) or closing_scope(sentence)
    if depth and len(WORD.findall(sentence)) >= 5 and not whole:
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
        if balanced(left) and is_clause(left) and is_clause(right) and not open_scope(left):
            before = opening(left)
            if before is not None and not elsewhere(before, left, right):
                return _two(sentence, left, before + right, match.start())
    return []


def _relative(sentence: str) -> list[Part]:
    match = _RELATIVE.match(sentence)
    if (
        match
        and is_subject(match["head"])
        and starts_with_verb(match["clause"])
        and starts_with_verb(match["rest"])
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
        and starts_with_verb(match["clause"])
        and is_clause(match["rest"])
        and not open_scope(match["rest"])
        and own_time(match["rest"], match["clause"])
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
    if not match or not starts_with_verb(match["rest"]) or not is_subject(match["head"]):
        return []
    head, what = match["head"], match["what"]
    if not names(head) or any(is_finite(word) and not is_doubtful(word) for word in lowered(what)):
        return []
    copula = "was" if re.match(r"(?:the|a|an) (?:former|late|then)\b", what) else "is"
    return _two(sentence, f"{head} {copula} {what}", f"{head} {match['rest']}", match.end("what"))


def _joined(sentence: str) -> list[Part]:
    """ "A did x and B did y", "A did x and did y"."""
    for match in _JOINT.finditer(sentence):
        left, right = sentence[: match.start()], sentence[match.end() :]
        if not balanced(left) or not is_clause(left) or open_scope(left):
            continue
        words = lowered(right)
        if match["word"] in {"while", "whereas"} and not match["comma"]:
            continue
        told = match["adverb"] + right
        before = opening(left)
        if (
            is_clause(right)
            and not starts_with_verb(right)
            and not late_subject(right)
            and not perhaps_no_verb(right)
            and (match["comma"] or plainly_clause(right))
            and (match["comma"] or not unfinished(left))
        ):
            if before is not None and not elsewhere(before, left, told):
                return _two(sentence, left, before + told, match.start())
        elif (
            match["word"] in {"and", "but"}
            and words
            and (subject := shared_subject(left, right, bool(match["comma"])))
            and not elsewhere(before or subject, left, told)
        ):
            return _two(sentence, left, f"{subject} {told}", match.start())
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
        or not is_clause(before + "x")
        or open_scope(before)
        or shared_out(before)
        or before.rstrip().endswith(",")
        # "the Atlantic, Indian and Pacific Oceans": the last word is of all.
        or _last_is_of_all([sentence[start:finish] for start, finish in run])
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
        # "the US, Canada and Mexico": the article is the first's.
        lead = before if index == 0 else re.sub(r"\b[Tt]he $", "", before)
        parts.append(Part(text=lead + sentence[start:finish] + stop, start=begin, end=close))
    return parts


def _last_is_of_all(items: list[str]) -> bool:
    return (
        len(items[-1].split()) > 1 and items[-1].endswith("s") and not any(" " in item for item in items[:-1])
    )


_CUTS: tuple[Callable[[str], list[Part]], ...] = (_semicolons, _relative, _apposition, _joined, _listed)


def _two(sentence: str, left: str, right: str, at: int) -> list[Part]:
    if min(len(WORD.findall(left)), len(WORD.findall(right))) < 3:
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
