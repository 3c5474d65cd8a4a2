"""A question and an answer as a statement: "When was X founded?" + "1905" -> "X was founded in 1905."

In: question and answer text. Out: the statement, or None if no rule is sure of the grammar. Rules are
tried in order; each is a pattern and the sentence it makes. Independent of passages and labels.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_PAST: dict[str, str] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))[
    "past"
]
_PARTICIPLE = (
    r"(?:\w+ed|born|built|held|made|found|known|written|led|won|lost|sent|taken|given|seen|drawn|sold|bought|spoken|"
    r"chosen|shown|set|located|used|kept|begun|broken|driven|fought|grown|hit|laid|paid|put|read|run|sung|thrown|worn)"
)
_BE = r"(?P<be>is|are|was|were)"
_ARTICLE = r"(?:the|a|an|his|her|its|their|this|that|some|[A-Z]\S+)"
_DID = r"(?P<subject>.{2,60}?) (?P<verb>" + "|".join(_PAST) + r")\b(?P<rest>.*)"

_RULES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(p, re.IGNORECASE), made)
    for p, made in [
        (rf"(?:when|(?:in |during )?(?:what|which) (?:year|month|decade|century)) {_BE} (?P<s>.+?) (?P<v>{_PARTICIPLE}\b.*)", "{s} {be} {v} {in}{a}"),  # noqa: E501
        (rf"where {_BE} (?P<s>.+?) (?P<v>{_PARTICIPLE}\b.*)", "{s} {be} {v} {at}{a}"),
        (rf"where {_BE} (?P<s>{_ARTICLE}\b.*)", "{s} {be} {at}{a}"),
        (rf"who {_BE} (?P<v>{_PARTICIPLE}\b.*)", "{a} {be} {v}"),
        (rf"who {_BE} (?P<s>.+?) (?P<v>{_PARTICIPLE} by)", "{s} {be} {v} {a}"),
        (rf"(?:who|what) {_BE} (?P<s>the .*|.*'s .*|an? .*)", "{s} {be} {a}"),
        (rf"(?:when|(?:in |during )?(?:what|which) (?:year|month)) did {_DID}", "{subject} {past}{rest} {in}{a}"),  # noqa: E501
        (rf"where did {_DID}", "{subject} {past}{rest} {at}{a}"),
        (rf"(?:what|who|whom|which \w+|what \w+|how many \w+|how much \w+) did {_DID}", "{subject} {past} {a}{rest}"),  # noqa: E501
        (r"how many (?P<n>\w+(?: \w+)?) (?P<be>are|were) there(?P<rest>.*)", "there {be} {a} {n}{rest}"),
        (rf"how many (?P<n>\w+) {_BE} (?P<v>{_PARTICIPLE}\b.*|in .*|on .*)", "{a} {n} {be} {v}"),
        (r"how many (?P<n>\w+) (?P<v>(?!is|are|was|were|did|do|does|has|have|had|will|can)\w+ .*)", "{a} {n} {v}"),  # noqa: E501
        (rf"(?:what|which) \w+ {_BE} (?P<v>{_PARTICIPLE}\b.*)", "{a} {be} {v}"),
        (r"(?:what|which) \w+ (?P<v>(?:won|has|had|led|made|became|wrote|gave|took|held|\w{3,}ed)\b .*)", "{a} {v}"),  # noqa: E501
        (r"who (?P<v>(?!is|are|was|were|did|do|does|will|can|would|else)\w+ .*)", "{a} {v}"),
        (r"what (?P<v>(?:\w{3,}ed|causes|caused|led to|makes|made|became|provides|helps|prevents|allows)\b .*)", "{a} {v}"),  # noqa: E501
    ]
]  # fmt: skip


def statement(question: str, answer: str) -> str | None:
    """None for a question that no rule knows, or an answer that is not a phrase."""
    question = re.sub(r"\s+", " ", question).strip().rstrip("?").strip()
    answer = answer.strip().rstrip(".,;")
    if not answer or len(answer.split()) > 12 or len(question.split()) < 3:
        return None
    for pattern, made in _RULES:
        match = pattern.fullmatch(question)
        if match:
            return _filled(made, match, answer)
    return None


def _filled(made: str, match: re.Match[str], answer: str) -> str:
    parts = {k: (v or "").strip() for k, v in match.groupdict().items()}
    parts |= {"rest": f" {parts['rest']}" if parts.get("rest") else ""}
    parts |= {"past": _PAST.get(parts.get("verb", "").lower(), ""), "a": answer}
    parts |= {"in": _preposition(answer, "in "), "at": _preposition(answer, "in ")}
    text = re.sub(r"\s+", " ", made.format(**parts)).strip()
    return text[:1].upper() + text[1:] + "."


def _preposition(answer: str, usual: str) -> str:
    first = answer.split()[0].lower()
    if first in {
        "in",
        "on",
        "at",
        "by",
        "from",
        "during",
        "after",
        "before",
        "since",
        "near",
        "around",
        "between",
        "about",
    }:
        return ""
    return "on " if re.match(r"\d{1,2} [A-Z]|[A-Z][a-z]+ \d{1,2}\b", answer) else usual


_YES_NO = re.compile(
    r"(?P<aux>is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|must|may) (?P<told>.+)",
    re.IGNORECASE,
)


def yes_no_statement(question: str, text: str) -> str | None:
    """ "is X a Y" -> "X is a Y." The subject is the longest opening of the question that occurs in `text`;
    None if no opening of at least one longer word does, or if nothing is left to say of it.
    """
    match = _YES_NO.fullmatch(re.sub(r"\s+", " ", question).strip().rstrip("?").strip())
    if not match:
        return None
    words = match["told"].split()
    lower = f" {re.sub(r'[^a-z0-9]+', ' ', text.lower())} "
    for size in range(min(9, len(words) - 1), 0, -1):
        subject = " ".join(words[:size])
        plain = re.sub(r"[^a-z0-9]+", " ", subject.lower()).strip()
        if len(plain) > 3 and f" {plain} " in lower and words[size - 1].lower() not in _HANGING:
            told = f"{subject} {match['aux'].lower()} {' '.join(words[size:])}."
            return told[0].upper() + told[1:]
    return None


_HANGING = frozenset(
    (  # noqa: SIM905 - a table is longer
        "the a an of in on at to for with and or by from as into under over than is are was were be"
    ).split()
)
