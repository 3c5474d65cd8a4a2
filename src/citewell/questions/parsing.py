"""What a question asks: its periods, line items, names, statement, kind and remaining words.

In: one question or aspect. Out: :class:`ParsedQuestion`, by exact rules and small tables; nothing unnamed is
guessed. Also the stems and names used to compare texts. Independent of passages.
"""

from __future__ import annotations

import itertools
import re
from enum import StrEnum
from functools import lru_cache

from citewell.core.records import Record
from citewell.core.sentences import Places
from citewell.questions.calculator import Mention, calculator
from citewell.questions.periods import MONTHS, Period, periods_in

MAX_QUESTION = 20_000
"""Characters; a longer question is refused, never cut."""
EVERY_YEAR = "every year"


class QuestionKind(StrEnum):
    NUMBER = "number"
    YES_NO = "yes/no"
    WHY = "why"
    WHO = "who"
    WHEN = "when"
    WHICH = "which"
    TEXT = "text"


class ParsedQuestion(Record, frozen=True, kw_only=True):
    """``items``: line items asked for; ``formulae``: ratios; ``changes``: whether it asks for a change.

    ``words``: stemmed content words except names, periods, items and filler; ``terms``: all
    stemmed content words except names and periods; ``codes``: identifiers as written
    ("writer.top_p", "--port", "PYENV_DIR"). ``either``: one of the items suffices; ``every``: each
    year that a table shows is wanted.
    """

    question: str
    ask: QuestionKind
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
        """Whether the answer is statement values: items are named and little else is asked."""
        asked_for = self.ask in (QuestionKind.NUMBER, QuestionKind.YES_NO, QuestionKind.TEXT)
        asked_for = asked_for or (self.ask is QuestionKind.WHICH and len(self.items) > 1)
        return bool(self.items or self.formulae) and asked_for and len(self.words) <= 2

    @property
    def operands(self) -> tuple[str, ...]:
        """The line items needed: those named, else those of the ratios named; in order, once each."""
        named = [mention.name for mention in self.items]
        if not named:
            named = [name for m in self.formulae for either in m.of for name in either.split(" or ")]
        return tuple(dict.fromkeys(named))

    @property
    def is_ratio(self) -> bool:
        """Whether a ratio of several items is named."""
        return any(len(mention.of) > 1 for mention in self.formulae)

    @property
    def left_open(self) -> bool:
        """Whether values alone do not answer it: a ratio, change, average, choice, or yes or no."""
        return (
            self.is_ratio
            or self.changes
            or self.average
            or self.ask in (QuestionKind.YES_NO, QuestionKind.WHICH)
        )


_KINDS: tuple[tuple[QuestionKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.I | re.S | re.X))
    for kind, pattern in (
        (
            QuestionKind.NUMBER,
            r"""\bhow\s(?:much|many|often|long|old|large|big|high|far|tall)\b
            |\bwhat\s(?:percent|percentage|amount|number|fraction|share)\b""",
        ),
        (
            QuestionKind.WHY,
            r"""\bwhy\b|\bwhat\s(?:drove|drives|caused|causes|led|explains?)\b
            |\breasons?\s(?:for|why|behind)\b""",
        ),
        (QuestionKind.WHO, r"^\s*(?:by\s|to\s|from\s|for\s)?(?:who|whom|whose)\b"),
        (QuestionKind.WHEN, r"\bwhen\b|\b(?:what|which)\s(?:year|date|day|month|time)\b"),
        (QuestionKind.WHICH, r"^\W*(?:\w+\W+){0,12}?which\b|\bamong\b"),
        (
            QuestionKind.YES_NO,
            r"""(?:^|[,:.;?]\s*)(?:is|are|was|were|do|does|did|has|have|had
            |can|could|will|would|should|may|must)\b[^?]*\?""",
        ),
        (
            QuestionKind.NUMBER,
            r"""\A(?>.*?\b(?:what|how)\b).*\b(?:rate|ratio|amount|total|price|cost|value|margin|growth|percent
            |number|average|sum|size|weight|height|distance|revenue)\b""",
        ),
    )
)
_CHANGE = re.compile(
    r"\b(?:grow|grew|growth|grown|chang\w*|increas\w*|decreas\w*|declin\w*|drop\w*|fell|fall|rise|rose|"
    r"improv\w*|worsen\w*|accelerat\w*|decelerat\w*|cagr|year[- ]over[- ]year|yoy|"
    r"trend\w*|compar\w*|consistent\w*|fluctuat\w*)\b",
    re.I,
)
_AVERAGE = re.compile(r"\b(?:average|mean|avg)\b", re.I)


# --- words ----------------------------------------------------------------------------------------

_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
# The country, as opposed to the pronoun.
_AMERICA = re.compile(r"\bU\.\s?S\.(?:\s?A\.)?|\bUSA?\b(?!\$)")
_WORD = re.compile(r"[a-z0-9&%]+")
STOP = frozenset(
    str.split("""
        a an the every of to in on at by for from with without as is are was were be been being do does
        did has have had can could will would should may might must and or but if then than that
        this these those it its they their them he she his her we us our us you your i my me what which
        who whom whose when where why how much many any some there here all each both between among
        during over under about into out up down not no nor so such only also just very most more
        less least please give answer question following based base using use used basing provide
        provided information shown show stated off want need within according details your below above
        one two decimal place places round rounded unit units usd dollar dollars million millions thousand
        thousands billion billions define defined definition calculate calculated compute help metric
        financial possible line items considering taking account data asked formerly known fiscal year
        years end ended quarter fy amount report reported generate generated generates say says state tell
        company s t ve re d
    """)
)


@lru_cache(maxsize=8192)
def label_words(text: str) -> tuple[str, ...]:
    """The words of a label: lower case, singular, without parentheses and apostrophes."""
    named = _AMERICA.sub("usa", text)
    flat = _PARENTHESIS.sub(" ", named.lower().replace("’", "'").replace("'", ""))
    return tuple(stem(word) for word in _WORD.findall(flat.replace(" & ", " and ")))


def stem(word: str) -> str:
    """``word`` in the singular, by its ending."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


# Words about how a value changed or who has it: they need not appear with the value.
_LIGHT = frozenset(
    label_words(
        "grow grew growth change changed increase increased decrease decreased decline declined drop "
        "dropped improve improving improved accelerate accelerating positive negative historically "
        "consistent fluctuating roughly rate ratio year-over-year cagr average total margin "
        "compare compared trend times sold have has percent percentage historical best divided divide "
        "explain assume approximately hold held own owned make made spend spent pay paid earn earned "
        "record recorded post posted achieve achieved incur incurred realise realize realised realized "
        "get got see saw reach reached stand stood bring brought number level count lost lose cash flow"
    )
)
_NOT_NAMES = frozenset(
    str.split(""" usd us usa uk eu fy q1 q2 q3 q4 cogs dpo dso dio ccc ppe ppne eps ceo cfo coo roa roe
        cagr ebit ebitda sga sgna capex gaap fcf yoy ar ap pp p l p&l r&d sg&a pp&e u k i compare list name
        describe explain find discuss imagine assume assuming utilizing respond address approach roughly
        income statement balance sheet cash flow statements operations free total net gross operating """)
) | frozenset(MONTHS)
_NAME = re.compile(
    r"\b(?:\d{0,2}[A-Z][\w&.]*[’']?\w*|[a-z]+[A-Z]\w*)"
    r"(?:(?:\s+(?:&|and|of|the|de|van|von)\s+|[\s-]+)[A-Z][\w&.]*[’']?\w*)*"
)
_POSSESSIVE = re.compile(r"[’']s$")
_TOKEN = re.compile(r"\d[\d,.]*\d(?!\w)|[\w&]+")
# Names of settings, options, functions and variables. A hyphen alone does not make one ("well-known"), nor
# does a dot in a number or in a capitalised word ("U.S.", "Amazon.com").
_CODE = re.compile(
    r"(?<![\w.-])(?:--[a-z][\w-]*\w|[a-z]\w*(?:\.[a-z_][\w-]*\w)+|\w*[^\W_]_[^\W_]\w*|\.[a-z][\w-]+\w)(?![\w-])"
)


_SAID = re.compile(r"\W*(yes|no)\W*", re.I)
_ANSWERED = re.compile(r"The answer to \u201c.*\u201d is (?:yes|no)\.", re.S)
_ENDS = re.compile(r"[?!]+(?:\s+|$)|\.\s+(?=[A-Z])|\.$")


def yes_or_no(said: str, question: str) -> str:
    """A bare "Yes." or "No" as the sentence it states by answering ``question``; "" for any other words."""
    match = _SAID.fullmatch(said)
    asked = _ENDS.sub(", ", " ".join(question.split())).strip(", ")
    return f"The answer to \u201c{asked}\u201d is {match[1].lower()}." if match and asked else ""


def wants_yes_or_no(question: str) -> bool:
    """Whether ``question`` can be answered with yes or no, with or without its question mark."""
    return question_kind(f"{question.rstrip(' ?.')}?") is QuestionKind.YES_NO


def says_yes_or_no(statement: str) -> bool:
    """Whether ``statement`` was made by :func:`yes_or_no`."""
    return bool(_ANSWERED.fullmatch(statement))


def question_kind(question: str) -> QuestionKind:
    """The first kind in the table whose pattern matches the question; TEXT if none does."""
    return next((kind for kind, pattern in _KINDS if pattern.search(question)), QuestionKind.TEXT)


@lru_cache(maxsize=512)
def read_question(question: str) -> ParsedQuestion:
    """What ``question`` asks for. Deterministic; equal questions give equal values."""
    dated = periods_in(question)
    found = calculator().named_in(question)
    named = [(mention.start, mention.end) for mention in (*found.items, *found.formulae)]
    names = _names(question, [*named, *((period.start, period.end) for period in dated)])
    of_time = Places((period.start, period.end) for period in dated)
    inside = Places([*named, *found.places])
    name_words = {word for name in names for word in label_words(name)}
    terms, words = [], []
    for match in _TOKEN.finditer(question):
        if match.start() in of_time or (match.group().lower() in STOP and match.group() != "US"):
            continue
        for stemmed in label_words(match.group()):
            if stemmed in STOP or stemmed in name_words:
                continue
            terms.append(stemmed)
            if stemmed not in _LIGHT and not stemmed.isdigit() and match.start() not in inside:
                words.append(stemmed)
    distinct: dict[str, Period] = {}
    for period in dated:
        distinct.setdefault(period.name, period)
    known = {mention.name for mention in found.formulae}
    between = [question[a.end : b.start] for a, b in itertools.pairwise(found.items)]
    return ParsedQuestion(
        question=question,
        ask=question_kind(question),
        periods=tuple(distinct.values()),
        items=tuple(mention for mention in found.items if mention.name not in known),
        formulae=found.formulae,
        statements=found.statements,
        names=names,
        words=tuple(dict.fromkeys(words)),
        terms=tuple(dict.fromkeys(terms)),
        changes=bool(_CHANGE.search(question)),
        average=bool(_AVERAGE.search(question)),
        either=bool(between) and all(text.strip().lower() == "or" for text in between),
        every=EVERY_YEAR in question,
        codes=tuple(dict.fromkeys(code.group() for code in _CODE.finditer(question))),
    )


# --- sentences that ask ---------------------------------------------------------------------------

_INSTRUCTION = re.compile(
    r"^\s*(?:please\s+)?(?:you are|imagine|assume|answer|round|give (?:a|your)|respond|base your|"
    r"explain your|show your|if\b.+\b(?:state that|explain why|say so))\b",
    re.I | re.S,
)
# Not the prose sentence splitter, which would break up "FY2015 - FY2017 3 year".
_BORDER = re.compile(
    r"(?:(?<=[?!])|(?<=[a-z)\d]{2}\.)(?<!Inc\.)(?<!Co\.)(?<!Corp\.)(?<!Ltd\.)(?<!vs\.)(?<!No\.))\s+(?=[A-Z\"“(])"
)
_DEFINITION = re.compile(r"\b(?:is|are) defined as\b|^\s*define\b|^\s*calculate\b", re.I)


def without_instructions(whole: str) -> list[str]:
    """The sentences of a question except those about the form of the answer."""
    sentences = [piece.strip() for piece in _BORDER.split(whole) if piece.strip()]
    return [sentence for sentence in sentences if not _INSTRUCTION.match(sentence)]


def asking_sentences(whole: str) -> list[str]:
    """The sentences that ask; if none clearly does, those that neither instruct nor define; at least one."""
    told = without_instructions(whole)
    asking = [sentence for sentence in told if sentence.endswith("?")]
    return asking or [sentence for sentence in told if not _DEFINITION.search(sentence)] or [whole]


# --- names ----------------------------------------------------------------------------------------


def names_in(question: str) -> tuple[str, ...]:
    """Capitalised names of companies, people and products, without question words, metrics and months."""
    return read_question(question).names


def _names(question: str, taken: list[tuple[int, int]]) -> tuple[str, ...]:
    places = Places(taken)
    found: list[str] = []
    for match in _NAME.finditer(question):
        words = [
            part.group()
            for part in re.finditer(r"\S+", match.group())
            if match.start() + part.start() not in places
        ]
        while words and is_no_name(words[0]):
            words.pop(0)
        owner = next((at for at, word in enumerate(words) if _POSSESSIVE.search(word)), len(words))
        words = words[: owner + 1]
        while words and is_no_name(words[-1]):
            words.pop()
        name = re.sub(r"[’']s?$", "", " ".join(words)).strip(" .,&")
        if len(name) > 1 and not re.fullmatch(r"(?:FY|Q)?\d*", name):
            found.append(name)
    return tuple(dict.fromkeys(found))


def is_no_name(word: str) -> bool:
    """Whether a word is not a name despite its capital: a question word, a metric, a month, a period."""
    bare = re.sub(r"[’']s?$", "", word).strip(".,&").lower()
    return bare in _NOT_NAMES or bare in STOP or bool(re.fullmatch(r"(?:fy|q)\d+|(?:10|8|20)-?[kqf]", bare))


@lru_cache(maxsize=65536)
def name_occurs(name: str, text: str) -> bool:
    """Whether ``text`` (a title, an id, a passage) contains ``name``, possibly abbreviated.

    "JnJ" matches "JOHNSON_JOHNSON", "JPM" "JPMORGAN", "CVS Health" "CVSHEALTH".
    """
    words = re.findall(r"[a-z0-9]+", text.lower())
    wanted = re.findall(r"[a-z0-9]+", re.sub(r"[’']s?\b", "", name.lower()))
    if not wanted or not words:
        return False
    joined = "".join(wanted)
    if all(word in words for word in wanted):
        return True
    if len(joined) > 2 and any(word.startswith(joined) for word in words):
        return True
    if any("".join(words[at : at + size]) == joined for size in {2, len(wanted)} for at in range(len(words))):
        return True
    if not name[0].isupper() or len(wanted) > 1 or not 2 <= len(joined) <= 5:
        return False
    letters = re.sub(r"[^A-Za-z]", "", re.sub(r"(?<=[A-Z])n(?=[A-Z])|&", "", name)).lower()
    initials = "".join(word[0] for word in words if word not in ("and", "of", "the"))
    return len(letters) > 1 and letters in initials
