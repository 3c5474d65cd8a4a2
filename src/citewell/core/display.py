"""Text as a client may show it: answers, reports and runs for a notebook or ``print``, with the words, states
and spans of the web pages; and document text whose active Markdown is escaped, for clients that render it.

In: claims, what was decided about them, and tables; text. Out: HTML with inline styles, as a notebook does
not load our stylesheet, with all text in it escaped; lines, with control characters escaped; text with links,
images and tags escaped, and the original back. Knows nothing about notebooks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from citewell.core.records import Answer, Citation, Claim, Conflict, Proof
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
    "right": "#2f8f57",
    "better": "#2f8f57",
    "wrong": "#d2495a",
    "worse": "#d2495a",
    "met": "#2f8f57",
    "not met": "#d2495a",
    "holds": "#2f8f57",
    "firing": "#d2495a",
}
"""By state, decision or outcome; the others are grey."""
GREY = "#808080"

Row = Sequence[str]


class InTables:
    """Mixed into a record that displays itself as tables."""

    __slots__ = ()

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        """A title and tables; the first row of each is its head, and one without other rows is left out."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        title, tables = self._tables()
        return f"<div><p><b>{escape(title)}</b></p>{''.join(_table(one) for one in tables if one[1:])}</div>"

    def __str__(self) -> str:
        title, tables = self._tables()
        return visible("\n\n".join([title, *(_aligned(one) for one in tables if one[1:])]))


# C0 except newline and tab, DEL and C1; lone surrogates; bidirectional controls.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def visible(text: str) -> str:
    """``text`` with every control character escaped, such as ``\\x1b``."""
    return UNSAFE.sub(lambda match: _written_out(match[0]), text)


def answer_html(answer: Answer) -> str:
    """The question, the decision, the text and its claims, each with the words it rests on."""
    decision = answer.decision.value
    open_ = f"<p>{NAMES['missing']}: {escape('; '.join(answer.missing))}</p>" if answer.missing else ""
    shown = [claim for claim in answer.claims if claim.shown]
    compared = answer.trace is not None and any(stage.name == CHECK for stage in answer.trace.stages)
    compared = compared or any(claim.verdict.proof is Proof.COMPUTED for claim in shown)
    green = compared and not answer.conflicts  # never for a true quote alone
    decided = _state(decision if green or decision != "ANSWER" else "", DECISIONS[decision][0])
    head = f"<p><b>{escape(answer.question)}</b><br>{decided} {_measured(answer)}</p>"
    seal = f"<p><small>{answer.request_id}</small></p>"
    sides = "".join(
        f"<p>{escape(_named(one))}: {escape(one.about)}</p>{''.join(map(_cited, one.sides))}"
        for one in answer.conflicts
    )
    text = "".join(_in_place(answer)).replace("\n", "<br>")
    return f"<div>{head}{sides}<p>{text}</p>{open_}{claims_html(answer.claims)}{seal}</div>"


def answer_text(answer: Answer) -> str:
    """As :func:`answer_html`, in lines."""
    decided = f"{DECISIONS[answer.decision.value][0]}, {_measured(answer)}"
    open_ = [f"{NAMES['missing']}: {'; '.join(answer.missing)}"] if answer.missing else []
    sides = (
        f"{_named(one)}: {one.about}\n" + "\n".join(map(_line_of, one.sides)) for one in answer.conflicts
    )
    claims = claims_text(answer.claims)
    parts = (answer.question, decided, *sides, answer.text, *open_, claims, answer.request_id)
    return visible("\n\n".join(filter(None, parts)))


def _named(conflict: Conflict) -> str:
    return NAMES["superseded" if conflict.supersession else "conflict"]


def _in_place(answer: Answer) -> Iterator[str]:
    """The text, with each claim underlined in the colour of its state; what is outside claims was not
    checked."""
    at = 0
    for claim in sorted(answer.claims, key=lambda one: one.answer_start):
        start, end = claim.answer_start, claim.answer_end
        if not (claim.shown and at <= start < end <= len(answer.text)):
            continue
        state = display_state(claim)
        style = f"text-decoration:underline 2px {COLOURS.get(state.name, GREY)}"
        yield escape(answer.text[at:start])
        yield f'<span style="{style}" title="{escape(state.words)}">{escape(answer.text[start:end])}</span>'
        at = end
    yield escape(answer.text[at:])


def _measured(answer: Answer) -> str:
    """The confidence and the unsupported share."""
    report = answer.confidence
    whole = "not measured" if report.overall is None else f"{report.overall:.2f}"
    gap = report.hallucination_gap.value
    share = "" if gap is None else f", {NAMES['hallucination_gap'].lower()} {gap:.2f}"
    return f"confidence {whole}{share}"


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


def claims_text(claims: Iterable[Claim]) -> str:
    """As :func:`claims_html`, in lines."""
    lines = (line for number, claim in enumerate(claims, 1) for line in _lines(number, claim))
    return visible("\n".join(lines))


def _lines(number: int, claim: Claim) -> Iterator[str]:
    hidden = "" if claim.shown else " (not shown)"
    yield f"{number}. {display_state(claim).words}{hidden}: {claim.text}"
    if claim.verdict.reason:
        yield f"   {claim.verdict.reason}"
    for citation in claim.citations:
        yield _line_of(citation)


def _line_of(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    quote = f": “{citation.quote}”" if citation.quote else ""
    return f"   {citation.document_id}{page}{quote}"


def _table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(words: str) -> str:
    return f"<td>{_state(words, words) if words in COLOURS else escape(words)}</td>"


def _aligned(rows: Sequence[Row]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(row).rstrip() for row in padded)


def _cited(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page else ""
    span = f" [{citation.start}:{citation.end}]" if citation.start >= 0 else ""
    where = f"<small>{escape(citation.document_id)}{page}{span}</small>"
    quote = f"<mark>{escape(citation.quote)}</mark>"
    return f'<blockquote style="margin:.2em 0 .2em 1em">{where}<br>{quote}</blockquote>'


def _state(name: str, words: str) -> str:
    return f'<b style="color:{COLOURS.get(name, GREY)}">{escape(words)}</b>'


def _written_out(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# --- Markdown -------------------------------------------------------------------------------------

ACTIVE = re.compile(r"(?<=\])[(:]|(?<!\\)(?:\\\\)*<(?=[A-Za-z/!?])")
"""A backslash is inserted before the last character of each match. The first alternative covers
"[words](address)", "![](address)" and "[label]: address", which a client might fetch, revealing to the
document's author that somebody asked; the second covers tags, comments and "<address>", unless already
escaped, as a second backslash would undo it. Emphasis, lists and tables are left alone."""


def harmless(text: str) -> str:
    return ACTIVE.sub(lambda found: f"{found[0][:-1]}\\{found[0][-1]}", text)


def harmless_values(value: Any) -> Any:
    """A JSON value with each of its strings escaped, except the names of fields."""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, dict):
        return {name: harmless_values(one) for name, one in value.items()}
    return [harmless_values(one) for one in value] if isinstance(value, list) else value


def unescaped(text: str) -> str:
    """Undoes :func:`harmless`, for quotes that come back."""
    return _ESCAPED.sub("", text)


_ESCAPED = re.compile(r"(?<=\])\\(?=[(:])|\\(?=<[A-Za-z/!?])")


def harmless_line(text: str) -> str:
    """Escaped and on one line: a line break could let it continue as one of our list items."""
    return harmless(" ".join(text.split()))
