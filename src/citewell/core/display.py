"""Answers and reports as a notebook shows them, with the words, states and spans of the web pages.

In: claims, and what was decided about them. Out: HTML with inline styles, as a notebook does not load our
stylesheet; all text in it is escaped. Knows nothing about notebooks.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from citewell.core.records import Answer, Citation, Claim
from citewell.core.vocabulary import CHECK, DECISIONS, NAMES, display_state

# Mid tones, legible on white and on black.
COLOURS = {
    "ANSWER": "#2f8f57",
    "quoted": "#3a86c4",
    "verbatim": "#3a86c4",
    "entailed": "#3a86c4",
    "human": "#3a86c4",
    "numeric": "#8a78d6",
    "computed": "#8a78d6",
    "inference": "#b07a1e",
    "PARTIAL": "#b07a1e",
    "contradicted": "#d2495a",
    "broken": "#d2495a",
}
"""By state or decision; the others are grey."""


def answer_html(answer: Answer) -> str:
    """The question, the decision, the text and its claims, each with the words it rests on."""
    decision = answer.decision.value
    whole = "not measured" if answer.confidence.overall is None else f"{answer.confidence.overall:.2f}"
    open_ = f"<p>Open: {escape('; '.join(answer.missing))}</p>" if answer.missing else ""
    compared = answer.trace is not None and any(stage.name == CHECK for stage in answer.trace.stages)
    green = compared and not answer.conflicts  # never for a true quote alone
    decided = _state(decision if green or decision != "ANSWER" else "", DECISIONS[decision][0])
    head = f"<p><b>{escape(answer.question)}</b><br>{decided} confidence {whole}"
    seal = f"<p><small>{answer.request_id}</small></p>"
    text = escape(answer.text).replace("\n", "<br>")
    gap = answer.confidence.hallucination_gap
    share = "" if gap.value is None else f", {NAMES['hallucination_gap'].lower()} {gap.value:.2f}"
    return f"<div>{head}{share}</p><p>{text}</p>{open_}{claims_html(answer.claims)}{seal}</div>"


def claims_html(claims: Iterable[Claim]) -> str:
    """A numbered list of the claims, each with its state, reason and cited words."""
    found = []
    for claim in claims:
        state = display_state(claim)
        hidden = "" if claim.shown else " <small>(not shown)</small>"
        cited = "".join(map(_cited, claim.citations))
        why = f"<br><small>{escape(claim.verdict.reason)}</small>" if claim.verdict.reason else ""
        words = f"{_state(state.name, state.words)}{hidden}<br>{escape(claim.text)}"
        found.append(f"<li>{words}{why}{cited}</li>")
    return f"<ol>{''.join(found)}</ol>" if found else ""


def _cited(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    span = f" [{citation.start}:{citation.end}]" if citation.start >= 0 else ""
    where = f"<small>{escape(citation.document_id)}{page}{span}</small>"
    quote = f"<mark>{escape(citation.quote)}</mark>"
    return f'<blockquote style="margin:.2em 0 .2em 1em">{where}<br>{quote}</blockquote>'


def _state(name: str, words: str) -> str:
    return f'<b style="color:{COLOURS.get(name, "#808080")}">{escape(words)}</b>'
