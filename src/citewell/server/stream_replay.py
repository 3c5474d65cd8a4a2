"""A stream told again from its record, when nobody remembers it: the same claims under the same numbers, the
same citations, the same end.

In: the Answer as its record has it, and the record's notes of what was shown provisionally. Out: events.
Knows nothing about who listens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citewell.answering.streaming import Event, EventKind
from citewell.core.records import Answer

_SHOWN = re.compile(
    r"note: shown provisionally as (\d+) \(\w+\): “(.*)”(?:, withdrawn: (.*))?", flags=re.DOTALL
)
"""As :meth:`citewell.answering.streaming.Streaming.note` writes it and the record keeps it."""


def told_again(answer: Answer, notes: Sequence[str]) -> Iterator[Event]:
    """What a listener from the beginning has been told in the end."""
    yield Event(kind=EventKind.SEARCH_RESULTS, passages=answer.passages)
    claims = {claim.text: claim for claim in answer.claims if claim.shown}
    number, streamed = 0, set()
    for shown in filter(None, map(_SHOWN.fullmatch, notes)):
        number, text, withdrawn = int(shown[1]), shown[2], shown[3]
        streamed.add(text)
        yield Event(kind=EventKind.CLAIM, number=number, text=text)
        if withdrawn is None and text in claims:
            yield Event(kind=EventKind.VERDICT, number=number, claim=claims[text], final=True)
        else:
            yield Event(kind=EventKind.CORRECTION, number=number, text=text, reason=withdrawn or "withdrawn")
    fresh = [claim for claim in answer.claims if claim.shown and claim.text not in streamed]
    for place, claim in enumerate(fresh, number + 1):
        yield Event(kind=EventKind.CLAIM, number=place, text=claim.text)
        yield Event(kind=EventKind.VERDICT, number=place, claim=claim, final=True)
    reasons = answer.confidence.reasons
    yield Event(kind=EventKind.DECISION, decision=answer.decision, reason=reasons[0] if reasons else "")
    yield Event(kind=EventKind.DONE, answer=answer)
