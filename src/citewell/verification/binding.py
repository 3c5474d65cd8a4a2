"""A claim and a text -> the shortest spans that support the claim: 3 to 30 tokens, exact offsets.

In: a claim, a document text and the range to search. Out: spans of that text, in order: one if it
suffices, several if sentences or cells are needed together. A claim quoted verbatim is bound to its
occurrence; a number in a table to its row's label and its cell; anything else to the sentences that contain
most of its words and numbers, cut to the decisive words. Selects spans without judging them:
:mod:`citewell.verification.verifier` decides whether they support the claim.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from citewell.core.records import Record, Row
from citewell.core.sentences import line_span, sentence_spans, token_spans, trimmed
from citewell.verification.cells import place_numbers
from citewell.verification.evidence import table_line
from citewell.verification.numbers import check_numbers
from citewell.verification.quantities import extract_quantities
from citewell.verification.verbatim import find_verbatim
from citewell.verification.words import content_words

Span = tuple[int, int]
Scorer = Callable[[Sequence[str]], list[float]]
"""Texts -> probability in [0, 1] that each supports the claim; used to choose among close candidates."""

_WORD = re.compile(r"[^\W_]+(?:[.,'\u2019-][^\W_]+)*%?")
_CANDIDATES = 3
_MOST_SPANS = 3
_SUPPORTS = 0.5  # support threshold: the remaining spans support the claim
_SLACK = 0.02  # below the threshold, the support a span must add to be cited with the others


class _Candidate(Record, frozen=True, kw_only=True):
    start: int
    end: int
    held: frozenset[str]
    numbers: frozenset[int]

    @property
    def weight(self) -> int:
        return len(self.held) + 2 * len(self.numbers)


def bind(
    claim: str,
    text: str,
    *,
    start: int = 0,
    end: int | None = None,
    rows: Sequence[Row] = (),
    context: str = "",
    score: Scorer | None = None,
    min_tokens: int = 3,
    max_tokens: int = 30,
) -> tuple[Span, ...]:
    """Spans of ``text[start:end]`` that support ``claim``; () if it shares no word or number with them.

    ``rows`` are the table rows in that range; ``score`` chooses between close candidate sentences.
    """
    end = len(text) if end is None else end
    region = text[start:end]
    if verbatim := find_verbatim(claim.strip().rstrip(".!"), region):
        span = (start + verbatim[0], start + verbatim[1])
        return (fit_span(text, *span, claim, min_tokens, max_tokens, low=start, high=end),)
    if cell := _cell_spans(claim, text, rows, context):
        return cell
    candidates = _candidates(claim, region, context)
    if not candidates:
        return ()
    wanted = frozenset(content_words(claim))
    chosen = [_best(candidates, region, score)]
    while len(chosen) < _MOST_SPANS:
        held = frozenset().union(*(c.held for c in chosen))
        numbers = frozenset().union(*(c.numbers for c in chosen))
        more = [c for c in candidates if c not in chosen and (c.numbers - numbers or len(c.held - held) >= 2)]
        if not more or (len(held) >= 0.8 * len(wanted) and not any(c.numbers - numbers for c in more)):
            break
        chosen.append(max(more, key=lambda c: (len(c.numbers - numbers), len(c.held - held), -c.start)))
    chosen = _needed(chosen, region, score)
    spans = sorted(
        fit_span(text, start + c.start, start + c.end, claim, min_tokens, max_tokens, low=start, high=end)
        for c in chosen
    )
    return tuple(dict.fromkeys(spans))


def fit_span(
    text: str, start: int, end: int, claim: str, min_tokens: int = 3, max_tokens: int = 30, *,
    low: int = 0, high: int | None = None,
) -> Span:  # fmt: skip
    """``[start, end)`` cut to ``max_tokens`` around the words it shares with ``claim``, or widened to
    ``min_tokens`` within its line and ``[low, high)``, at word boundaries."""
    start, end = trimmed(text, start, end)
    words = [(start + m.start(), start + m.end()) for m in _WORD.finditer(text[start:end])]
    counts = _token_counts(text[start:end], [(a - start, b - start) for a, b in words])
    if sum(counts) < min_tokens:
        return _widened(text, start, end, min_tokens, low, len(text) if high is None else high)
    if len(token_spans(text[start:end])) <= max_tokens or not words:
        return start, end
    wanted = set(content_words(claim))
    figures = {q.text.lower() for q in extract_quantities(claim)}
    gains = [
        2.0
        if any(ch.isdigit() for ch in text[a:b])
        and any(text[a:b].lower() in f or f in text[a:b].lower() for f in figures)
        else 1.0
        if wanted & set(content_words(text[a:b]))
        else 0.0
        for a, b in words
    ]
    best, best_gain, first = (0, 0), -1.0, 0
    total = gain = 0.0
    for last in range(len(words)):
        total += counts[last]
        gain += gains[last]
        while total > max_tokens and first < last:
            total -= counts[first]
            gain -= gains[first]
            first += 1
        # Of equal windows, prefer one that begins with a matching word: it reads best.
        if gain > best_gain + (0.0 if gains[first] else 0.5):
            best, best_gain = (first, last), gain
    return _closed(text, words[best[0]][0], words[best[1]][1], end, max_tokens)


def _closed(text: str, start: int, end: int, limit: int, max_tokens: int) -> Span:
    """Include the closing punctuation or percent sign that follows, if it still fits."""
    while (
        end < limit and text[end] in '.%)!?\u201d"' and len(token_spans(text[start : end + 1])) <= max_tokens
    ):
        end += 1
    while len(token_spans(text[start:end])) > max_tokens:
        shorter = text.rfind(" ", start, end)
        if shorter <= start:
            return start, end
        end = shorter
    return trimmed(text, start, end)


def _widened(text: str, start: int, end: int, min_tokens: int, low: int, high: int) -> Span:
    """Add whole words from the same line, after then before, until there are enough tokens."""
    line_start, line_end = line_span(text, start, end)
    line_start, line_end = max(low, line_start), min(high, line_end)
    while len(token_spans(text[start:end])) < min_tokens:
        after = _WORD.search(text, end, line_end)
        before = list(_WORD.finditer(text, line_start, start))
        if after:
            end = after.end()
        elif before:
            start = before[-1].start()
        else:
            break
    return start, end


def _token_counts(text: str, words: Sequence[Span]) -> list[int]:
    """Number of tokens in each word, including the punctuation after it."""
    starts = [start for start, _ in token_spans(text)]
    borders = [0, *(bisect_left(starts, start) for start, _ in words[1:]), len(starts)]
    return [end - start for start, end in pairwise(borders)] if words else []


def _candidates(claim: str, region: str, context: str) -> list[_Candidate]:
    wanted = frozenset(content_words(claim))
    found = []
    for start, end in sentence_spans(region):
        sentence = region[start:end]
        held = wanted & frozenset(content_words(sentence))
        numbers = frozenset(c.quantity.start for c in check_numbers(claim, sentence, context) if c.holds)
        if held or numbers:
            found.append(_Candidate(start=start, end=end, held=held, numbers=numbers))
    return sorted(found, key=lambda c: (-c.weight, c.start))


def _best(candidates: Sequence[_Candidate], region: str, score: Scorer | None) -> _Candidate:
    near = [c for c in candidates[:_CANDIDATES] if c.weight >= 0.5 * candidates[0].weight]
    if score is None or len(near) == 1:
        return candidates[0]
    support = dict(zip(near, score([region[c.start : c.end] for c in near]), strict=True))
    return max(near, key=lambda c: (support[c], c.weight, -c.start))


def _needed(chosen: list[_Candidate], region: str, score: Scorer | None) -> list[_Candidate]:
    """Drop candidates that add no number and that the rest support the claim equally well without
    (irrelevant citations: Gao et al. 2023, ALCE). The first choice stays."""
    if score is None or len(chosen) < 2:
        return chosen
    kept = list(chosen)
    for one in chosen[:0:-1]:
        rest = [c for c in kept if c is not one]
        if one.numbers - frozenset().union(*(c.numbers for c in rest)):
            continue
        with_it, without = score([_read_together(kept, region), _read_together(rest, region)])
        if without >= min(_SUPPORTS, with_it - _SLACK):
            kept = rest
    return kept


def _read_together(chosen: Sequence[_Candidate], region: str) -> str:
    return " ".join(region[c.start : c.end] for c in sorted(chosen, key=lambda c: c.start))


def _cell_spans(claim: str, text: str, rows: Sequence[Row], context: str) -> tuple[Span, ...]:
    """Label and cell of the row for each number of the claim found in the right place."""
    if not rows:
        return ()
    lines = [table_line(row, text) for row in rows]
    placements = [p for p in place_numbers(claim, lines, context) if not p.misplaced]
    if not placements:
        return ()
    spans: list[Span] = []
    for placement in placements:
        for row, line in zip(rows, lines, strict=True):
            if line.label != placement.label or (placement.cell, placement.head) not in line.cells:
                continue
            cell = row.cells[line.cells.index((placement.cell, placement.head))]
            at = row.label_start if row.label_start >= 0 else row.start
            whole = text.startswith(row.label, at)
            label = trimmed(text, *((at, at + len(row.label)) if whole else (row.start, cell.start)))
            spans += [span for span in (label, (cell.start, cell.end)) if span[1] > span[0]]
            break
    return tuple(sorted(dict.fromkeys(spans)))
