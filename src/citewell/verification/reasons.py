"""Why a verdict is what it is, in plain words.

In: a claim and the texts it was judged against. Out: one line that names what carries it, or what is missing,
denied or turned. Exact code alone: it explains a verdict and makes none.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.verification.entities import missing_names
from citewell.verification.evidence import EvidenceText
from citewell.verification.numbers import check_numbers
from citewell.verification.overstating import overstated
from citewell.verification.words import nearest_sentence


def held_by(claim: str, premise: EvidenceText, context: str) -> str:
    """For a supported claim: where it is said, and which of its numbers are not written there."""
    where = f" by {premise.source}" if premise.source else ""
    loose = [
        check.quantity.text
        for check in check_numbers(claim, premise.text, premise.around(context))
        if not check.holds
    ]
    tail = f"; {_list(loose)} is not written there" if loose else ""
    return f"supported{where}{tail}"


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
) -> str:
    """For one that is not: what is missing, numbers first, then names, then what is overstated; "" when
    none of
    it can be named.

    ``nearest`` of the ``texts`` came closest to supporting it; ``context`` and ``asked`` are the question.
    """
    everything = "\n".join(text.text for text in texts)
    around = "\n".join([context, *(text.context for text in texts)])
    numbers = [check.quantity.text for check in check_numbers(claim, everything, around) if not check.holds]
    if numbers:
        return f"the source does not contain {_list(numbers)}"
    missing = missing_names(claim, f"{everything}\n{around}\n{asked}")
    if missing:
        return f"the source does not name {_list(missing)}"
    if beyond := overstated(claim, nearest.text):
        return beyond
    return ""


_LONGEST = 160  # characters of a source's sentence in a reason


def _list(items: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(f"\u201c{' '.join(item.split())}\u201d" for item in items))
