"""What a question asks: its periods, line items, names, statement, kind and remaining words.

In: one question or aspect. Out: :class:`ParsedQuestion`, by exact rules and small tables; nothing is guessed
where nothing is named. Knows nothing about passages.
"""

from __future__ import annotations

import itertools
import re
from enum import StrEnum
from functools import lru_cache

from citewell.core.records import Record
from citewell.core.stretches import Places
from citewell.questions.line_items import (
    RATIOS,
    Mention,
    formulae_in,
    items_in,
    label_words,
    statement_spans,
    statements_in,
)
from citewell.questions.periods import MONTHS, Period, periods_in


class Ask(StrEnum):
    NUMBER = "number"
    YES_NO = "yes/no"
    WHY = "why"
    WHO = "who"
    WHEN = "when"
    WHICH = "which"
    TEXT = "text"


class ParsedQuestion(Record, frozen=True, kw_only=True):
    """``items`` are line items asked for; ``formulae`` ratios; ``changes`` is set for a change over time.

    ``words``: stemmed content words left when names, periods, items and filler are taken away;
    ``terms``: all stemmed content words but names' and periods'; ``codes``: identifiers, as they are written
    ("writer.top_p", "--port", "PYENV_DIR"). With ``either`` one of the items will do;
    with ``every`` each year that a table shows.
    """

    question: str
    ask: Ask
    periods: tuple[Period, ...]
    items: tuple[Mention, ...]
    formulae: tuple[Mention, ...]
    statements: tuple[str, ...]
    names: tuple[str, ...]
    words: tuple[str, ...]
    terms: tuple[str, ...]
    changes: bool
    average: bool
    either: bool = False
    every: bool = False
    codes: tuple[str, ...] = ()

    @property
    def by_cell(self) -> bool:
        """Whether the answer is values of statements: items are named and little else is asked."""
        asked_for = self.ask in (Ask.NUMBER, Ask.YES_NO, Ask.TEXT)
        asked_for = asked_for or (self.ask is Ask.WHICH and len(self.items) > 1)
        return bool(self.items or self.formulae) and asked_for and len(self.words) <= 2


_KINDS: tuple[tuple[Ask, str], ...] = (
    (
        Ask.NUMBER,
        r"""\bhow\s(?:much|many|often|long|old|large|big|high|far|tall)\b
        |\bwhat\s(?:percent|percentage|amount|number|fraction|share)\b""",
    ),
    (
        Ask.WHY,
        r"""\bwhy\b|\bwhat\s(?:drove|drives|caused|causes|led|explains?)\b|\breasons?\s(?:for|why|behind)\b""",
    ),
    (Ask.WHO, r"^\s*(?:by\s|to\s|from\s|for\s)?(?:who|whom|whose)\b"),
    (Ask.WHEN, r"\bwhen\b|\b(?:what|which)\s(?:year|date|day|month|time)\b"),
    (Ask.WHICH, r"^\W*(?:\w+\W+){0,12}?which\b|\bamong\b"),
    (
        Ask.YES_NO,
        r"""(?:^|[,:.;?]\s*)(?:is|are|was|were|do|does|did|has|have|had
        |can|could|will|would|should|may|must)\b[^?]*\?""",
    ),
    (
        Ask.NUMBER,
        r"""\A(?>.*?\b(?:what|how)\b).*\b(?:rate|ratio|amount|total|price|cost|value|margin|growth|percent|number
        |average|sum|size|weight|height|distance|revenue)\b""",
    ),
)
_COMPILED = tuple((kind, re.compile(pattern, re.I | re.S | re.X)) for kind, pattern in _KINDS)

_CHANGE = re.compile(
    r"\b(?:grow|grew|growth|grown|chang\w*|increas\w*|decreas\w*|declin\w*|drop\w*|fell|fall|rise|rose|"
    r"improv\w*|worsen\w*|accelerat\w*|decelerat\w*|cagr|year[- ]over[- ]year|yoy|"
    r"trend\w*|compar\w*|consistent\w*|fluctuat\w*)\b",
    re.I,
)
_AVERAGE = re.compile(r"\b(?:average|mean|avg)\b", re.I)

EVERY_YEAR = "every year"
STOP = frozenset(
    str.split("""
        a an the every of to in on at by for from with without as is are was were be been being do does
        did has have had can could will would should may might must and or but if then than that
        this these those it its they their them he she his her we us our you your i my me what which
        who whom whose when where why how much many any some there here all each both between among
        during over under about into out up down not no nor so such only also just very most more
        less least please give answer question following based base using use used basing provide
        provided primarily information shown show stated plainly utilizing solely provided off want
        need within outlined according accordance clearly details relying drawing conclusions
        judgment judgments approach assuming perspective standpoint analyst investment banker access
        resource your below above one two decimal place places round rounded unit units usd dollar
        dollars million millions thousand thousands billion billions define defined definition
        calculate calculated compute help metric financial reasonable approximation exact number
        possible abilities ability respond response line items considering taking account agreement
        data contained plainly asked formerly known fiscal year years end ended quarter fy amount
        much report reported generate generated generates say says state tell me company s t ve re d
    """)
)
# Words that ask how a value moved or that somebody has it: they need not stand by the value.
_LIGHT = frozenset(
    label_words(
        "grow grew growth change changed increase increased decrease decreased decline declined drop "
        "dropped improve improving improved "
        "accelerate accelerating profile positive negative historically consistent fluctuating "
        "roughly rate ratio year-over-year cagr average total margin "
        "compare compared unadjusted trend times sold have has percent percentage historical best divided "
        "divide "
        "explain address assume approximately hold held own owned make made spend spent pay paid earn earned "
        "record recorded post posted achieve achieved incur incurred realise realize realised realized "
        "get got see saw reach reached stand stood bring brought post show "
        "number level count lost lose cash flow"
    )
)
_NOT_NAMES = frozenset(
    str.split("""
        usd us usa uk eu fy q1 q2 q3 q4 cogs dpo dso dio ccc ppe ppne eps ceo cfo coo roa roe cagr
        ebit ebitda sga sgna capex gaap fcf yoy ar ap pp p l p&l r&d sg&a pp&e u s k i compare list
        name describe explain show find tell discuss a the what which who how when where why is are
        was were do does did has have had can could will would should may must in of on at by for
        from to and or if as among between using considering based taking basing give answer round
        please calculate compute define address approach respond provide roughly we you your our it
        they this that these those income statement balance sheet cash flow statements operations
        free total net gross operating
    """)
) | frozenset(MONTHS)
_NAME = re.compile(
    r"\b(?:\d{0,2}[A-Z][\w&.]*[’']?\w*|[a-z]+[A-Z]\w*)"
    r"(?:(?:\s+(?:&|and|of|the|de|van|von)\s+|[\s-]+)[A-Z][\w&.]*[’']?\w*)*"
)
_POSSESSIVE = re.compile(r"[’']s$")
_TOKEN = re.compile(r"\d[\d,.]*\d(?!\w)|[\w&]+")


def kind_of(question: str) -> Ask:
    """The first kind of the table whose pattern the question shows; TEXT when none does."""
    return next((kind for kind, pattern in _COMPILED if pattern.search(question)), Ask.TEXT)


# Names of settings, options, functions and variables. A hyphen alone makes none ("well-known"), nor does a
# dot in a number or behind a capital ("U.S.", "Amazon.com").
_CODE = re.compile(
    r"(?<![\w.-])(?:--[a-z][\w-]*\w|[a-z]\w*(?:\.[a-z_][\w-]*\w)+|\w*[^\W_]_[^\W_]\w*|\.[a-z][\w-]+\w)(?![\w-])"
)


@lru_cache(maxsize=512)
def read_question(question: str) -> ParsedQuestion:
    """What ``question`` asks for. Deterministic; equal questions give equal values."""
    periods = _distinct(periods_in(question))
    items, formulae = items_in(question), formulae_in(question)
    names = names_in(question)
    dated = Places((found.start, found.end) for found in periods_in(question))
    named = [(mention.start, mention.end) for mention in (*items, *formulae)]
    inside = Places([*named, *statement_spans(question)])
    name_words = {word for name in names for word in label_words(name)}
    terms, words = [], []
    for match in _TOKEN.finditer(question):
        if match.group().lower() in STOP and match.group() != "US":
            continue
        for stem in label_words(match.group()):
            if stem in STOP or stem in name_words or match.start() in dated:
                continue
            terms.append(stem)
            if stem not in _LIGHT and not stem.isdigit() and match.start() not in inside:
                words.append(stem)
    known = {mention.name for mention in formulae}
    return ParsedQuestion(
        question=question,
        ask=kind_of(question),
        periods=periods,
        items=tuple(mention for mention in items if mention.name not in known) if known else items,
        formulae=formulae,
        statements=statements_in(question),
        names=names,
        words=tuple(dict.fromkeys(words)),
        terms=tuple(dict.fromkeys(terms)),
        changes=bool(_CHANGE.search(question)),
        average=bool(_AVERAGE.search(question)),
        either=_either(question, items),
        every=EVERY_YEAR in question,
        codes=tuple(dict.fromkeys(found.group() for found in _CODE.finditer(question))),
    )


def left_open(wanted: ParsedQuestion) -> bool:
    """Whether values alone leave the question to be worked out: a ratio, a change, a yes or no."""
    ratio = any(len(RATIOS[mention.name.lower()].of) > 1 for mention in wanted.formulae)
    return ratio or wanted.changes or wanted.average or wanted.ask in (Ask.YES_NO, Ask.WHICH)


def _either(question: str, items: tuple[Mention, ...]) -> bool:
    """ "Gross profit or cost of revenue": the items with nothing but "or" between them."""
    between = [question[a.end : b.start] for a, b in itertools.pairwise(items)]
    return bool(between) and all(text.strip().lower() == "or" for text in between)


def operands(wanted: ParsedQuestion) -> tuple[str, ...]:
    """The line items to be read: those named, else those of the formulae named; in order, once each."""
    named = [mention.name for mention in wanted.items]
    if not named:
        named = [
            name
            for mention in wanted.formulae
            for either in RATIOS[mention.name.lower()].of
            for name in either.split(" or ")
        ]
    return tuple(dict.fromkeys(named))


def names_in(question: str) -> tuple[str, ...]:
    """Capitalised names: companies, people, products; without question words, metrics and months."""
    taken = [(mention.start, mention.end) for mention in (*items_in(question), *formulae_in(question))]
    places = Places([*taken, *((found.start, found.end) for found in periods_in(question))])
    found: list[str] = []
    for match in _NAME.finditer(question):
        words = [part for part in _words_at(match) if part[1] not in places]
        while words and is_no_name(words[0][0]):
            words.pop(0)
        owner = next((at for at, (word, _) in enumerate(words) if _POSSESSIVE.search(word)), None)
        words = words if owner is None else words[: owner + 1]
        while words and is_no_name(words[-1][0]):
            words.pop()
        name = re.sub(r"[’']s?$", "", " ".join(word for word, _ in words)).strip(" .,&")
        if len(name) > 1 and not re.fullmatch(r"(?:FY|Q)?\d*", name):
            found.append(name)
    return tuple(dict.fromkeys(found))


def _words_at(match: re.Match[str]) -> list[tuple[str, int]]:
    return [(part.group(), match.start() + part.start()) for part in re.finditer(r"\S+", match.group())]


def is_no_name(word: str) -> bool:
    """Whether a word is no name for all its capital: a question word, a metric, a month, a period."""
    bare = re.sub(r"[’']s?$", "", word).strip(".,&").lower()
    return bare in _NOT_NAMES or bare in STOP or bool(re.fullmatch(r"(?:fy|q)\d+|(?:10|8|20)-?[kqf]", bare))


def _distinct(periods: tuple[Period, ...]) -> tuple[Period, ...]:
    seen: dict[str, Period] = {}
    for found in periods:
        seen.setdefault(found.name, found)
    return tuple(seen.values())


def name_occurs(name: str, text: str) -> bool:
    """Whether ``text`` (a title, an id, a passage) names ``name``, abbreviations included.

    "JnJ" is "JOHNSON_JOHNSON", "JPM" is "JPMORGAN", "CVS Health" is "CVSHEALTH".
    """
    words = re.findall(r"[a-z0-9]+", text.lower().replace("’", "'"))
    wanted = re.findall(r"[a-z0-9]+", re.sub(r"[’']s?\b", "", name.lower()))
    if not wanted or not words:
        return False
    joined = "".join(wanted)
    if all(word in words for word in wanted) or any(
        word.startswith(joined) for word in words if len(joined) > 2
    ):
        return True
    if any(
        "".join(words[at : at + len(wanted)]) == joined
        or (words[at : at + 2] and "".join(words[at : at + 2]) == joined)
        for at in range(len(words))
    ):
        return True
    if name[0].isupper() and len(wanted) == 1 and 2 <= len(joined) <= 5:
        letters = re.sub(r"[^A-Za-z]", "", re.sub(r"(?<=[A-Z])n(?=[A-Z])|&", "", name)).lower()
        spans = [word for word in words if word not in ("and", "of", "the")]
        for width in range(2, len(letters) + 1):
            if any(
                "".join(word[0] for word in spans[at : at + width]) == letters
                for at in range(len(spans) - width + 1)
            ):
                return True
    return False
