"""Numbers written in words: "twelve percent", "two thirds", "half of", "the third quarter", "Q3".

In: text. Out: quantities as they are written, in order. "One" is a number only where something is counted.
Knows nothing about digits, dates or ranges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from citewell.verification.quantity import PERCENT, WORD, Form, Quantity, plain, scale_after
from citewell.verification.units import (
    CENTS,
    CURRENCIES,
    DENOMINATORS,
    GLYPHS,
    ONES,
    ORDINALS,
    SCALES,
    TENS,
    UNITS,
)

_ONE = "|".join(sorted(ONES, key=len, reverse=True))
_TEN = "|".join(TENS)
_SUB100 = rf"(?:(?:{_TEN})(?:[ -](?:{_ONE})\b)?|{_ONE})"
_SUB1000 = rf"(?:{_SUB100}|an?(?=[ -](?:hundred|thousand|million|billion|trillion|dozen)\b))"
_BIG = r"(?:hundred|thousand|million|billion|trillion|dozen)"
_SPELLED = re.compile(
    rf"\b{_SUB1000}\b(?:[ -]{_BIG}\b(?:,? (?:and )?{_SUB1000}\b)?){{0,9}}(?![-'\u2019]?\w)", re.IGNORECASE
)
_FRACTION = re.compile(
    rf"\b(?P<top>{_ONE}|an?|\d{{1,12}})[ -](?P<bottom>{'|'.join(DENOMINATORS)})\b"
    rf"(?! (?:of (?:fiscal |FY)?(?:19|20)\d\d|quarter|place))"
    rf"|\b(?P<half>half)\b(?: an?(?= (?:million|billion|dozen)\b))?"
    rf"(?= (?:of|an?|the|its|their|as|million|billion|dozen)\b)"
    rf"|(?P<glyph>(?<!\d)\d{{0,12}}[{''.join(GLYPHS)}])"
    rf"|(?<![\d/.,])(?<!\d )(?P<x>\d{{1,3}})/(?P<y>\d{{1,3}})(?![\d/]|,\d)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(rf"\b(?:(?P<ten>{_TEN})[ -])?(?P<word>{'|'.join(ORDINALS)})\b", re.IGNORECASE)
_QUARTER = re.compile(r"\b(?:Q(?P<a>[1-4])|(?P<b>[1-4])Q)(?=\b|['\u2019]?\d\d)", re.IGNORECASE)
_BEYOND = 10**24  # "a trillion trillion": nobody counts so far in words
_BESIDE = 32  # characters beside a number that are looked at
_NO_ONE = re.compile(r"(?:\b(?:no|any|every|some|each|this|that|the|which|another)[ -]|\S-)$", re.IGNORECASE)
_ONE_OF = re.compile(r"^(?: of\b| another\b| such\b| or more\b|['\u2019]s\b|-)", re.IGNORECASE)
_NOT_RANK = re.compile(r"(?:\bat )$", re.IGNORECASE)
_NOT_RANK_AFTER = re.compile(r"^(?: of all\b| and foremost\b| time\b|-hand\b| hand\b| half\b)", re.IGNORECASE)


def quarters(text: str) -> Iterator[Quantity]:
    for match in _QUARTER.finditer(text):
        number = int(match["a"] or match["b"])
        yield plain(text, match.start(), match.end(), Form.ORDINAL, Decimal(number), unit="quarter")


def fractions(text: str) -> Iterator[Quantity]:
    for match in _FRACTION.finditer(text):
        whole = Decimal(0)
        if match["half"]:
            top, bottom = 1, 2
        elif match["glyph"]:
            top, bottom = (int(part) for part in GLYPHS[match["glyph"][-1]].split("/"))
            whole = Decimal(match["glyph"][:-1] or 0)
        elif match["x"]:
            top, bottom = int(match["x"]), int(match["y"])
            if bottom == 0 or top >= bottom:
                continue
        else:
            word = match["top"].lower()
            if word in {"a", "an"} and match["bottom"].lower() not in {
                "third",
                "quarter",
                "half",
                "fifth",
                "tenth",
            }:
                continue
            if word == "a" and not text.startswith(" of", match.end()):
                continue
            top = int(word) if word.isdigit() else ONES.get(word, 1)
            bottom = DENOMINATORS[match["bottom"].lower()]
            if top != 1 and not match["bottom"].lower().endswith("s"):
                continue
        value = whole + Decimal(top) / Decimal(bottom)
        end, scale = scale_after(text, match.end())
        form = Form.NUMBER if scale else Form.FRACTION
        yield plain(text, match.start(), end, form, value * (scale or 1), scaled=bool(scale), spelled=True)


def spelled(text: str) -> Iterator[Quantity]:
    for match in _SPELLED.finditer(text):
        words = match.group().lower()
        value = _words_value(words)
        start, end = match.span()
        if not 0 < value < _BEYOND:
            continue
        if words == "one" and (
            _NO_ONE.search(text[max(0, start - _BESIDE) : start])
            or _ONE_OF.match(text[end : end + _BESIDE])
            or not _counts(text, end)
        ):
            continue
        unit, form = "", Form.NUMBER
        step = factor = Decimal(1)
        while value % (step * 10) == 0:
            step *= 10
        percent = PERCENT.match(text, end)
        if percent:
            form, end = (Form.PERCENT if percent["pc"] else Form.POINTS), percent.end()
            if percent["bp"]:
                value, step = value / 100, step / 100
        elif (word := WORD.match(text, end)) and len(word["word"]) > 2:
            name = word["word"].lower()
            if name in CURRENCIES and name != "won":
                unit, form, end = CURRENCIES[name], Form.MONEY, word.end()
                if name in CENTS:
                    value, step = value / 100, step / 100
            elif name in UNITS:
                unit, factor = UNITS[name]
                value, step, end = value * factor, step * factor, word.end()
        scaled = any(big in words for big in ("million", "billion", "trillion", "thousand", "hundred"))
        yield plain(
            text, start, end, form, value,
            step=step, unit=unit, factor=factor, scaled=scaled, spelled=True,
        )  # fmt: skip


def ordinals(text: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(text):
        before = text[max(0, match.start() - _BESIDE) : match.start()]
        behind = text[match.end() : match.end() + _BESIDE]
        if _NOT_RANK.search(before) or _NOT_RANK_AFTER.match(behind):
            continue
        value = Decimal(ORDINALS[match["word"].lower()] + TENS.get((match["ten"] or "").lower(), 0))
        unit = "quarter" if re.match(r"[ -](?:fiscal )?quarter\b", behind, re.IGNORECASE) else ""
        yield plain(text, match.start(), match.end(), Form.ORDINAL, value, unit=unit, spelled=True)


def _words_value(words: str) -> Decimal:
    total = group = 0
    for word in re.split(r"[ ,-]+(?:and )?", words):
        if word in {"hundred", "dozen"}:
            group = max(group, 1) * SCALES[word]
        elif word in SCALES:
            total, group = total + max(group, 1) * SCALES[word], 0
        else:
            group += 1 if word in {"a", "an"} else ONES.get(word, TENS.get(word, 0))
    return Decimal(total + group)


def _counts(text: str, end: int) -> bool:
    """ "one" is a number when a measure, a scale or a percent follows it."""
    word = WORD.match(text, end)
    return bool(PERCENT.match(text, end)) or bool(
        word and (word["word"].lower() in UNITS or word["word"].lower() in CURRENCIES)
    )
