"""Single edits of one real sentence, each with the label it earns against the unedited text.

In: a sentence and a pool of names from the text around it. Out: (kind, edited sentence, label), or nothing where the
sentence offers no place for that edit. Labels: contradiction for a changed number, date, unit, negation or antonym;
not_entailment for a swapped name or role; neutral for more than the text says (a hedge dropped, a quantifier raised, a
detail added); entailment for less than it says. Knows nothing about models.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Edit = tuple[str, str, str]
Editor = Callable[[str, Sequence[str], random.Random], "tuple[str, str] | None"]

_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-]|[.,]\d)")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20[0-4]\d)\b")
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_SMALL = "two three four five six seven eight nine ten eleven twelve".split()
_NAME = re.compile(r"(?<![.!?\"“] )(?<!^)\b[A-Z][\w'’-]+(?: (?:of |the |de |and )?[A-Z][\w'’-]+)*")
_AUXILIARY = re.compile(r"\b(is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must)\b(?! not\b|n't)")
_NEGATED = re.compile(r"\b(is|are|was|were|will|would|can|could|has|have|had|does|did|do|should|must)(?: not|n't|n’t) ")

_ANTONYMS = {
    a: b
    for line in (
        "increased decreased;rose fell;rises falls;higher lower;highest lowest;largest smallest;larger smaller;"
        "more fewer;before after;first last;best worst;above below;early late;earlier later;won lost;wins loses;"
        "accepted rejected;approved rejected;began ended;opened closed;north south;northern southern;east west;"
        "eastern western;left right;male female;men women;man woman;old new;oldest newest;older younger;"
        "increase decrease;growth decline;grew shrank;gain loss;profit loss;majority minority;major minor;"
        "positive negative;allowed forbidden;required forbidden;success failure;successful unsuccessful;"
        "internal external;inside outside;public private;true false;long short;longer shorter;high low;"
        "hot cold;strong weak;strengthened weakened;rich poor;supported opposed;supports opposes;"
        "agreed refused;joined left;included excluded;includes excludes;maximum minimum;upper lower;"
        "buy sell;bought sold;husband wife;father mother;son daughter;brother sister;king queen;"
        "possible impossible;legal illegal;safe dangerous;full empty;young old;common rare;often rarely;"
        "always never;ancient modern;improved worsened;raised lowered;expanded reduced;gained lost;"
        "alive dead;married divorced;hired fired;victory defeat;entered left;friend enemy;light heavy"
    ).split(";")
    for a, b in [line.split(), line.split()[::-1]]
}
_UNITS = {
    a: b
    for a, b in [
        ("million", "billion"), ("billion", "million"), ("thousand", "million"), ("miles", "kilometres"),
        ("kilometres", "miles"), ("kilometers", "miles"), ("km", "miles"), ("metres", "feet"), ("meters", "feet"),
        ("feet", "metres"), ("days", "weeks"), ("weeks", "months"), ("months", "years"), ("years", "months"),
        ("hours", "minutes"), ("minutes", "hours"), ("seconds", "minutes"), ("tons", "pounds"), ("kg", "g"),
        ("mg", "g"), ("dollars", "euros"), ("euros", "dollars"), ("pounds", "dollars"), ("per cent", "percentage points"),
        ("decades", "years"), ("centuries", "decades"), ("hectares", "acres"), ("acres", "hectares"),
    ]
}  # fmt: skip
_RAISED = {
    "some": "all", "many": "most", "several": "dozens of", "most": "all", "a few": "many", "often": "always",
    "sometimes": "always", "usually": "always", "at least": "at most", "up to": "at least", "more than": "less than",
    "less than": "more than", "about": "exactly", "nearly": "more than", "almost": "more than", "one of the": "the",
    "generally": "always", "rarely": "never", "partly": "entirely", "mainly": "only", "primarily": "only",
    "approximately": "exactly", "part of": "all of", "a number of": "all", "half of": "most of", "fewer than": "more than",
}  # fmt: skip
_FIRMER = {
    "may be": "is", "may have been": "was", "might be": "is", "could be": "is", "may": "will", "might": "will",
    "could": "will", "is expected to": "will", "are expected to": "will", "is believed to be": "is", "can": "always will",
    "is thought to be": "is", "are thought to be": "are", "are believed to be": "are", "was believed to be": "was",
    "suggests": "proves", "suggest": "prove", "suggested": "proved", "possibly": "certainly", "probably": "certainly",
    "likely": "certainly", "reportedly": "indeed", "allegedly": "indeed", "claimed": "proved", "plans to": "has begun to",
    "planned to": "went on to", "seems to": "does", "appears to be": "is", "appeared to": "did", "wanted to": "managed to",
    "tried to": "managed to", "attempted to": "managed to", "hoped to": "managed to", "should": "does", "intended to": "did",
    "associated with": "caused by", "linked to": "caused by", "was accused of": "was convicted of", "proposed": "adopted",
}  # fmt: skip
_ADDED_END = (
    "for the first time", "in order to cut costs", "despite strong opposition", "with the help of the government",
    "for the second year in a row", "as planned", "because of the weather", "after years of delay", "by accident",
    "for more than a decade", "to wide acclaim", "in secret", "against expectations", "every year", "on two occasions",
    "according to officials", "which surprised experts", "free of charge", "at the request of local residents",
    "under a new law", "within a few weeks", "in front of a large crowd", "without any warning", "more than any other",
)  # fmt: skip
_ADDED_WORD = (
    "famous", "controversial", "former", "young", "expensive", "successful", "rare", "unexpected", "temporary", "secret",
    "wealthy", "official", "independent", "popular", "small", "large", "international", "experienced", "local", "annual",
    "female", "retired", "wooden", "private", "religious", "commercial", "southern", "modern", "early", "final",
)  # fmt: skip
_SYNONYMS = {
    "began": "started", "started": "began", "purchased": "bought", "bought": "purchased", "roughly": "about",
    "approximately": "about", "around": "about", "near": "close to", "because": "since", "however": "though", "large": "big",
    "children": "kids", "assist": "help", "helped": "assisted", "required": "needed", "needed": "required",
    "obtained": "got", "received": "got", "received a": "was given a", "ended": "finished", "located in": "situated in",
    "situated in": "located in", "said that": "stated that", "stated that": "said that", "famous": "well-known",
    "died": "passed away", "born": "brought into the world", "major": "important", "important": "significant",
    "founded": "established", "established": "founded", "created": "made", "used": "employed", "said": "stated",
    "also": "", "largest": "biggest", "film": "movie", "movie": "film", "automobile": "car", "per cent": "percent",
    "percent": "%", "constructed": "built", "built": "constructed", "attempt": "try", "commenced": "began",
    "won": "was the winner of", "wrote": "was the writer of", "designed": "was the designer of", "many": "a lot of",
    "currently": "now", "numerous": "many", "entire": "whole", "difficult": "hard", "rapidly": "quickly", "killed": "slain",
    "led to": "resulted in", "resulted in": "led to", "such as": "like", "including": "among them", "more than": "over",
    "over": "more than", "until": "up to", "during": "in the course of", "several": "a number of", "became": "turned into",
}  # fmt: skip


def _replace(text: str, match: re.Match[str], new: str) -> str:
    old = match.group()
    new = new[:1].upper() + new[1:] if old[:1].isupper() and new[:1].islower() else new
    return re.sub(r"  +", " ", text[: match.start()] + new + text[match.end() :])


def _by_table(table: dict[str, str], label: str) -> Editor:
    pattern = re.compile(r"\b(" + "|".join(sorted(map(re.escape, table), key=len, reverse=True)) + r")\b", re.IGNORECASE)

    def edit(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
        found = [m for m in pattern.finditer(text) if m.group()[:1].islower() or m.start() == 0]
        if not found:
            return None
        match = rng.choice(found)
        return _replace(text, match, table[match.group().lower()]), label

    return edit


def _number(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = [m for m in _NUMBER.finditer(text) if not _YEAR.fullmatch(m.group())]
    if not found:
        return None
    match = rng.choice(found)
    return _replace(text, match, _other_number(match.group(), rng)), "contradiction"


def _other_number(old: str, rng: random.Random) -> str:
    """Another number of the same look: two digits exchanged, one digit changed, or the size changed."""
    digits = [i for i, c in enumerate(old) if c.isdigit()]
    for _ in range(20):
        new = list(old)
        way = rng.random()
        if way < 0.3 and len(digits) > 1:
            i = rng.randrange(len(digits) - 1)
            new[digits[i]], new[digits[i + 1]] = new[digits[i + 1]], new[digits[i]]
        elif way < 0.8:
            i = rng.choice(digits)
            new[i] = rng.choice("0123456789")
        else:
            return str(max(1, int(float(old.replace(",", "")) * rng.choice([0.5, 2, 3, 10]))) + (len(digits) == 1))
        made = "".join(new)
        if made != old and not (made[0] == "0" and len(digits) > 1):
            return made
    return old + "0"


def _year(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = list(_YEAR.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    shift = rng.choice([-30, -10, -5, -3, -2, -1, 1, 2, 3, 4, 7, 10, 20])
    return _replace(text, match, str(int(match.group()) + shift)), "contradiction"


def _listed(words: Sequence[str]) -> Editor:
    pattern = re.compile(r"\b(" + "|".join(words) + r")\b")

    def edit(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
        found = [m for m in pattern.finditer(text) if m.group() != "May" or re.match(r"May \d", text[m.start() :])]
        if not found:
            return None
        match = rng.choice(found)
        return _replace(text, match, rng.choice([w for w in words if w != match.group()])), "contradiction"

    return edit


def _entity(text: str, names: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = list(_NAME.finditer(text))
    others = [name for name in names if name not in text]
    if not found or not others:
        return None
    match = rng.choice(found)
    like = [n for n in others if len(n.split()) == len(match.group().split())] or others
    new = rng.choice(like)
    if new.lower() in match.group().lower() or match.group().lower() in new.lower():
        return None
    return _replace(text, match, new), "not_entailment"


def _roles(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    """Two names change places. Lists ("A and B") are left alone: order means nothing there."""
    found = list(_NAME.finditer(text))
    rng.shuffle(found)
    for a, b in zip(found, found[1:], strict=False):
        first, second = sorted((a, b), key=lambda m: m.start())
        between = text[first.end() : second.start()]
        if first.group() != second.group() and len(between.split()) >= 2 and not re.fullmatch(r"[\s,]*(and|or)?\s*", between):
            swapped = text[: first.start()] + second.group() + between + first.group() + text[second.end() :]
            return swapped, "not_entailment"
    return None


def _negate(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    negated = _NEGATED.search(text)
    if negated and rng.random() < 0.7:
        return _replace(text, negated, negated.group(1) + " "), "contradiction"
    match = _AUXILIARY.search(text)
    if not match:
        return None
    return text[: match.end()] + " " + rng.choice(["not", "not", "not", "never"]) + text[match.end() :], "contradiction"


def _add_end(text: str, names: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    body = text.rstrip(" .")
    if body == text:
        return None
    others = [name for name in names if name not in text]
    tail = rng.choice(_ADDED_END)
    if others and rng.random() < 0.4:
        tail = rng.choice(["with {}", "in {}", "because of {}", "according to {}", "together with {}"]).format(rng.choice(others))
    elif rng.random() < 0.2:
        tail = f"in {rng.randint(1900, 2023)}"
    return f"{body}{rng.choice([' ', ', '])}{tail}.", "neutral"


def _add_word(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    found = list(re.finditer(r"\b(?:a|the|his|her|its|their) (?=[a-z]{4,})", text))
    if not found:
        return None
    match = rng.choice(found)
    word = rng.choice(_ADDED_WORD)
    if match.group().lower() == "a " and word[0] in "aeiou":
        word = "large"
    return text[: match.end()] + word + " " + text[match.end() :], "neutral"


def _compress(text: str, _: Sequence[str], rng: random.Random) -> tuple[str, str] | None:
    """Less than the sentence says: without a parenthesis, an opening phrase, a relative clause or an apposition."""
    ways = [
        (r" \([^()]*\)", ""),
        (r"^(?:In|On|By|After|Since|During|Before|At|With|For|From) [^,]{3,60}, (?=\w)", ""),
        (r", (?:which|who|where|when|whose|although|though|while|because|with|including|making|leading) [^,.;]{8,}(?=\.$)", ""),
        (r", (?:which|who|whose|where|a|an|the) [^,.;]{4,80},(?= (?:is|was|are|were|has|had|will|said|did)\b)", ""),
        (r"(?:;| and| but|, and|, but) (?:it|he|she|they|the|this|was|were|is|has|had) [^.;]{10,}(?=\.$)", ""),
        (r" (?:according to|despite|because of|due to|in order to|so that|such as|as well as|following) [^.;]{6,}(?=\.$)", ""),
        (r"\b(?:also|however|therefore|meanwhile|moreover),? ", ""),
    ]
    rng.shuffle(ways)
    for pattern, new in ways:
        shorter = re.sub(pattern, new, text, count=1)
        if shorter != text and len(shorter.split()) >= 5:
            return shorter[:1].upper() + shorter[1:], "entailment"
    return None


EDITORS: dict[str, Editor] = {
    "number": _number,
    "year": _year,
    "month": _listed(_MONTHS),
    "day": _listed(_DAYS),
    "small-number": _listed(_SMALL),
    "unit": _by_table(_UNITS, "contradiction"),
    "antonym": _by_table(_ANTONYMS, "contradiction"),
    "negation": _negate,
    "entity": _entity,
    "role": _roles,
    "quantifier": _by_table(_RAISED, "neutral"),
    "hedge": _by_table(_FIRMER, "neutral"),
    "added-end": _add_end,
    "added-word": _add_word,
    "compression": _compress,
    "synonym": _by_table(_SYNONYMS, "entailment"),
}


def edits(text: str, names: Sequence[str], rng: random.Random, kinds: Sequence[str] = tuple(EDITORS)) -> list[Edit]:
    made = []
    for kind in kinds:
        result = EDITORS[kind](text, names, rng)
        if result and result[0] != text:
            made.append((kind, *result))
    return made


def names_in(text: str) -> list[str]:
    """Capitalised names that do not open a sentence, in order, once each."""
    return list(dict.fromkeys(m.group() for m in _NAME.finditer(text)))
