"""Whether a passage is about what a question names: its company, its document, its period.

In: a :class:`ParsedQuestion` and passages. Out: which passages may answer it. Exact checks on names and
periods; independent of ranking and models.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from citewell.core.records import Chunk, Passage
from citewell.questions.parsing import STOP, ParsedQuestion, is_no_name, name_occurs
from citewell.questions.periods import Calendar, Period, calendar_of, covers, head_covers, periods_in

_LED = re.compile(
    r"(?<![^\W\d_])(?<![^\W\d_]-)([^\W\d_][\w-]{2,63})\s+((?:(?:of|in|at|for|on|by|from|to)\s+)?)(?:(?:the|an?)\s+)?$",
    re.I,
)
_LEADS = 80  # characters examined before a name
_ARTICLE = re.compile(r"\b(?:the|an?)\s+$", re.I)
_FOLLOWED = re.compile(r"(?P<owns>['\u2019]s)?\s+(?P<word>[^\W\d_][\w-]{2,})")
_NAME = r"(?P<other>[A-Z][\w&]*(?:(?:\s+[A-Z]|-\w)[\w&]*){0,5})"
_STANDS_FOR = frozenset(
    str.split("""
        company group corporation firm registrant bank board issuer parent subsidiary partnership trust
        fund borrower lender seller buyer customer client licensee licensor tenant landlord employer
        employee supplier contractor agreement contract plan committee party parties association
        foundation institute university city state government commission authority agency department
        ministry council court act society club union
    """)
)
"""Words that, capitalised, stand for a name given earlier ("the Company")."""


def usable(passages: Sequence[Passage]) -> list[Passage]:
    """Passages above the relevance threshold that no filter set aside, in their order."""
    return [passage for passage in passages if passage.relevant and not passage.set_aside]


def chunk_identity(chunk: Chunk) -> str:
    """What a chunk belongs to: document id, title, author and context, without its own content."""
    return f"{chunk.document_id}\n{chunk.title}\n{chunk.author}\n{chunk.context}"


def names_held(wanted: ParsedQuestion, chunk: Chunk) -> bool:
    """Whether the chunk, or what it belongs to, has one of the names; True if none is asked for."""
    return not wanted.names or any(
        name_occurs(name, chunk_identity(chunk)) or name_occurs(name, chunk.content) for name in wanted.names
    )


def of_another(wanted: ParsedQuestion, text: str) -> str:
    """The other name that ``text`` has where the question has its own, with the same words around it
    ("captain of the Alcyon" for "captain of the Triton", "the Alder plant" for "the Birch plant"), or "".

    Returns "" for a text with the name asked for, or no name in its place ("the ship", "the Company").
    """
    question, text = _plain(wanted.question), _plain(text)
    for name in map(_plain, wanted.names):
        if name_occurs(name, text):
            continue
        for place in _places(name, question):
            for found in place.finditer(text):
                other = found["other"]
                words = [word for word in re.split(r"[\s-]+", other) if word]
                told = any(not is_no_name(word) and word.lower() not in _STANDS_FOR for word in words)
                if told and not name_occurs(other, question):
                    return other
    return ""


def _plain(text: str) -> str:
    """Remove accents: Zurich matches Z\u00fcrich."""
    return "".join(ch for ch in unicodedata.normalize("NFKD", text) if not unicodedata.combining(ch))


@lru_cache(maxsize=1024)  # called for every sentence
def _places(name: str, question: str) -> tuple[re.Pattern[str], ...]:
    """Patterns for the words around ``name`` in ``question``, with any name between them."""
    return tuple(map(re.compile, _patterns(name, question)))


def _patterns(name: str, question: str) -> Iterator[str]:
    at = question.find(name)
    if at < 0:
        return
    before = question[max(0, at - _LEADS) : at]
    led = _LED.search(before)
    if led and led[1].lower() not in STOP:
        words = (rf"{re.escape(led[1].removesuffix('s'))}s?", *map(re.escape, led[2].split()))
        joint = r"\s+".join(words)
        # "The length of Africa's longest river" is about the river.
        yield rf"\b(?i:{joint}\s+(?:(?:the|an?)\s+)?){_NAME}(?![\w'\u2019])"
    # "The Birch Plant" is also matched as "the Birch plant".
    for end in {at + len(name), at + max(name.rfind(" "), 0)} - {at}:
        after = _FOLLOWED.match(question, end)
        if not after or after["word"].lower() in STOP:
            continue
        word = rf"(?i:\s+{re.escape(after['word'].removesuffix('s'))}s?\b)"
        if after["owns"]:
            yield rf"\b{_NAME}['\u2019]s{word}"
        elif _ARTICLE.search(before):
            yield rf"\b(?i:(?:the|an?)\s+){_NAME}{word}"


def of_the_named(wanted: ParsedQuestion, passages: Sequence[Passage]) -> list[Passage]:
    """Passages of documents that carry a name asked for; if there are none, passages that mention one.

    A question about one company is not answered from another's filing, nor one about a setting or function
    from text without its identifier. An amending passage speaks of what it changes.
    """
    about = [(p, (p.chunk, *(one.chunk for one in p.amends))) for p in passages]
    if wanted.codes:
        about = [(p, all_) for p, all_ in about if any(_has_code(wanted, chunk) for chunk in all_)]
    owners = {name for name in wanted.names for _, all_ in about if _owns(name, all_)}
    if owners:
        return [p for p, all_ in about if any(_owns(name, all_) for name in owners)]
    return [p for p, all_ in about if any(names_held(wanted, chunk) for chunk in all_)]


def _has_code(wanted: ParsedQuestion, chunk: Chunk) -> bool:
    return any(code in chunk.content or code in chunk_identity(chunk) for code in wanted.codes)


def _owns(name: str, chunks: Sequence[Chunk]) -> bool:
    return any(name_occurs(name, chunk_identity(chunk)) for chunk in chunks)


def calendar(chunk: Chunk) -> Calendar:
    """The fiscal calendar implied by the chunk's document id, title and heads (``periods.calendar_of``)."""
    heads = tuple(dict.fromkeys(cell.head for row in chunk.rows for cell in row.cells))
    return _calendar((chunk.document_id, chunk.title), heads)


_calendar = lru_cache(maxsize=1024)(calendar_of)
head_fit = lru_cache(maxsize=65536)(head_covers)
"""``periods.head_covers``, cached."""


def own_periods(chunk: Chunk) -> tuple[Period, ...]:
    """The periods in the id and title of the chunk's document."""
    return periods_in(f"{chunk.document_id} {chunk.title}")


def period_held(asked: Period, chunk: Chunk) -> bool:
    """Whether the period asked for occurs in the chunk's columns or text, or its document's id or title."""
    known = calendar(chunk)
    if any(head_fit(cell.head, asked, known) > 0.3 for row in chunk.rows for cell in row.cells):
        return True
    named = [*periods_in(chunk.content), *periods_in(chunk.context)]
    if any(covers(found, asked, known) > 0.3 for found in named):
        return True
    return any(
        covers(found, asked, known) > 0.3 or (found.year == asked.year and asked.quarter is None)
        for found in own_periods(chunk)
    )
