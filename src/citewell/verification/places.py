"""Does each number of the claim stand where the source has it: beside that thing, in that year?

In: claim and premise. Out: in words, what the source has instead, or "". A number that the source holds
proves little when it stands in the sentence about something else ("60 days" of notice for the days in
which a deposit is returned), or beside another year of the same sentence. Rows of tables are
:mod:`citewell.verification.cells`. Knows no verdicts.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from functools import lru_cache

from citewell.core.sentences import sentence_spans
from citewell.verification.numbers import Match, check_numbers
from citewell.verification.quantities import Form, Quantity, extract_quantities
from citewell.verification.signals import content_words, overlap, telling_words

SPEAKS = 0.6  # share of the claim's other content words in the sentence that speaks of it
ELSEWHERE = 0.5  # of that share, the most that a sentence which holds the number may have
_FEWEST = 2
_REACH = 48  # characters between a value and its year
_RESPECTIVELY = re.compile(r"\brespectively\b", re.IGNORECASE)
_LARGE = 1000
_PARTS = frozenset({Form.ORDINAL, Form.FRACTION})  # "the third quarter of 2021", "the first half of 2021"
_VALUES = frozenset({Form.MONEY, Form.PERCENT, Form.NUMBER})
_ADDITION = re.compile(
    r"(?:\s+(?!and\b|or\b|to\b)[a-z]+){0,2}?\s+(?P<whose>(?:in|on|with|for|at|among|of|under|by)\s"
    r"(?:(?!\s(?:and|or|but|while|whereas|versus|vs|against|than|compared)\b)[^,;:().])+)"
)
_COMPARED = re.compile(
    r"\b(?:than|unlike|ahead|behind|beating|versus|vs|against|compared|while|whereas|but|not|exceed\w*|outpac\w*|faster|slower)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?<!compounded )(?<!billed )(?<!paid )(?<!payable )"
    r"\b(?:(?:per|each|every|an?)[ -](hour|day|night|week|month|quarter|year)|"
    r"(hour|dai|night|week|month|quarter|year)ly|annual(?:ly)?)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def misplaced_number(claim: str, premise: str, context: str = "") -> str:
    """What the source has in the number's place, in words; "" when nothing speaks against it."""
    return (
        _in_another_year(claim, premise)
        or _at_another_rate(claim, premise)
        or _in_another_sentence(claim, premise, context)
        or _of_another(claim, premise)
    )


def _in_another_sentence(claim: str, premise: str, context: str) -> str:
    sentences = [premise[a:b] for a, b in sentence_spans(premise)]
    asked = extract_quantities(claim)
    if len(sentences) < 2 or not asked or len(sentence_spans(claim)) > 1:
        return ""
    wanted = frozenset(content_words(claim)) - frozenset(
        word for quantity in asked for word in content_words(quantity.text)
    )
    if len(wanted) < _FEWEST:
        return ""
    share = [len(wanted & frozenset(content_words(text))) / len(wanted) for text in sentences]
    nearest = max(range(len(sentences)), key=lambda i: (share[i], -i))
    if share[nearest] < SPEAKS:
        return ""
    whole = check_numbers(claim, premise, context)
    near = check_numbers(claim, sentences[nearest], context)
    for there, here in zip(whole, near, strict=True):
        if (
            here.quantity.form is Form.ORDINAL
            or not there.holds
            or here.match is not Match.OTHER
            or here.nearest is None
        ):
            continue
        holding = [
            share[i]
            for i, text in enumerate(sentences)
            if any(c.quantity == here.quantity and c.holds for c in check_numbers(claim, text, context))
        ]
        if holding and max(holding) <= ELSEWHERE * share[nearest]:
            return (
                f"where the source speaks of this it has “{here.nearest.text}”; "
                f"“{here.quantity.text}” stands elsewhere"
            )
    return ""


def _of_another(claim: str, premise: str) -> str:
    """The value that its sentence gives to another of several things: "5% in Europe and 3% in Asia"."""
    ours = [q for q in extract_quantities(claim) if q.form in _VALUES and not q.hedge]
    if len(ours) != 1:
        return ""
    (value,) = ours
    if _COMPARED.search(claim):
        return ""
    said = set(telling_words(f"{claim[: value.start]} {claim[value.end :]}"))
    told = ""
    for start, end in sentence_spans(premise):
        sentence = premise[start:end]
        holders = [q for q in extract_quantities(sentence) if _same(value, q)]
        if not holders:
            continue
        shares = _shared_out(sentence, value)
        found = [whose for q in holders for other, whose in shares if other.start == q.start]
        if len(found) != len(holders) or any(words & said for words in found):
            return ""
        instead = [other.text for other, whose in shares if whose <= said]
        if not instead:
            return ""
        told = f"the source has \u201c{instead[0]}\u201d for this, and \u201c{value.text}\u201d for another"
    return told


def _shared_out(sentence: str, like: Quantity) -> list[tuple[Quantity, set[str]]]:
    """Values of the kind, each with the words that only its own addition has ("in Europe"); nothing where one
    of them has no addition, or none of its own."""
    values = [q for q in extract_quantities(sentence) if q.form is like.form and q.unit == like.unit]
    ends = [q.start for q in values[1:]] + [len(sentence)]
    told = []
    for value, end in zip(values, ends, strict=True):
        addition = _ADDITION.match(sentence, value.end, end)
        told.append(set(telling_words(addition["whose"])) if addition else set())
    if len(values) < _FEWEST:
        return []
    times = Counter(word for words in told for word in words)
    own = [{word for word in words if times[word] == 1} for words in told]
    if not all(own) or any(map(str.isdigit, "".join(itertools.chain(*own)))):
        return []
    return list(zip(values, own, strict=True))


def _at_another_rate(claim: str, premise: str) -> str:
    """The same number a day and a week."""
    ours = _rates(claim)
    if len(ours) != 1:
        return ""
    sentences = [premise[a:b] for a, b in sentence_spans(premise)]
    holding = [
        text
        for text in sentences
        if any(_same(q, other) for q in _counts(claim) for other in _counts(text))
        and overlap(claim, text) >= SPEAKS / 2
    ]
    theirs = {rate: word for text in holding for rate, word in _rates(text).items()}
    if not theirs or set(ours) & set(theirs):
        return ""
    return f"the claim says “{next(iter(ours.values()))}”, the source “{next(iter(theirs.values()))}”"


def _rates(text: str) -> dict[str, str]:
    found = {}
    for match in _RATE.finditer(text):
        word = (match[1] or match[2] or "year").lower()
        found["day" if word == "dai" else word] = match.group()
    return found


def _counts(text: str) -> list[Quantity]:
    return [q for q in extract_quantities(text) if q.form in {Form.MONEY, Form.PERCENT, Form.NUMBER}]


def _in_another_year(claim: str, premise: str) -> str:
    ours = _years_of(claim)
    if not ours:
        return ""
    for start, end in sentence_spans(premise):
        theirs = _years_of(premise[start:end])
        if len({year for _, year in theirs}) < 2:
            continue
        for value, year in ours:
            here = {told for other, told in theirs if _same(value, other)}
            instead = [other.text for other, told in theirs if told == year and other.form is value.form]
            if here and year not in here and instead:
                return f"the source has “{value.text}” for {min(here)}, and “{instead[0]}” for {year}"
    return ""


def _same(ours: Quantity, theirs: Quantity) -> bool:
    return ours.form is theirs.form and ours.value == theirs.value and ours.unit == theirs.unit


def _years_of(sentence: str) -> list[tuple[Quantity, int]]:
    """Each value with the year it belongs to: the next one behind it before another value comes, else the
    last one before it; in pairs where the sentence says "respectively"."""
    found = [(quantity, _year(quantity)) for quantity in extract_quantities(sentence)]
    values = [quantity for quantity, year in found if year is None and _measures(quantity)]
    years = [(quantity, year) for quantity, year in found if year is not None]
    if not values or not years:
        return []
    if _RESPECTIVELY.search(sentence):
        told = [year for _, year in years]
        return list(zip(values, told, strict=True)) if len(values) == len(told) else []
    if len(years) == 1:
        return [(value, years[0][1]) for value in values]
    pairs = []
    for value in values:
        behind = next((q for q, _ in found if q.start >= value.end and q.form not in _PARTS), None)
        ahead = [year for quantity, year in years if quantity.end <= value.start]
        if behind is not None and (year := _year(behind)) and behind.start - value.end <= _REACH:
            pairs.append((value, year))
        elif ahead:
            pairs.append((value, ahead[-1]))
    return pairs


def _measures(quantity: Quantity) -> bool:
    """A sum, a rate or a large number; small counts belong to too many things."""
    return quantity.form in {Form.MONEY, Form.PERCENT} or (
        quantity.form is Form.NUMBER and abs(quantity.value) >= _LARGE
    )


def _year(quantity: Quantity) -> int | None:
    if quantity.form is Form.YEAR and 1900 <= quantity.value < 2100:
        return int(quantity.value)
    if quantity.form is Form.DATE and quantity.moment:
        return next((reading[0] for reading in quantity.moment.readings if reading[0]), None)
    return None
