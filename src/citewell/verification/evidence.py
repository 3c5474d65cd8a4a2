"""The evidence for a claim: a text, its context, its table rows, its kind and language.

In: passages or plain text. Out: :class:`EvidenceText`; one of KINDS, by which exact checks and the
calibration of support differ; why a text is not English. Rows come from the document reader if it has
them, else from lines with tabs. Function words identify languages in Latin script; short texts and
tables are assumed to be English, since nothing identifies them. Independent of where the text is stored.
"""

from __future__ import annotations

import re

from citewell.core.records import Passage, Record, Row
from citewell.core.sentences import sentence_spans
from citewell.questions.parsing import says_yes_or_no
from citewell.questions.scales import declared_units, joined_heads

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    (
        "the of and is was are were to in for that with as by on from at it this which be has have had not or an "
        "a"
    ).split()
)
_OTHERS = {
    "German": "der die das und ist nicht mit von den dem des ein eine einer wurde werden auf für im zu sich",
    "French": "le la les des du une est et dans que pour qui sur avec pas au aux par sont été ce cette il",
    "Spanish": "el los las una es y en que para por con del se como más fue su al lo",
    "Italian": "il lo gli una è e di che per con del della sono non nel alla si da",
    "Portuguese": "o os as uma é e em que para por com do da não se foi dos na mais",
    "Dutch": "het een van en is niet met voor op zijn aan de dat die wordt bij ook",
    "Swedish": "och att det som är en ett på för av med inte den till",
    "Polish": "się jest nie na przez dla oraz był że są była jako których które po",
    "Turkish": "ve bir bu için ile olarak da de çok en olan",
}
_OTHER_WORDS = {name: frozenset(words.split()) for name, words in _OTHERS.items()}


def not_english(text: str) -> str:
    """Why ``text`` is not English; "" if it is, or if that cannot be determined."""
    letters = [letter for letter in text[:4000] if letter.isalpha()]
    if len(letters) < 8:
        return ""
    latin = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    if latin < 0.6 * len(letters):
        return "it is not in Latin script"
    words = [word.lower() for word in _WORD.findall(text[:4000])]
    if len(words) < 8:
        return ""
    english = sum(word in _ENGLISH for word in words) / len(words)
    name, hits = max(
        ((name, [word for word in words if word in known]) for name, known in _OTHER_WORDS.items()),
        key=lambda pair: len(pair[1]),
    )
    # Many foreign function words are English words too, so three distinct non-English ones are required.
    sure = len(set(hits) - _ENGLISH) >= 3 and len(hits) / len(words) >= 0.2
    return f"it appears to be {name}" if sure and len(hits) > 2 * english * len(words) else ""


_HEAD_ROWS = 8
_TITLE_LINES, _TITLE_LIMIT = 3, 160  # maximum lines of a table title, and characters per line
_NO_VALUE = re.compile(r"\W*(?:n/?a|n\.a|nil|none|nm)?\W*", re.IGNORECASE)


class TableLine(Record, frozen=True, kw_only=True):
    """A row as text: its label and its cells as (text, column head).

    ``group`` is the section rows above it ("Discontinued operations"), outermost first, joined by " \u203a ";
    ``title`` the short lines right above its table.
    """

    label: str
    cells: tuple[tuple[str, str], ...]
    group: str = ""
    title: str = ""


class EvidenceText(Record, frozen=True, kw_only=True):
    """``context`` is not evidence: title, units, column heads. ``sections`` are the headings over the text.
    ``language`` is "" if not stated.

    ``source`` is the name used in reasons.
    """

    text: str
    context: str = ""
    lines: tuple[TableLine, ...] = ()
    sections: tuple[str, ...] = ()
    language: str = ""
    source: str = ""

    def around(self, more: str = "") -> str:
        """Context for numbers: the text around the evidence, and the units that the evidence declares."""
        return "\n".join(part for part in (self.context, more, declared_units(self.text)) if part)


class ClaimEvidence(Record, frozen=True, kw_only=True):
    """A claim and its evidence. ``context`` is the question put to the writer; ``asked`` the question that a
    bare fragment ("$1,577 million") answers; ``antecedent`` the text the claim's pronouns refer to ("Its
    founders ..."): evidence about another subject does not support it."""

    claim: str
    evidence: tuple[EvidenceText, ...]
    context: str = ""
    asked: str = ""
    antecedent: str = ""


def as_evidence(given: str | EvidenceText) -> EvidenceText:
    """Plain text as evidence; tables are read from tabs or Markdown pipes."""
    if isinstance(given, EvidenceText):
        return given
    text = _tabbed(blank_struck_out(given))
    return EvidenceText(text=text, lines=lines_of(text))


def passage_evidence(passage: Passage, document_text: str | None = None) -> EvidenceText:
    """A passage's content with its context; rows with their heads as read by the document reader."""
    chunk = passage.chunk
    text = blank_struck_out(chunk.content)
    if chunk.rows:
        read, offset = (chunk.content, chunk.start_offset) if document_text is None else (document_text, 0)
        lines = tuple(table_line(row, read, offset) for row in chunk.rows)
    else:
        text = _tabbed(text)
        lines = lines_of(text)
    return EvidenceText(
        text=text,
        context=chunk.context,
        lines=lines,
        sections=chunk.section_path,
        source=chunk.document_id,
    )


def lines_of(text: str) -> tuple[TableLine, ...]:
    """Rows of plain text: lines with tabs. Heads are the unlabelled rows above the first labelled row, a first
    labelled row of only years or words or one after a line without values, and any unlabelled row of only
    years or words. A head with one cell fewer than a row has none over the labels. A line without values in a
    table opens a group; one after a blank line starts another table.
    """
    lines: list[TableLine] = []
    heads: list[list[str]] = []
    bare: list[str] = []  # lines without values since the last row
    group = title = ""
    body = blank = headed = False
    for line in text.split("\n"):
        if not line.strip():
            blank = True
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells[1:]):
            if blank:
                heads, body = [], False
            bare.append(cells[0])
            blank = False
            continue
        blank = False
        named = any(head[0] for head in heads)
        if _is_head(cells[1:]):
            opens = not cells[0] or bool(bare) or not (body or named)
        else:
            opens = not cells[0] and not body
        if bare and (opens or not (heads or body or headed)):
            group, title = "", _title(bare)
        elif bare:
            group = " \u203a ".join(bare)
        if opens:
            heads = [cells] if body or bare else [*heads, cells][-_HEAD_ROWS:]
            body, headed, bare = False, True, []
            continue
        bare = []
        body = True
        over = _over(heads, len(cells))
        lines.append(
            TableLine(
                label=cells[0],
                cells=tuple(
                    (cell, over[index] if index < len(over) else "")
                    for index, cell in enumerate(cells[1:])
                    if cell
                ),
                group=group,
                title=title,
            )
        )
    return tuple(lines)


def blank_struck_out(text: str) -> str:
    """``text``, of the same length, with spaces in place of struck-out text and of the text after an
    unticked box."""
    return _UNSAID.sub(lambda match: re.sub(r"\S", " ", match.group()), text)


_BOX = r"\[[xX ]\]|[\u2610-\u2612]"
_UNSAID = re.compile(
    r"~~(?=\S)[^~\n]{1,500}~~|<((?i:del|strike))>[^<]{1,500}</\1>"
    # A box in a list or before a capital or digit: "[ ] is a list" is prose.
    rf"|(?:^[ \t]*[-*+][ \t]+\[ \]|\[ \](?=[ \t]+[A-Z0-9])|\u2610)(?:(?!{_BOX})[^\n])*",
    re.MULTILINE,
)


def _tabbed(text: str) -> str:
    """``text``, of the same length, with tabs for the pipes of its Markdown tables: a row above "|---|---|"
    and the rows below. The line of dashes becomes spaces at the end of the row above."""
    lines: list[str] = []
    within = False
    for line in text.split("\n"):
        if within and "|" in line:
            lines.append(_tabbed_row(line))
        elif lines and not within and _is_rule(line) and _tabs(line) == _tabs(lines[-1]):
            lines[-1] = _tabbed_row(lines[-1]) + " " * (1 + len(line))
            within = True
        else:
            lines.append(line)
            within = False
    return "\n".join(lines)


def _tabbed_row(line: str) -> str:
    row = re.sub(r"(?<!\\)\|", "\t", line.replace("\t", " "))
    if row.lstrip(" ").startswith("\t"):
        row = row.replace("\t", " ", 1)
    if row.rstrip(" \r").endswith("\t"):
        last = row.rindex("\t")
        row = f"{row[:last]} {row[last + 1 :]}"
    return row


def _tabs(line: str) -> int:
    return _tabbed_row(line).count("\t")


def _is_rule(line: str) -> bool:
    return "|" in line and "-" in line and not line.strip("|:- \t\r")


def _is_head(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell]
    years = [cell for cell in filled if re.search(r"\b(?:19|20)\d\d\b", cell)]
    wordy = [cell for cell in filled if not re.search(r"\d", cell) and not _NO_VALUE.fullmatch(cell)]
    return bool(filled) and (len(years) == len(filled) or len(wordy) == len(filled))


def _over(heads: list[list[str]], width: int) -> list[str]:
    """The heads over the values of a row of ``width`` cells, including its label."""
    aligned = [["", *head] if head[0] and len(head) + 1 == width else head for head in heads]
    return joined_heads(aligned)[1:]


def _title(bare: list[str]) -> str:
    return "\n".join(line for line in bare[-_TITLE_LINES:] if len(line) <= _TITLE_LIMIT)


def table_line(row: Row, text: str, offset: int = 0) -> TableLine:
    """A reader's row as text; ``offset`` is the start of ``text`` in the document."""
    return TableLine(
        label=row.label,
        cells=tuple((text[max(0, c.start - offset) : max(0, c.end - offset)], c.head) for c in row.cells),
        group=row.group,
    )


ANSWER = "answer"
KINDS = ("sentence", "text", "table", ANSWER)
_RECORD = re.compile(r"(?=.{0,62}?: ).*?: (?P<value>.*)")
_FEWEST = 4  # minimum words of a sentence; fewer are a value, even with a full stop ("Founded: 1964.")


def pair_kind(premise: str, claim: str) -> str:
    """``answer`` for a claim that answers a question with yes or no, else the kind of source."""
    return ANSWER if says_yes_or_no(claim) else source_kind(premise)


def source_kind(premise: str) -> str:
    """``table`` (mostly rows of cells or "name: value"), ``sentence`` (at most one) or ``text``."""
    rows, prose = split_rows(premise)
    if len(rows) >= 2 and len(rows) >= len(prose):
        return "table"
    return "sentence" if len(sentence_spans(premise)) <= 1 else "text"


def split_rows(premise: str) -> tuple[list[str], list[str]]:
    """(rows of cells or "name: value", other lines), each in order."""
    parts: tuple[list[str], list[str]] = [], []
    for line in filter(str.strip, premise.splitlines()):
        parts["\t" not in line and not _is_record(line)].append(line)
    return parts


def _is_record(line: str) -> bool:
    """Whether the line is "name: value"; a sentence after a label is prose."""
    record = _RECORD.match(line)
    value = record["value"].rstrip() if record else ""
    return bool(value) and not (value.endswith((".", "!", "?")) and len(value.split()) >= _FEWEST)
