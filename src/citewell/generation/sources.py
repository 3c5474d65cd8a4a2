"""Passages as numbered source blocks, and the mapping from a label or a quote back to its passage.

In: passages, most relevant first. Out: blocks for a prompt; the passage id for a label that a model wrote;
the source's own words for a quote from a block. Source text cannot close its block, open another or imitate a
chat delimiter: such marks are broken and invisible characters removed, with a note. Independent of models and
prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from citewell.core.ports import SourceText
from citewell.core.prompts.loading import load_prompt
from citewell.core.records import Passage, Quote
from citewell.verification.verbatim import find_verbatim

BLOCK = load_prompt("writer_source", ("label", "title", "author", "date", "content"))
MOST_SOURCES = 10
_LONGEST_TITLE = 400

# Zero-width and tag characters, direction overrides: invisible to people but not to a model.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_OPENING = r"[\[\u3010\uff3b\u3014\u3016\u27e6]"
_BORDER = re.compile(rf"{_OPENING}(?=\s*(?:/|\\)?\s*SOURCES?[\s_:#.-]*(?:\d|/|\]))", re.IGNORECASE)
_CLOSING = re.compile(rf"{_OPENING}(?=\s*[/\\]\s*SOURCE)", re.IGNORECASE)
_CHAT = re.compile(
    r"<(?=[|\uff5c][^|\uff5c>\n]{1,40}[|\uff5c]>|/?s>|/?(?:start|end)_of_turn>|<SYS>>|/?think>|/?(?:system|user|assistant)>)"
    r"|\[(?=/?INST\])",
    re.IGNORECASE,
)
# "SOURCE_2", "source 2", "Document 2"; a list of numbers only after a plural: not "source 1, 3 trains".
_INLINE_LABEL = re.compile(
    r"([\[\u3010\uff3b][^\[\]\u3010\u3011\uff3b\uff3d\n]*[\]\u3011\uff3d])"
    r"|\b(?:source|document)(?:[_ -]?(\d{1,2})"
    r"|s[_ -]?(\d{1,2}(?:(?: ?, ?\d{1,2})* ?,? ?(?:and|or|&) ?\d{1,2}|(?: ?, ?\d{1,2})+(?=[).;]))?))"
    r"(?![\w%]|[.,:]\d)",
    re.IGNORECASE,
)


class LabelledSources:
    """At most ``most`` passages, labelled SOURCE_1 and so on, in order."""

    def __init__(self, passages: Sequence[Passage], most: int = 8) -> None:
        self.passages = tuple(passages[: min(most, MOST_SOURCES)])
        self.left_out = len(passages) - len(self.passages)
        self.notes: list[str] = []
        if self.left_out > 0:
            self.notes.append(f"{self.left_out} passages did not fit into {len(self.passages)} source blocks")
        shown = [sanitise_source(passage.chunk.content) for passage in self.passages]
        self._shown = [text for text, _ in shown]
        told = zip(self.passages, shown, strict=True)
        self.notes += [f"{p.chunk.document_id}: {changed}" for p, (_, changed) in told if changed]

    @cached_property
    def blocks(self) -> str:
        """Every block, most relevant first."""
        return "\n".join(
            BLOCK.fill(
                label=f"SOURCE_{number}",
                title=_line(_title(passage)),
                author=_line(passage.chunk.author),
                date=_line(passage.chunk.published_at),
                content=content.strip("\n"),
            )
            for number, (passage, content) in enumerate(zip(self.passages, self._shown, strict=True), 1)
        )

    @cached_property
    def texts(self) -> tuple[SourceText, ...]:
        """The same for a provider that takes sources separately from the prompt; :meth:`pointed` maps its
        pointers back."""
        return tuple(
            SourceText(
                title=_line(_title(passage)),
                context=_line(
                    ", ".join(part for part in (passage.chunk.author, passage.chunk.published_at) if part)
                ),
                text=content,
            )
            for passage, content in zip(self.passages, self._shown, strict=True)
        )

    def resolve(self, label: str) -> str:
        """The chunk id for ``label``: a number, a chunk id, or a document id.

        An unknown label yields a phrase that resolves to nothing: it is never coerced to an existing one.
        """
        bare = re.sub(r"\s+", "", label).strip("[]\u3010\u3011\"'")
        for passage in self.passages:
            if bare in (passage.chunk.chunk_id, re.sub(r"\s+", "", passage.chunk.document_id)):
                return passage.chunk.chunk_id
        numbered = re.fullmatch(r"(?i)(?:source|src|s|doc|document|passage)?[_:#-]?(\d{1,3})", bare)
        if numbered and 1 <= int(numbered[1]) <= len(self.passages):
            return self.passages[int(numbered[1]) - 1].chunk.chunk_id
        return f"none of the {len(self.passages)} sources given: {label.strip()[:80]}"

    def quoted(self, label: str, words: str) -> Quote:
        """A quote of ``words`` from the source ``label``, in the source's own words if its block had to alter
        them; otherwise unchanged."""
        source = self.resolve(label)
        for number, (passage, shown) in enumerate(zip(self.passages, self._shown, strict=True)):
            content = passage.chunk.content
            if passage.chunk.chunk_id != source or shown == content or find_verbatim(words, content):
                continue
            if place := find_verbatim(words, shown):
                return self._original(number, *place)
        return Quote(source=source, text=words)

    def holds(self, label: str, words: str) -> bool:
        """Whether the source ``label`` contains ``words``, in its own text or as its block shows it."""
        source = self.resolve(label)
        return any(
            find_verbatim(words, passage.chunk.content) or find_verbatim(words, shown)
            for passage, shown in zip(self.passages, self._shown, strict=True)
            if passage.chunk.chunk_id == source
        )

    def pointed(self, number: int, start: int, words: str) -> Quote:
        """A quote of ``words`` at ``start`` of ``texts[number]``; searched for if they are not there."""
        end = start + len(words)
        if start >= 0 and words and self._shown[number][start:end] == words:
            return self._original(number, start, end)
        return self.quoted(self.passages[number].chunk.chunk_id, words)

    def _original(self, number: int, start: int, end: int) -> Quote:
        """The source's words for ``[start, end)`` of a block, with offsets into the document."""
        chunk = self.passages[number].chunk
        places = _places(chunk.content, self._shown[number])
        first, last = places[start], places[end - 1] + 1
        return Quote(
            source=chunk.chunk_id,
            text=chunk.content[first:last],
            start=chunk.start_offset + first,
            end=chunk.start_offset + last,
        )

    def named(self, text: str) -> str:
        """``text`` with labels in its prose ("SOURCE_2 says", "Sources 1 and 2") replaced by document ids.
        Words that a source itself contains ("Source 2 emissions") are no label."""
        return _INLINE_LABEL.sub(lambda match: match[1] or self._names(match), text)

    def _names(self, match: re.Match[str]) -> str:
        numbers = [int(number) for number in re.findall(r"\d+", match[2] or match[3])]
        own = any(find_verbatim(match[0], passage.chunk.content) for passage in self.passages)
        if own or not all(1 <= number <= len(self.passages) for number in numbers):
            return match[0]
        names = list(dict.fromkeys(self.passages[number - 1].chunk.document_id for number in numbers))
        return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def sanitise_source(text: str) -> tuple[str, str]:
    """``text`` made safe for a block, and a description of the changes ("" for none)."""
    told = []
    seen = _INVISIBLE.sub("", text)
    if seen != text:
        told.append("invisible characters were removed from its block")
    marked = _CLOSING.sub("(", _BORDER.sub("(", seen))
    if marked != seen:
        told.append("source markers in its text lost their brackets")
    plain = _CHAT.sub(lambda match: f"{match[0]} ", marked)
    if plain != marked:
        told.append("chat delimiters in its text were defused")
    return plain, "; ".join(told)


def _places(text: str, shown: str) -> list[int]:
    """For each character of ``shown``, which is ``text`` defused, its offset in ``text``."""
    places: list[int] = []
    at = 0
    for letter in shown:
        while _INVISIBLE.match(text, at):
            at += 1
        places.append(at)
        # A blank where ``text`` has none was inserted after a bracket.
        if letter != " " or text[at : at + 1] == " ":
            at += 1
    return places


def _title(passage: Passage) -> str:
    """The passage's location: title, sections, table heads and units, in one line."""
    chunk = passage.chunk
    place = "; ".join(line.strip() for line in chunk.context.split("\n") if line.strip())
    page = f", page {chunk.page}" if chunk.page is not None else ""
    return f"{place or chunk.title or chunk.document_id}{page}"


def _line(text: str) -> str:
    return " ".join(sanitise_source(text)[0].split())[:_LONGEST_TITLE]
