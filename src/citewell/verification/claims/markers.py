"""Citation markers in an answer: found, parsed and removed, with a map back to every character.

In: text as written. Out: the same text without markers, the markers with the labels they name,
and the original offset of each clean character. Understands ``[src:ID]``, ``[src:A,B]``,
``[SOURCE_N]``, ``[n]``, ``[1-3]``, ``[^1]``, ``[inference]``, full-width brackets, and an
``[ID]`` known to the caller. Markdown links, reference definitions, inline code and fenced program
code are left alone. Independent of sentences.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from citewell.core.errors import UsageError
from citewell.core.records import Record


class Marker(Record, frozen=True, kw_only=True):
    """``[start, end)`` in the original, ``at`` in the clean text; ``labels`` as written, in order.

    An inference names no source; ``note`` is its reasoning.
    """

    start: int
    end: int
    at: int
    labels: tuple[str, ...] = ()
    inference: bool = False
    note: str = ""


class Marked(Record, frozen=True, kw_only=True):
    """``offsets[i]`` is the position of clean character i in ``raw``, plus one entry for the end."""

    raw: str
    text: str
    markers: tuple[Marker, ...]
    offsets: array[int]

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """The original range of clean ``[start, end)``, excluding markers that only touch it."""
        if start >= end:
            place = self.offsets[start]
            return place, place
        return self.offsets[start], self.offsets[end - 1] + 1


_OPEN, _CLOSE = r"[\[【［〔〖]", r"[\]】］〕〗]"
_RANGE = r"\^?\d{1,3}(?:\s*[-\u2010-\u2015~]\s*\^?\d{1,3})?"
_ITEM = rf"(?:(?:SOURCES?|DOC(?:UMENT)?S?|PASSAGES?|REFS?|ID)[\s_:#-]*)?{_RANGE}"
_BRACKET = re.compile(rf"{_OPEN}(?P<body>[^\[\]【】［］〔〕〖〗]{{1,400}}){_CLOSE}")
_SRC = re.compile(r"\s*(?:src|sources?|cite|citation)\s*[:=]\s*(?P<ids>\S.*)", re.IGNORECASE | re.DOTALL)
_NUMBERS = re.compile(rf"\s*{_ITEM}(?:\s*[,;&]\s*{_ITEM})*\s*", re.IGNORECASE)
_DAGGER = re.compile(r"\s*(?P<index>\d+(?::\d+)?)\s*†\s*(?P<name>[^†]*?)\s*(?:†.*)?", re.DOTALL)
_INFERENCE = re.compile(r"\s*inference\s*(?::\s*(?P<note>.*?))?\s*", re.IGNORECASE | re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*$", re.MULTILINE)
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)([^\n]{1,2000}?)(?<!`)\1(?!`)")
_PROSE_FENCES = frozenset({"", "text", "txt", "plaintext", "markdown", "md", "answer", "quote"})
# Unindented prose of at least four words, without any code symbol.
_SENTENCE = re.compile(r"[A-Z\d\u201c][^\s=(){}<>;|\\_]*(?:\s+[^\s=(){}<>;|\\_]+){3,}\s*")
_COMMENT = re.compile(r"\"\"\"|'''|/\*|\*/")
_ADDRESS = re.compile(r"\((?:https?:|mailto:|/|#|\.|www\.|\w{1,99}\.\w)")
_DEFINITION = re.compile(r":\s{0,99}(?:<|https?:|www\.|/)")
_LINK_TEXT = 1_000  # maximum characters of link text
MOST_CITATIONS = 10_000
_MOST = 200  # maximum sources in a range; a longer one is a typo, kept as its two ends


def read_markers(raw: str, known: Sequence[str] = ()) -> Marked:
    """Markers of ``raw`` and the text without them; ``known`` ids may appear in brackets without a prefix.

    Raises UsageError for more than MOST_CITATIONS citations.
    """
    code = _Code(code_ranges(raw))
    ids = frozenset(known)
    pieces: list[str] = []
    offsets = array("L")
    markers: list[Marker] = []
    position = cited = 0

    def keep(start: int, end: int) -> None:
        pieces.append(raw[start:end])
        offsets.extend(range(start, end))

    for match in _BRACKET.finditer(raw):
        read = None if _left_alone(raw, match, code) else _read(match["body"], ids)
        if read is None:
            continue
        labels, inference, note = read
        cited += len(labels)
        if cited > MOST_CITATIONS:
            raise UsageError(
                f"the answer has more than {MOST_CITATIONS:,} citations", hint="check the answer in parts"
            )
        stop = match.start()
        # Remove the space before a marker too if white space or punctuation follows.
        after = raw[match.end() : match.end() + 1]
        if not after or after.isspace() or after in ".,;:!?)[【［":
            while stop > position and raw[stop - 1] in " \t\u00a0":
                stop -= 1
        keep(position, stop)
        markers.append(
            Marker(
                start=match.start(), end=match.end(), at=len(offsets), labels=labels, inference=inference,
                note=note,
            )
        )  # fmt: skip
        position = match.end()
    keep(position, len(raw))
    offsets.append(len(raw))
    return Marked(raw=raw, text="".join(pieces), markers=tuple(markers), offsets=offsets)


def resolve_label(label: str, ids: Sequence[str]) -> str | None:
    """The id that ``label`` names: itself, itself without white space, or the n-th of ``ids``.

    None if nothing matches: an invalid citation is never turned into a valid one.
    """
    if label in ids:
        return label
    squeezed = re.sub(r"\s+", "", label)
    same = _squeezed(tuple(ids)).get(squeezed, [])
    if len(same) == 1:
        return same[0]
    if numbered := re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?(?:†(.*))?", squeezed):
        first, second, name = numbered.groups()
        named = [known for known in ids if name and known == name]
        if named:
            return named[0]
        if 1 <= int(first) <= len(ids):
            return ids[int(first) - 1]
        # 【6:0†source】: the writer's turn first, then the source (from 0).
        if second is not None and int(second) < len(ids):
            return ids[int(second)]
    if numbered := re.fullmatch(r"(?i)(?:source|src|s|doc|document|passage)[_-]?(\d{1,9})", squeezed):
        number = int(numbered[1])
        return ids[number - 1] if 1 <= number <= len(ids) else None
    return None


@lru_cache(maxsize=8)
def _squeezed(ids: tuple[str, ...]) -> dict[str, list[str]]:
    """Ids without white space -> the original ids."""
    found: dict[str, list[str]] = {}
    for known in ids:
        found.setdefault(re.sub(r"\s+", "", known), []).append(known)
    return found


def code_ranges(raw: str) -> list[tuple[int, int, str]]:
    """Fences and code: ``(start, end, kind)`` with kind ``fence`` (its line), ``code`` or ``inline``.
    Sentences in a fence are not code, whatever language it names."""
    found: list[tuple[int, int, str]] = []
    fences = list(_FENCE.finditer(raw))
    index = 0
    while index < len(fences):
        opening = fences[index]
        close = next(
            (at for at in range(index + 1, len(fences)) if _closes(fences[at], opening)),
            None,
        )
        closing = None if close is None else fences[close]
        found.append((opening.start(), opening.end(), "fence"))
        if opening[2].lower() not in _PROSE_FENCES:
            stop = closing.start() if closing else len(raw)
            found += [(start, end, "code") for start, end in _program(raw, opening.end(), stop)]
        if close is None or closing is None:
            break
        found.append((closing.start(), closing.end(), "fence"))
        index = close + 1
    fenced = _Code(found)
    found += [
        (match.start(), match.end(), "inline")
        for match in _INLINE_CODE.finditer(raw)
        if not fenced.meets(match.start(), match.end())
    ]
    return sorted(found)


def _closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    return fence[1][0] == opening[1][0] and not fence[2] and len(fence[1]) >= len(opening[1])


class _Code:
    """Non-overlapping ranges, looked up by offset."""

    def __init__(self, ranges: Sequence[tuple[int, int, str]]) -> None:
        self._ranges = sorted(ranges)
        self._starts = [start for start, _, _ in self._ranges]

    def at(self, place: int) -> tuple[int, int, str] | None:
        """The range that contains ``place``, or None."""
        index = bisect_right(self._starts, place) - 1
        return self._ranges[index] if index >= 0 and place < self._ranges[index][1] else None

    def meets(self, start: int, end: int) -> bool:
        index = bisect_left(self._starts, end) - 1
        return index >= 0 and self._ranges[index][1] > start


def _program(raw: str, start: int, end: int) -> list[tuple[int, int]]:
    """The code in a fence, excluding lines that are sentences (prose labelled as code only by the fence)."""
    found: list[tuple[int, int]] = []
    comment = False
    for line in re.finditer(r"[^\n]*\n?", raw[start:end]):
        bare = _BRACKET.sub("", line.group()).rstrip()
        prose = not comment and bare.endswith((".", "!", "?")) and _SENTENCE.fullmatch(bare)
        comment ^= len(_COMMENT.findall(line.group())) % 2 == 1
        if prose:
            continue
        place = start + line.start(), start + line.end()
        if found and found[-1][1] == place[0]:
            place = found.pop()[0], place[1]
        found.append(place)
    return [(low, high) for low, high in found if high > low]


def _left_alone(raw: str, match: re.Match[str], code: _Code) -> bool:
    start, end = match.span()
    if held := code.at(start):
        # A marker alone in backticks, `[1]`, is still a marker.
        low, high, kind = held
        if kind != "inline" or raw[low:high].strip("` ") != match.group():
            return True
    if raw[start] == "[" and _ADDRESS.match(raw, end):
        return True
    if _DEFINITION.match(raw, end):
        return True
    # "[Nike][1]" is a reference link; "[1][2]" are two markers.
    if start and raw[start - 1] == "]":
        opened = raw.rfind("[", max(0, start - _LINK_TEXT), start - 1)
        words = raw[opened + 1 : start - 1] if opened >= 0 else ""
        return bool(words) and "]" not in words and _read(words, frozenset()) is None and words.strip() != "x"
    return False


def _read(body: str, known: frozenset[str]) -> tuple[tuple[str, ...], bool, str] | None:
    """(labels, inference, note) of a bracket's contents; None if it is not a marker."""
    stripped = body.strip()
    if stripped in known:
        return (stripped,), False, ""
    if match := _INFERENCE.fullmatch(body):
        return (), True, (match["note"] or "").strip()
    if match := _DAGGER.fullmatch(body):
        name = match["name"].strip()
        return (f"{match['index']}†{name}" if name else match["index"],), False, ""
    if _NUMBERS.fullmatch(body):
        return tuple(dict.fromkeys(_expand(body))), False, ""
    if match := _SRC.fullmatch(body):
        parts = (re.sub(r"(?<!\s)\s*\n\s*", "", part).strip() for part in re.split(r"[,;]", match["ids"]))
        labels = [re.sub(r"(?i)^(?:src|source)\s*[:=]\s*", "", part).strip("\"' ") for part in parts if part]
        return (tuple(dict.fromkeys(label for label in labels if label)), False, "") if labels else None
    if known:
        several = [part.strip() for part in re.split(r"[,;]", body)]
        if all(part in known for part in several):
            return tuple(dict.fromkeys(several)), False, ""
    return None


def _expand(body: str) -> list[str]:
    labels: list[str] = []
    for item in re.split(r"[,;&]", body):
        numbers = [int(number) for number in re.findall(r"\d+", item)]
        if len(numbers) == 2 and numbers[0] <= numbers[1] <= numbers[0] + _MOST:
            labels += [str(number) for number in range(numbers[0], numbers[1] + 1)]
        else:
            labels += [str(number) for number in numbers]
    return labels
