"""Does each number of the claim stand in the sentence that speaks of what the claim states?

In: claim and premise, prose. Out: in words, what the source has instead, or "". A number that the source
holds proves little when it stands in the sentence about something else: "60 days" of notice for the days in
which a deposit is returned. Rows of tables are :mod:`citewell.verification.cells`. Knows no verdicts.
"""

from __future__ import annotations

from citewell.core.sentences import sentence_spans
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.quantities import Form, extract_quantities
from citewell.verification.words import content_words

SPEAKS = 0.6  # share of the claim's other content words in the sentence that speaks of it
ELSEWHERE = 0.5  # of that share, the most that a sentence which holds the number may have
_FEWEST = 2


def in_another_sentence(claim: str, premise: str, context: str) -> str:
    sentences = [premise[a:b] for a, b in sentence_spans(premise)]
    asked = extract_quantities(claim)
    if len(sentences) < 2 or not asked or len(sentence_spans(claim)) > 1:
        return ""
    wanted = frozenset(content_words(claim)) - frozenset(
        word for quantity in asked for word in content_words(quantity.text)
    )
    if len(wanted) < _FEWEST:
        return ""
    share = [len(wanted & frozenset(content_words(text))) / len(wanted) for text in sentences]
    nearest = max(range(len(sentences)), key=lambda i: (share[i], -i))
    if share[nearest] < SPEAKS:
        return ""
    whole = check_numbers(claim, premise, context)
    near = check_numbers(claim, sentences[nearest], context)
    for there, here in zip(whole, near, strict=True):
        if (
            here.quantity.form is Form.ORDINAL
            or not there.holds
            or here.match is not Match.OTHER
            or here.nearest is None
        ):
            continue
        holding = [
            share[i]
            for i, text in enumerate(sentences)
            if any(c.quantity == here.quantity and c.holds for c in check_numbers(claim, text, context))
        ]
        if holding and max(holding) <= ELSEWHERE * share[nearest]:
            return (
                f"where the source speaks of this, it has “{here.nearest.text}”; "
                f"“{here.quantity.text}” is elsewhere in it"
            )
    return ""
