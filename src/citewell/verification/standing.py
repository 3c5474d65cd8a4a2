"""Does a claim stand in a text, word for word and as a whole statement?

In: a claim and a text. Out: yes or no. Knows nothing about models.
"""

from __future__ import annotations

from citewell.sentences import sentence_spans
from citewell.verification.signals import cut_off
from citewell.verification.verbatim import find_all
from citewell.verification.verbs import is_finite


def stands_whole(claim: str, text: str) -> bool:
    """``claim`` stands in ``text`` word for word and as a whole statement.

    Its sentence may say more, but nothing that would turn it: no denial, report, hedge or condition around
    it. A fragment without a verb is no statement.
    """
    bare = claim.strip().rstrip(".!").rstrip()
    words = bare.split()
    # A sentence made of a clause begins with a capital that the clause does not have, and the reverse.
    variants = {bare, bare[:1].swapcase() + bare[1:]}
    for start, end in (hit for variant in sorted(variants) for hit in find_all(variant, text)):
        first, last = _sentence_around(text, start, end)
        before, after = text[first:start], text[end:last]
        whole = not any(ch.isalnum() for ch in before + after)
        statement = len(words) >= 3 and any(is_finite(word.strip(".,;:()").lower()) for word in words)
        if whole and len(words) >= 3 and not _introduced(text, first):
            return True
        if (
            statement
            and not cut_off(before, after)
            and _joins(before, after)
            and not _introduced(text, first)
        ):
            return True
    return False


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """From the start of the sentence that holds ``start`` to the end of the one that holds ``end``."""
    spans = sentence_spans(text)
    first = max((a for a, _ in spans if a <= start), default=0)
    last = min((b for _, b in spans if b >= end), default=len(text))
    return first, last


def _joins(before: str, after: str) -> bool:
    """Only a clause border may be cut: "He is rich" does not stand in "He is rich in spirit"."""
    left, right = before.strip(), after.strip().lstrip(".!?\u201d\"')")
    opens = (
        not left
        or left[-1] in ',;:\u2014-"\u201c('
        or left.split()[-1].lower() in {"and", "but", "while", "whereas"}
    )
    closes = (
        not right
        or right[0] in ",;:\u2014-)"
        or right.split()[0].lower() in {"and", "but", "while", "whereas"}
    )
    return opens and closes


def _introduced(text: str, first: int) -> bool:
    """The sentence before ends in a colon and denies or reports what follows ("It is a myth that:")."""
    before = text[max(0, first - 200) : first].rstrip()
    return before.endswith(":") and bool(cut_off(before[before.rfind("\n") + 1 :], ""))
