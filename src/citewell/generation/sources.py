"""Passages as numbered source blocks, and the way back from a label to the passage it stands for.

In: passages, most relevant first. Out: blocks for a prompt; for a label that a model wrote, the id of the
passage. Text of a source cannot close its block, open another or pass for a chat border: such marks lose
their bracket, invisible characters go, and both are told. Knows nothing about models or prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from citewell.ports import SourceText
from citewell.prompts.loading import load_prompt
from citewell.records import Passage

BLOCK = load_prompt("writer_source", ("label", "title", "author", "date", "content"))
MOST_SOURCES = 10
_LONGEST_TITLE = 400

# Zero-width and tag characters, direction overrides: nobody reads them, a model does.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_OPENING = r"[\[\u3010\uff3b\u3014\u3016\u27e6]"
_BORDER = re.compile(rf"{_OPENING}(?=\s*(?:/|\\)?\s*SOURCES?[\s_:#.-]*(?:\d|/|\]))", re.IGNORECASE)
_CLOSING = re.compile(rf"{_OPENING}(?=\s*[/\\]\s*SOURCE)", re.IGNORECASE)
_CHAT = re.compile(
    r"<(?=[|\uff5c][^|\uff5c>\n]{1,40}[|\uff5c]>|/?s>|/?(?:start|end)_of_turn>|<SYS>>|/?think>|/?(?:system|user|assistant)>)"
    r"|\[(?=/?INST\])",
    re.IGNORECASE,
)
_INLINE_LABEL = re.compile(r"(\[[^\[\]\n]*\])|\b(?:SOURCE[_ ]|Source )(\d{1,2})\b")


class Sources:
    """At most ``most`` passages, labelled SOURCE_1 and so on in their order."""

    def __init__(self, passages: Sequence[Passage], most: int = 8) -> None:
        self.passages = tuple(passages[: min(most, MOST_SOURCES)])
        self.left_out = len(passages) - len(self.passages)
        self.notes: list[str] = []
        if self.left_out > 0:
            self.notes.append(f"{self.left_out} passages did not fit into {len(self.passages)} source blocks")

    @cached_property
    def blocks(self) -> str:
        """Every block, most relevant first."""
        made = []
        for number, passage in enumerate(self.passages, 1):
            chunk = passage.chunk
            content, changed = defuse(chunk.content)
            if changed:
                self.notes.append(f"{chunk.document_id}: {changed}")
            made.append(
                BLOCK.fill(
                    label=f"SOURCE_{number}",
                    title=_line(_title(passage)),
                    author=_line(chunk.author),
                    date=_line(chunk.published_at),
                    content=content.strip("\n"),
                )
            )
        return "\n".join(made)

    @cached_property
    def texts(self) -> tuple[SourceText, ...]:
        """The same for a provider that takes sources apart from the prompt: contents to the character, so
        that its pointers are offsets into them."""
        return tuple(
            SourceText(
                title=_line(_title(passage)),
                context=_line(
                    ", ".join(part for part in (passage.chunk.author, passage.chunk.published_at) if part)
                ),
                text=passage.chunk.content,
            )
            for passage in self.passages
        )

    def resolve(self, label: str) -> str:
        """The chunk id that ``label`` stands for: a number, a chunk id, or the id of a document.

        A label that no source has stays unresolvable, in words: it is never bent into one that is there.
        """
        bare = re.sub(r"\s+", "", label).strip("[]\u3010\u3011\"'")
        for passage in self.passages:
            if bare in (passage.chunk.chunk_id, re.sub(r"\s+", "", passage.chunk.document_id)):
                return passage.chunk.chunk_id
        numbered = re.fullmatch(r"(?i)(?:source|src|s|doc|document|passage)?[_:#-]?(\d{1,3})", bare)
        if numbered and 1 <= int(numbered[1]) <= len(self.passages):
            return self.passages[int(numbered[1]) - 1].chunk.chunk_id
        return f"none of the {len(self.passages)} sources given: {label.strip()[:80]}"

    def named(self, text: str) -> str:
        """``text`` with labels that stand in its words ("SOURCE_2 says") as the ids of their documents."""
        return _INLINE_LABEL.sub(lambda match: match[1] or self._name(match), text)

    def _name(self, match: re.Match[str]) -> str:
        number = int(match[2])
        if 1 <= number <= len(self.passages):
            return self.passages[number - 1].chunk.document_id
        return match[0]


def defuse(text: str) -> tuple[str, str]:
    """``text`` as it may stand in a block, and what was changed, in words ("" for nothing)."""
    told = []
    seen = _INVISIBLE.sub("", text)
    if seen != text:
        told.append("invisible characters were taken out of its block")
    marked = _CLOSING.sub("(", _BORDER.sub("(", seen))
    if marked != seen:
        told.append("source marks in its text lost their bracket")
    plain = _CHAT.sub(lambda match: f"{match[0]} ", marked)
    if plain != marked:
        told.append("chat marks in its text were broken")
    return plain, "; ".join(told)


def _title(passage: Passage) -> str:
    """Where the passage stands: title, sections, table heads and units, in one line."""
    chunk = passage.chunk
    place = "; ".join(line.strip() for line in chunk.context.split("\n") if line.strip())
    page = f", page {chunk.page}" if chunk.page is not None else ""
    return f"{place or chunk.title or chunk.document_id}{page}"


def _line(text: str) -> str:
    return " ".join(defuse(text)[0].split())[:_LONGEST_TITLE]
