"""An answer -> its claims, and a classification of every character.

In: text, with or without markers. Out: :class:`ParsedAnswer`: pieces that cover the text in order without
gaps or overlaps, and claims, each with its span, the labels it cites and the sentence its pronouns refer to.
A claim is a sentence, a list item or a table row. Its markers apply to all of it; those of a list's
lead-in apply to items without markers of their own.
Independent of sources.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from citewell.core.records import Record
from citewell.core.sentences import line_span, sentence_spans
from citewell.verification.claims.markers import Marked, Marker, code_ranges, read_markers
from citewell.verification.claims.pieces import PieceKind, TextLine, frame_length, piece_kind, read_lines
from citewell.verification.claims.statements import lead_statement, makes_statement
from citewell.verification.words import is_finite

__all__ = ["AnswerPiece", "ParsedAnswer", "ParsedClaim", "PieceKind", "parse_answer"]


class AnswerPiece(Record, frozen=True, kw_only=True):
    start: int
    end: int
    kind: PieceKind


class ParsedClaim(Record, frozen=True, kw_only=True):
    """``[start, end)`` in the original answer. ``labels`` as written, empty if nothing is cited.
    ``antecedent``: the preceding text the claim refers to ("It", "The company"), back to a sentence without
    a pronoun; "" if the claim is self-contained."""

    text: str
    start: int
    end: int
    labels: tuple[str, ...] = ()
    inference: bool = False
    note: str = ""
    antecedent: str = ""
    fragment: bool = False


class ParsedAnswer(Record, frozen=True, kw_only=True):
    """``pieces`` cover ``raw``; ``text`` is ``raw`` without markers. ``cited``: each label as often as the
    answer cites it; a list of sources at the end does not count."""

    raw: str
    text: str
    pieces: tuple[AnswerPiece, ...]
    claims: tuple[ParsedClaim, ...]
    cited: tuple[str, ...]
    abstains: bool


class _Stretch(Record, frozen=True, kw_only=True):
    """A stretch of the clean text: a sentence, or something that is not a claim."""

    start: int
    end: int
    kind: PieceKind
    line: TextLine


_LEANING = re.compile(
    r"^(?:(?:however|moreover|furthermore|additionally|also|then|later|in addition|consequently),?\s+)?"
    r"(?:it|he|she|they|this|these|those|such|both|its|his|her|their|the (?:company|firm|group|"
    r"team|former|latter|author|study|report))\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|its|he|him|his|she|her|they|them|their)\b", re.IGNORECASE)
_MOST_BEHIND = 1_000  # characters: pronouns in every sentence must not make antecedents grow without limit
_MOST_LEAD = 300
"""Maximum characters of a lead-in copied into its items: repeating a longer one is quadratic."""


def parse_answer(raw: str, known: Sequence[str] = ()) -> ParsedAnswer:
    """Claims and pieces of ``raw``. ``known`` ids may appear in brackets without a prefix."""
    marked = read_markers(raw, known)
    stretches = _stretches(marked)
    owners = _owners(marked, stretches)
    owned: dict[int, list[Marker]] = {}
    for marker, owner in zip(marked.markers, owners, strict=True):
        owned.setdefault(owner, []).append(marker)
    claims: list[ParsedClaim] = []
    taken: list[AnswerPiece] = []
    lead, behind, paragraph = "", "", -1
    lead_labels: tuple[str, ...] = ()
    for index, stretch in enumerate(stretches):
        markers = owned.get(index, [])
        if stretch.line.paragraph != paragraph:
            behind, paragraph = "", stretch.line.paragraph
        if not stretch.line.item:
            lead, lead_labels = "", ()
        told = ""
        if stretch.kind is PieceKind.LEAD_IN:
            lead = _plain(marked.text, stretch.start, stretch.end)[0].rstrip(": ")
            lead = "" if len(lead) > _MOST_LEAD or piece_kind(lead) or piece_kind(lead + ":") else lead
            lead_labels = tuple(label for marker in markers for label in marker.labels)
            told = "" if _carried(marked, stretches, index + 1) else lead_statement(lead)
        if stretch.kind is not PieceKind.CLAIM and not told:
            start, end = marked.raw_span(stretch.start, stretch.end)
            taken.append(AnswerPiece(start=start, end=end, kind=stretch.kind))
            continue
        plain, way = _plain(marked.text, stretch.start, stretch.end)
        plain = plain[: len(told)] if told else plain
        first, last = len(plain) - len(plain.lstrip()), len(plain) - 1
        start, end = marked.raw_span(way[min(first, last)], way[last] + 1)
        labels = tuple(dict.fromkeys(label for marker in markers for label in marker.labels))
        text, antecedent, fragment = _standing(plain.strip(), stretch.line, "" if told else lead, behind)
        claims.append(
            ParsedClaim(
                text=text, start=start, end=end, labels=labels or lead_labels,
                inference=any(marker.inference for marker in markers),
                note=" ".join(marker.note for marker in markers if marker.note),
                antecedent=antecedent, fragment=fragment,
            )
        )  # fmt: skip
        taken.append(AnswerPiece(start=start, end=end, kind=PieceKind.CLAIM))
        behind = _with_antecedent(plain, behind)
    return ParsedAnswer(
        raw=raw, text=marked.text, pieces=_cover(marked, taken), claims=tuple(claims),
        cited=tuple(
            label
            for marker, owner in zip(marked.markers, owners, strict=True)
            if owner < 0 or stretches[owner].kind is not PieceKind.REFERENCES
            for label in marker.labels
        ),
        abstains=any(piece.kind is PieceKind.ABSTENTION for piece in taken),
    )  # fmt: skip


def _stretches(marked: Marked) -> list[_Stretch]:
    places = [marker.at for marker in marked.markers]
    fenced = [found for found in code_ranges(marked.text) if found[2] != "inline"]
    lines = read_lines(marked.text, fenced, places)
    stretches: list[_Stretch] = []
    substantial = sum(line.kind is PieceKind.CLAIM for line in lines)
    for number, line in enumerate(lines):
        if line.kind is not PieceKind.CLAIM:
            stretches.append(_Stretch(start=line.start, end=line.end, kind=line.kind, line=line))
            continue
        text = marked.text[line.start : line.end]
        # read_lines has joined wrapped lines; a line break inside counts as a space.
        spans = sentence_spans(text.replace("\n", " ").replace("\t", " "))
        for at, (start, end) in enumerate(spans):
            sentence = text[start:end]
            kind = piece_kind(sentence) or PieceKind.CLAIM
            at_end = bisect_right(places, line.start + end)
            cited = at_end > 0 and places[at_end - 1] > line.start + start
            if cited and kind is PieceKind.QUESTION:
                kind = PieceKind.CLAIM
            last = at == len(spans) - 1
            if last and sentence.rstrip("*_ ").endswith(":") and kind in {PieceKind.CLAIM, PieceKind.META}:
                following = lines[number + 1 : number + 2]
                if following and (following[0].item or following[0].row):
                    kind = PieceKind.LEAD_IN
                elif kind is PieceKind.CLAIM and not (
                    cited
                    or makes_statement(sentence)
                    or any(is_finite(word) for word in sentence.lower().split())
                ):
                    kind = PieceKind.HEADING
            elif len(spans) == 1 and substantial > 1 and kind is PieceKind.CLAIM and not cited:
                kind = PieceKind.HEADING if _title(sentence, line) else kind
            stretches.append(_Stretch(start=line.start + start, end=line.start + end, kind=kind, line=line))
    return stretches


def _title(sentence: str, line: TextLine) -> bool:
    """A short line that states nothing, without a digit or closing punctuation."""
    words = sentence.split()
    return (
        not line.item
        and not line.row
        and len(words) <= 8
        and sentence[-1] not in ".!;,"
        and not any(letter.isdigit() for letter in sentence)
        and not any(is_finite(word.lower()) for word in words)
        and not makes_statement(sentence)
    )


def _owners(marked: Marked, stretches: list[_Stretch]) -> list[int]:
    """For each marker, the index of the stretch it applies to; -1 if there is none."""
    owners: list[int] = []
    with_trailing: set[int] = set()
    leading = _leading(marked)
    starts = [stretch.start for stretch in stretches]
    line = _RawLine(marked.raw, 0)
    for marker in marked.markers:
        at = bisect_left(starts, marker.at)
        owner, following = at - 1, at if at < len(starts) else -1
        if marker.start >= line.end:
            line = _RawLine(marked.raw, marker.start)
        opens_line = marker.start <= line.opens and marker.end <= line.last_letter
        if following >= 0 and leading and marked.text.find("\n", marker.at, starts[following]) < 0:
            owners.append(following)
            continue
        if following >= 0 and opens_line and starts[following] - marker.at <= 2:
            if owner < 0 or owner in with_trailing or stretches[following].line.item:
                owner = following
        elif owner >= 0:
            with_trailing.add(owner)
        owners.append(owner if owner >= 0 else following)
    return owners


class _RawLine:
    """The original line around ``place``: the offsets of its first character that is not part of a list mark
    or marker, and of its last alphanumeric character outside brackets."""

    def __init__(self, raw: str, place: int) -> None:
        start, self.end = line_span(raw, place)
        bare = _BRACKETS.sub(lambda found: " " * len(found.group()), raw[start : self.end])
        first = _NO_LIST_MARK.search(bare)
        self.opens = start + first.start() if first else self.end
        last = next((at for at in range(len(bare) - 1, -1, -1) if bare[at].isalnum()), -1)
        self.last_letter = start + last if last >= 0 else -1


_BRACKETS = re.compile(r"[\[【［][^\[【［\]】］]{0,400}[\]】］]")
_NO_LIST_MARK = re.compile(r"[^-*•>\s\d.)]")


def _leading(marked: Marked) -> bool:
    """Whether markers precede their sentences: one opens the answer and none closes it."""
    if not marked.markers:
        return False
    first, last = marked.markers[0], marked.markers[-1]
    opens = not any(letter.isalnum() for letter in marked.raw[: first.start])
    return opens and any(letter.isalnum() for letter in marked.raw[last.end :])


def _plain(text: str, start: int, end: int) -> tuple[str, list[int]]:
    """The stretch without emphasis marks, and each character's offset in the clean text."""
    letters: list[str] = []
    way: list[int] = []
    position = start
    while position < end:
        found = _EMPHASIS.match(text, position)
        if found and found.end() <= end:
            position = found.end()
            continue
        letters.append(" " if text[position] in "\n\t" else text[position])
        way.append(position)
        position += 1
    if not letters:
        return text[start:end], list(range(start, end))
    return "".join(letters), way


_EMPHASIS = re.compile(r"\*\*|__|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])|`+|(?<=\n)>\s?")


def _with_antecedent(sentence: str, behind: str) -> str:
    """``sentence``, preceded by its own antecedent."""
    leans = _PRONOUN.search(sentence) or _LEANING.match(sentence)
    return f"{behind[:_MOST_BEHIND]} {sentence.strip()}".strip() if leans else sentence.strip()


def _standing(text: str, line: TextLine, lead: str, behind: str) -> tuple[str, str, bool]:
    """(self-contained text, antecedent, whether it is a fragment without a verb). ``behind`` is the previous
    sentence with its own antecedent."""
    text = re.sub(r"(?<! ) +(?=[.,;:!?](?:\s|$))", "", text[frame_length(text) :])
    text = text[:1].upper() + text[1:] if text[:1].isalpha() and text[:2].islower() else text
    leaning = _LEANING.match(text)
    if line.row:
        return line.row_text or text, "", False
    if line.item and lead:
        return (text, lead if leaning else "", False) if _complete(text) else (f"{lead}: {text}", "", False)
    return text, behind if leaning else "", _fragment(text)


def _fragment(text: str) -> bool:
    """Whether the text has no finite verb."""
    return not any(is_finite(word.strip(".,;:()").lower()) for word in text.split())


def _complete(text: str) -> bool:
    """Whether an item needs no lead-in."""
    return len(text.split()) >= 4 and not _fragment(text)


def _carried(marked: Marked, stretches: Sequence[_Stretch], begin: int) -> bool:
    """Whether an item of the list starting at ``begin`` includes the lead-in in its claim (checked there)."""
    behind = (stretches[at] for at in range(begin, len(stretches)))
    own = itertools.takewhile(lambda one: one.line.item and one.kind is not PieceKind.LEAD_IN, behind)
    return any(
        one.kind is PieceKind.CLAIM and not _complete(_plain(marked.text, one.start, one.end)[0])
        for one in own
    )


def _cover(marked: Marked, taken: list[AnswerPiece]) -> tuple[AnswerPiece, ...]:
    """Fill the gaps between pieces: markers, white space, list marks."""
    pieces: list[AnswerPiece] = []
    position = 0
    for piece in [*sorted(taken, key=lambda p: (p.start, p.end)), None]:
        stop = piece.start if piece else len(marked.raw)
        if stop > position:
            pieces.extend(_between(marked, position, stop))
        if piece:
            start = max(piece.start, position)
            if piece.end > start:
                pieces.append(AnswerPiece(start=start, end=piece.end, kind=piece.kind))
            position = max(position, piece.end)
    return tuple(pieces)


def _between(marked: Marked, start: int, end: int) -> list[AnswerPiece]:
    pieces: list[AnswerPiece] = []
    position = start
    first = bisect_left(marked.markers, start, key=lambda marker: marker.start)
    behind = (marked.markers[at] for at in range(first, len(marked.markers)))
    inside = itertools.takewhile(lambda marker: marker.end <= end, behind)
    for marker in [*inside, None]:
        stop = marker.start if marker else end
        if stop > position:
            kind = PieceKind.SPACE if marked.raw[position:stop].isspace() else PieceKind.MARK
            pieces.append(AnswerPiece(start=position, end=stop, kind=kind))
        if marker:
            pieces.append(AnswerPiece(start=marker.start, end=marker.end, kind=PieceKind.MARKER))
            position = marker.end
    return pieces
