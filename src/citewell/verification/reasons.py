"""Why a verdict is what it is, in plain words.

In: a claim and the texts it was judged against. Out: one line that names what carries it, or what is missing,
denied or turned. Exact code alone: it explains a verdict and makes none.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.verification.entities import missing_names
from citewell.verification.evidence import EvidenceText
from citewell.verification.kinds import source_kind
from citewell.verification.numbers import check_numbers
from citewell.verification.otherwise import told_otherwise
from citewell.verification.overstating import overstated
from citewell.verification.signals import nearest_sentence, signals
from citewell.verification.unwritten import unwritten_number


def held_by(claim: str, premise: EvidenceText, context: str) -> str:
    """For a supported claim: where it is said, and which of its numbers are not written there."""
    where = f" by {premise.source}" if premise.source else ""
    loose = [
        check.quantity.text
        for check in check_numbers(claim, premise.text, premise.around(context))
        if not check.holds
    ]
    tail = f"; {_list(loose)} is not written there" if loose else ""
    return f"entailed{where}{tail}"


def words_against(claim: str, premise: EvidenceText) -> str:
    """The sentence that speaks of what ``claim`` states, as a quote; "" where none does."""
    words = " ".join(nearest_sentence(claim, premise.text).split())
    return (
        f"\u201c{words if len(words) <= _LONGEST else words[:_LONGEST] + chr(0x2026)}\u201d" if words else ""
    )


def lacking(
    claim: str,
    nearest: EvidenceText,
    texts: Sequence[EvidenceText],
    *,
    context: str,
    asked: str,
    denied: bool = False,
) -> str:
    """For one that is not: what is missing or turned, numbers first, then names, then a changed meaning; ""
    when nothing of it can be named.

    ``nearest`` of the ``texts`` came closest to supporting it; ``context`` and ``asked`` are the question.
    ``denied``: the source contradicts it, which no report, hedge or condition does.
    """
    if source_kind(nearest.text) != "table" and (told := told_otherwise(claim, nearest.text, context)):
        return told
    everything = "\n".join(text.text for text in texts)
    around = "\n".join([context, *(text.context for text in texts)])
    numbers = [check.quantity.text for check in check_numbers(claim, everything, around) if not check.holds]
    if numbers:
        return f"the source does not hold {_list(numbers)}"
    if other := unwritten_number(claim, nearest.text, nearest.around()):
        return f"the source does not hold {_list([other])}"
    missing = missing_names(claim, f"{everything}\n{around}\n{asked}")
    if missing:
        return f"the source does not name {_list(missing)}"
    if beyond := overstated(claim, nearest.text):
        return beyond
    for signal in signals(claim, nearest.text):
        if denied and signal.kind in _WEAKENS:
            continue
        return _SIGNALS[signal.kind].format(claim=signal.claim, evidence=signal.evidence)
    return ""


_SIGNALS = {
    "negation": "one of claim and source denies it",
    "hedge": "the source only says \u201c{evidence}\u201d",
    "quantifier": "the claim says \u201c{claim}\u201d, the source \u201c{evidence}\u201d",
    "opposite": "the claim says \u201c{claim}\u201d, the source \u201c{evidence}\u201d",
    "order": "the claim has {claim}, the source {evidence}",
    "attribution": "the source reports it (\u201c{evidence}\u201d), it does not say so itself",
    "condition": "the source says it under a condition (\u201c{evidence}\u201d)",
}


_WEAKENS = frozenset({"hedge", "attribution", "condition"})
_LONGEST = 160  # characters of a source's sentence in a reason


def _list(items: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(f"\u201c{' '.join(item.split())}\u201d" for item in items))
