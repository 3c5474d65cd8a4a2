"""Words of claims and evidence: stems, overlap, and which may be the verb of a clause.

In: text. Out: stems, shares in [0, 1], the nearest sentence. Verbs come from a closed list, without a
tagger: words not on it are not treated as verbs. Independent of verdicts.
"""

from __future__ import annotations

import re
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.lexicon import RELATIONS, STOP

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
ENOUGH = 0.5  # minimum share of the claim's content words in a sentence before the two are compared


def content_words(text: str) -> list[str]:
    """Lower-case stems of the content words, in order."""
    return list(_content(text) if len(text) <= _REMEMBERED else _content.__wrapped__(text))


_REMEMBERED = 400  # maximum characters of a cached sentence: each claim reuses its words


@lru_cache(maxsize=8192)
def _content(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words_of(text) if word not in STOP)


def overlap(claim: str, evidence: str) -> float:
    """Share, in [0, 1], of the claim's content words found in the evidence; 0 if the claim has none."""
    wanted = set(content_words(claim))
    return len(wanted & set(content_words(evidence))) / len(wanted) if wanted else 0.0


@lru_cache(maxsize=4096)
def nearest_sentence(claim: str, evidence: str) -> str:
    """The sentence with the highest word overlap with ``claim``; "" if that is below ENOUGH."""
    best, best_share = "", 0.0
    for start, end in sentence_spans(evidence):
        share = overlap(claim, evidence[start:end])
        if share > best_share:
            best, best_share = evidence[start:end], share
    return best if best_share >= ENOUGH else ""


def words_of(text: str) -> list[str]:
    return [match.group().lower().replace("\u2019", "'") for match in _WORD.finditer(text)]


def distinguishing_words(text: str) -> list[str]:
    """Stems of the words that distinguish similar things, including the A of "Drug A"."""
    lettered = re.sub(r"(?<=\w )([A-Z])\b", r"\1\1", text)
    return [stem(word) for word in words_of(lettered) if word not in STOP or word in RELATIONS]


def stem(word: str) -> str:
    word = word.removesuffix("'s")
    for suffix, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(suffix) and len(word) >= least and not word.endswith("ss"):
            return word[: -len(suffix)] + ("y" if suffix == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


AUXILIARIES = frozenset(
    "is are was were has have had will would can could may might must shall should does did do isn't aren't wasn't weren't "
    "hasn't haven't hadn't won't wouldn't can't cannot couldn't doesn't didn't don't".split()
)

_IRREGULAR = frozenset(
    "became began bought brought built came chose cost cut drew drove fell felt fought found flew got gave went grew heard "
    "held hit kept knew laid led left lent lost made meant met paid put ran rose said sang sat saw sent set shot "
    "showed sold spent spoke spread stood took taught thought told understood wore won wrote".split()
)

_BASES = (
    "accept account achieve acquire add address adopt affect agree aim allow announce appear apply appoint approve argue arrive "
    "ask assume attend attract award base beat become begin believe belong benefit break bring build buy call capture "
    "carry cause celebrate change charge claim close collect combine come command commit compare compete complete comprise "
    "conclude conduct confirm connect consider consist contain continue contribute control cost cover create cut "
    "deal decide declare decline decrease define deliver demonstrate deny depend describe design develop die direct "
    "discover discuss display distribute divide dominate double drive drop earn employ enable encourage end enjoy "
    "ensure enter establish estimate exceed exist expand expect experience explain explore export expose extend face fail "
    "fall feature feel fight file fill find finish focus follow force form gain generate get give go govern graduate "
    "grow handle happen have head help hire hold host identify impact implement improve include increase indicate "
    "inform inspire intend introduce invent invest involve issue join keep kill know lack launch lead learn leave lie "
    "limit list live locate lose maintain make manage manufacture mark marry mean measure meet mention move need "
    "obtain occur offer open operate oppose order organize originate own participate pass pay perform plan play point post "
    "prepare present prevent produce promote propose protect prove provide publish purchase raise range reach "
    "receive recognize recommend record reduce refer reflect refuse regulate reject relate release rely remain remove "
    "report represent require resign respond rest result retire return reveal rise run say see seek seem sell send "
    "serve set share show sign spend stand star start state stay stop study succeed suffer suggest supply "
    "support surpass take teach tell tend test total transfer travel treat turn use vary visit vote want win work write"
).split()


def _third(base: str) -> str:
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ies"
    return base + "s"


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + "ed"


THIRD = frozenset(_third(base) for base in _BASES)
PAST = (
    frozenset(_past(base) for base in _BASES)
    | _IRREGULAR
    | {"planned", "stopped", "dropped", "permitted", "referred"}
)
# Forms that are equally often nouns or adjectives: a verb only with an object after them.
_DOUBTFUL = frozenset(
    "accounts addresses awards experiences exports reports plans sales shares results changes costs claims benefits charges controls covers cuts deals declines "
    "decreases designs displays drives drops ends estimates features files fights focuses forces forms gains heads "
    "helps impacts increases issues joins kills lacks leads lists lives loses marks measures moves needs offers orders points "
    "posts presents purchases ranges records releases rests returns rises runs sets shows signs stands stars starts "
    "states stays stops studies supplies supports tests totals transfers travels treats turns uses visits votes wants wins works "
    "related limited based combined estimated expected established mixed organized used increased reduced left set cut cost "
    "found led made".split()
)


PLAIN_BASES = frozenset(base for base in _BASES if _third(base) not in _DOUBTFUL | {"means"})
"""Bases whose third person is not also a noun."""


def is_finite(word: str) -> bool:
    """Whether ``word`` (lower case) can be the finite verb of a clause."""
    return word in AUXILIARIES or word in THIRD or word in PAST


def is_doubtful(word: str) -> bool:
    """Whether the form is equally often not a verb."""
    return word in _DOUBTFUL
