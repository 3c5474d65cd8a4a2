"""Does the claim state, of what the source excepts, what the source excepts it from?

In: claim and premise. Out: the exception's words, or "". "Liability is capped, except in cases of gross
negligence" says the opposite of "capped, even in cases of gross negligence". Knows no verdicts.
"""

from __future__ import annotations

import re
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.signals import content_words

_EXCEPT = re.compile(
    r"\b(?:except(?:ing)?(?: (?:in|for|when|where|that|if|as))*|excluding|other than|with the exception of|"
    r"unless|but not(?: in| for)?)\s+(?P<what>[^,.;:()]{4,80})",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"\b(?:except\w*|exclud\w*|other than|unless|not|no|never|without|only|cannot|neither|nor|if|"
    r"until)\b|n't\b",
    re.IGNORECASE,
)
SPEAKS = 0.6  # share of the rest of the claim's words in front of the exception


@lru_cache(maxsize=4096)
def excepted(claim: str, premise: str) -> str:
    """The words that the source excepts and the claim includes."""
    if _MARKED.search(claim):
        return ""
    ours = frozenset(content_words(claim))
    for start, end in sentence_spans(premise):
        sentence = premise[start:end]
        for found in _EXCEPT.finditer(sentence):
            what = frozenset(content_words(found["what"]))
            before = frozenset(content_words(sentence[: found.start()]))
            rest = ours - what
            if (
                len(what) >= 2
                and what <= ours
                and not what <= before
                and rest
                and len(rest & before) >= SPEAKS * len(rest)
            ):
                return found.group()
    return ""
