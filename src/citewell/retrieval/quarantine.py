"""The poison filter: quarantine passages that try to steer the answer instead of informing it.

In: a question and passages. Out: the same passages in the same order, some with ``set_aside``, the
reason in words. Three kinds: a passage that instructs the answering model or forges our own marks; one
that repeats the question to rank higher; one statement flooded from many places. Manuals tell
readers what to do ("You must restart the server"): that is content. Independent of verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from citewell.core.records import Passage
from citewell.core.sentences import sentence_spans
from citewell.questions.parsing import STOP, label_words

FLOOD = 4  # minimum near-duplicate passages selected, or documents in the pool
FLOOD_ALIKE = 0.8
REPEATS = 3
MIN_QUESTION_WORDS = 4

# Instructions are recognised by addressee (an answering model) or by what they would switch off;
# an imperative alone may be from a manual.
_INSTRUCTIONS: tuple[tuple[str, str], ...] = (
    (
        "tells the model to ignore its instructions",
        r"\b(?:ignore|disregard|forget|override|bypass|do not follow)\b[^.\n]{0,40}"
        r"\b(?:previous|prior|above|earlier|preceding|all|any|your|system|other)\b[^.\n]{0,30}"
        r"\b(?:instructions?|prompts?|directions?|guidelines?|rules?|contexts?|documents?|sources?|passages?)\b"
        r"(?!\s+(?:manual|booklet|sheet|label))",
    ),
    (
        "dictates the answer",
        r"\b(?:you (?:must|should|shall|will|have to|need to|are (?:required|instructed|told) to)|always|"
        r"please|only)\s+(?:always |only |now |simply |just )*"
        r"(?:(?:answer|respond|reply)\s+"
        r"(?:(?:with|that|only|exactly|as follows|the following|yes|no)\b|['\"“‘:])|"
        r"(?:output|conclude)\s+(?:(?:only|exactly|as follows|the following|yes|no)\b|['\"“‘:])|"
        r"(?:say|state|print|return)\s+exactly\b)|"
        # "Always print "..."" may be from a change log.
        r"\byou (?:must|should|shall|will|have to|are (?:required|instructed|told) to)\s+"
        r"(?:always |only |now |simply |just )*(?:say|state|print|return)\s+['\"“‘:]",
    ),
    (
        "dictates the answer",
        # A bare answer with nothing after it: forms say "answer Question 5" and "answer all questions".
        r"\b(?:you (?:must|should|shall|will|have to|need to)|always)\s+(?:always |only |now |simply |just )*"
        r"(?:answer|respond|reply|output|conclude)\s+"
        r"(?:[$€£]?\d[\d.,]*\s*%?|"
        r"(?!(?:Question|Part|Section|Item|Form|Schedule|Box|Line|All|Every|Each|The|Any)s?\b)"
        r"(?-i:[A-Z])[\w'’-]*(?: (?-i:[A-Z0-9])[\w'’-]*){0,3})\s*(?:[.!;\n]|$)",
    ),
    (
        "dictates the answer",
        r"\b(?:regardless of|no matter|whatever)\b[^.\n]{0,30}\b(?:question|asked|query|prompt)\b[^.\n]{0,40}"
        r"\b(?:answer|respond|reply|say|output)\s+(?:with|that|only|exactly|['\"“‘:]|\d|(?-i:[A-Z]))",
    ),
    (
        "dictates the answer",
        r"\b(?:when|if|whenever) (?:you are |someone is |a user is )?(?:asked (?:about|for|whether|what|who|"
        r"how|why|if|by|this|that|the question)|answering|a user asks|the user asks|anyone asks|questioned)"
        r"\b[^.\n]{0,120}"
        r"\b(?:answer|respond|reply|say|state|output|tell them)\b",
    ),
    (
        "addresses a language model",
        r"\byou are (?:now )?(?:an? )?(?:\w+ )?(?:AI|language model|chatbot|LLM|GPT)\b|"
        r"\byou are (?:now an?|a helpful) (?:\w+ )?assistant\b|"
        r"\b(?:attention|note|message|instructions?|dear|hey|hello)[ ,:]+(?:to |for )?(?:the |any |all )?"
        r"(?:AI |language )?(?:AI|LLM|model|assistant|chatbot)s?\b\s*[:,!]|"
        r"\bas an AI (?:language )?(?:model|assistant)\b[^.\n]{0,40}\byou\b|"
        r"\b(?:new|updated) system (?:instructions?|prompts?)\s*:|"
        r"\b(?:real|actual|hidden|secret) (?:system )?(?:instructions?|prompts?)\s*:|"
        r"\b(?:reveal|print|repeat|show|output) (?:me )?(?:your|the) (?:system )?(?:prompt|instructions)\b",
    ),
    (
        "forges the boundary of a chat message or prompt",
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id)[^\n]{0,20}\|?>|\[/?INST\]|<<SYS>>|"
        r"^[^\S\n]*(?:#{2,}[^\S\n]*)?(?:system|assistant|developer)\s*+(?:(?:prompt|message)\s*+)?:\s*"
        r"(?:you|ignore|answer|the (?:answer|user)|from now|respond)\b|"
        r"</(?:system|instructions?|source|claim|premise|passage)>|<(?:system|instructions?)>",
    ),
    (
        "forges a source or citation mark",
        r"^[^\S\n]*(?:(?:\[|={2,}|-{2,}|【)[^\S\n]*)?SOURCE[ _]?\d+\s*(?:\]|={2,}|-{2,}|】|:)|"
        r"(?<!`)\[src:[^\]\n]{1,80}\]|(?<!`)\[/?SOURCE_\d+\s*[\]:]|"
        r"\"evidence\"\s*:\s*\[\s*\{\s*\"source\"\s*:",
    ),
    (
        "forges a verdict",
        r"^[^\w\n]*(?:verdict|label|status|decision|entailment|grounded|supported|relevance|confidence)\W{0,3}\s*[:=]"
        r"\s*\W?(?:VERIFIED|ENTAILMENT|ENTAILED|SUPPORTED|NOT_SUPPORTED|CONTRADICT(?:ION|ED)|UNSUPPORTED|ANSWER|"
        r"ABSTAIN|"
        r"true|1(?:\.0+)?|100\s*%|0?\.9\d*)\b|"
        r"\b(?:this|the (?:following|above)) (?:claim|statement|answer|passage|source|document) "
        r"(?:is|has been|"
        r"must be (?:marked|treated|labelled|considered)(?: as)?) "
        r"(?:VERIFIED|ENTAILMENT|pre-?verified|100% (?:verified|true))\b|"
        r"\"(?:label|verdict|status)\"\s*:\s*\"(?:ENTAILMENT|VERIFIED|SUPPORTED|CONTRADICTION)\"",
    ),
)
_COMPILED = tuple((why, re.compile(pattern, re.I | re.M)) for why, pattern in _INSTRUCTIONS)
# Text invisible to people: tag characters, runs of invisible characters, words split by them. One or two
# are typography, and some languages need direction marks.
_HIDDEN = re.compile("[\u200b\u200c\u2060-\u2064\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_HIDING = re.compile(
    "[\U000e0000-\U000e007f]|[\u2060-\u2064]{3,}|\u200b{8,}|(?:[A-Za-z][\u200b\u200c\u2060]){4,}"
)
_WORD = re.compile(r"[\w&]+")


def quarantine_poisoned(
    question: str, passages: Sequence[Passage], pool: Sequence[Passage] = ()
) -> list[Passage]:
    """All passages, in order, with the reason for those set aside. One already set aside keeps its reason.
    ``pool`` is what they were selected from: floods are detected in all of it, not only in what was left."""
    reasons = [passage.set_aside or _reason(question, passage) for passage in passages]
    for at, reason in {**_flooding(passages, pool, reasons), **_floods(passages, reasons)}.items():
        reasons[at] = reason
    return [
        msgspec.structs.replace(passage, set_aside=reason) if reason != passage.set_aside else passage
        for passage, reason in zip(passages, reasons, strict=True)
    ]


def flood_notes(passages: Sequence[Passage], pool: Sequence[Passage]) -> list[str]:
    """A note for each kept passage of a flood: how many documents of the pool contain its statement."""
    return [
        f"{passage.chunk.chunk_id}: floods: {documents} documents say nothing but the same statement; "
        "the best ranked one is kept, the others are set aside or were folded into it"
        for passage in passages
        if not passage.set_aside and (documents := _documents(_copies(passage, pool))) >= FLOOD
    ]


def instructions_in(text: str) -> str:
    """How ``text`` tries to instruct an answering model, in words; "" if it does not."""
    plain = _HIDDEN.sub("", text)
    for why, pattern in _COMPILED:
        match = pattern.search(plain)
        if match:
            return f"{why}: {_shown(match.group())}"
    if _HIDING.search(text):
        return f"hides {len(_HIDDEN.findall(text))} invisible characters"
    return ""


def _reason(question: str, passage: Passage) -> str:
    content = passage.chunk.content
    return instructions_in(content) or _stuffing(question, content)


def _shown(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{flat[:80]}”" if len(flat) <= 80 else f"“{flat[:79]}…”"


def _stuffing(question: str, content: str) -> str:
    """Repetition of the question, exact or nearly: genuine pages ask a question once.

    A Q&A page asks *different* questions, and a statement repeats its subject,
    not the whole wording of the question.
    """
    asked = _bag(question)
    if len(asked) < MIN_QUESTION_WORDS:
        return ""
    exact = _flat(content).count(_flat(question).strip(" ?"))
    near = sum(
        len(asked & _bag(content[start:end])) >= 0.9 * len(asked)
        and content[start:end].rstrip().endswith("?")
        for start, end in sentence_spans(content)
    )
    times = max(exact, near)
    return f"repeats the question {times} times" if times >= REPEATS else ""


def _flooding(passages: Sequence[Passage], pool: Sequence[Passage], reasons: Sequence[str]) -> dict[int, str]:
    """Passages that repeat a better-ranked one whose statement is all that FLOOD or more documents of the
    pool contain."""
    found: dict[int, str] = {}
    for first, passage in enumerate(passages):
        if reasons[first] or first in found:
            continue
        copies = _copies(passage, pool)
        if (documents := _documents(copies)) < FLOOD:
            continue
        places = {(copy.chunk.document_id, copy.chunk.chunk_id) for copy in copies}
        for at in range(first + 1, len(passages)):
            chunk = passages[at].chunk
            if not reasons[at] and (chunk.document_id, chunk.chunk_id) in places:
                found[at] = (
                    f"floods: {documents} documents say nothing but the same statement; "
                    "the best ranked one is kept"
                )
    return found


def _copies(passage: Passage, pool: Sequence[Passage]) -> list[Passage]:
    """Passages of ``pool`` that say nearly the same with the same figures, each its whole document.

    This excludes boilerplate in long documents, and editions, whose figures and dates differ.
    """
    own = _bag(passage.chunk.content)
    if len(own) < MIN_QUESTION_WORDS or not _whole(passage):
        return []
    figures = _figures(passage.chunk.content)
    return [
        other
        for other in pool
        if _whole(other)
        and _alike(own, _bag(other.chunk.content))
        and _figures(other.chunk.content) == figures
    ]


def _whole(passage: Passage) -> bool:
    """Whether the passage is its whole document."""
    return not passage.chunk.previous_id and not passage.chunk.next_id


def _documents(passages: Sequence[Passage]) -> int:
    return len({passage.chunk.document_id for passage in passages})


def _floods(passages: Sequence[Passage], reasons: Sequence[str]) -> dict[int, str]:
    """Groups of FLOOD or more near-duplicate passages: the first is kept, the others are set aside.

    Tables repeat their heads and contracts their clauses, so a group counts only if its passages have
    nearly the same words throughout, whether in one document or several: copies add no evidence.
    """
    bags = [_bag(passage.chunk.content) for passage in passages]
    left = [at for at, reason in enumerate(reasons) if not reason and len(bags[at]) >= MIN_QUESTION_WORDS]
    found: dict[int, str] = {}
    while left:
        first, *rest = left
        alike = [at for at in rest if _alike(bags[first], bags[at])]
        if 1 + len(alike) >= FLOOD:
            documents = len({passages[at].chunk.document_id for at in (first, *alike)})
            for at in alike:
                found[at] = (
                    f"floods: the same statement is in {1 + len(alike)} passages of {documents} "
                    f"document{'s' if documents > 1 else ''}; the best ranked one is kept"
                )
        left = [at for at in rest if at not in alike]
    return found


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= FLOOD_ALIKE * len(one | other)


@lru_cache(maxsize=4096)
def _bag(text: str) -> frozenset[str]:
    words = (word for word in _WORD.findall(text) if word.lower() not in STOP)
    return frozenset(stem for word in words for stem in label_words(word))


def _figures(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\d+", text))


def _flat(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
