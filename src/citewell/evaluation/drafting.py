"""Documents -> draft cases: questions read off table rows, "label: value" lines and sentences with a number.

In: documents, how many, a seed. Out: cases, unreviewed, whose tags say kind and recipe: answerable ones, and
the same questions of a year or an item for which no line of any document has the words. The same documents
and seed give the same cases. Knows nothing about models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from citewell.core.identity import hash_value
from citewell.core.records import Case, CaseSpan, Document
from citewell.core.sentences import sentence_spans
from citewell.verification.words import base_of

ANSWERABLE, UNANSWERABLE, NEAR_MISS = "answerable", "unanswerable", "near-miss"
TWINS = 0.2
"""The share of each of the two kinds without an answer."""
PERIOD = "table-period"
TRIED, LONGEST = 20, 300
"""Items, for a question that stands of none of them; characters of a sentence that is read."""

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NO_VALUE = re.compile(r"[\W_]*|n/a|none|yes|no|same|ditto", re.IGNORECASE)
_HEAD = re.compile(r"(?=.*[A-Za-z]{3})[^“”{}?:]{3,30}")
_ITEM = re.compile(
    r"(?!(?:total|all|others?|sum|average|of|by|in|on|to)\b)(?=.*[A-Za-z]{3})[^\s?:{}]+(?: [^\s?:{}]+){0,3}",
    re.I,
)
_LINE = re.compile(r"^[-* ]*([A-Z][a-z]+(?: [a-z]+){0,3}): +(\S+(?: \S+){0,5}(?<!\.))$", re.MULTILINE)
_NUMBER = r"(?:\d[\d,.]*\d|\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = rf"(?:\d{{1,2}} )?(?:(?:{_MONTH}) )?(?:\d{{1,2}}, )?(?:19|20)\d\d"
# A subject that can be asked for by itself: not "It", and not "The file", which some other sentence names.
_SUBJECT = (
    r"(?P<item>(?!(?:It|This|That|These|Those|They|He|She|We|You|There|Here|Each|Such|Some|Most|Both|One|In|On|At|By|For"
    r"|As|If|When|While|Since|After|Before|But|And|Its?|Their|His|Her|Our)\b)"
    r"(?:(?:The|An?) [\w’'-]{1,40} [\w’'-]{1,40}|(?!The |An? )[A-Z][\w’'-]{1,40})(?: [\w’'-]{1,40}){0,3}?)"
)
_WHEN = re.compile(
    rf"{_SUBJECT} (?P<verb>is|are|was|were)(?P<rest> [a-z][^,;:]{{0,200}}?) (?:in|on|since)"
    rf" (?P<said>{_DATE})"
    r"(?P<more>(?: [^,;:]{0,200})?)\."
)
_AMOUNT = re.compile(rf"{_SUBJECT} (?P<verb>is|are|was|were) (?P<said>{_NUMBER}(?: [^,;:.]{{1,200}})?)\.")
_COUNT = re.compile(
    rf"{_SUBJECT} (?P<verb>[a-z]{{1,40}}) (?P<said>{_NUMBER}) (?P<what>[a-z]{{1,40}}s)"
    r"(?P<more>(?: [^,;:]{0,200})?)\."
)


class Draft(NamedTuple):
    """``template`` is the question with ``{}`` for ``slot``, a year or an item. ``place`` is
    where its table, line or sentence begins; ``[start, end)`` of the text holds the answer."""

    document: str
    recipe: str
    place: int
    template: str
    slot: str
    expected: str
    start: int
    end: int

    @property
    def question(self) -> str:
        return self.template.format(self.slot)


def draft_cases(documents: Sequence[Document], *, n: int, seed: int = 0) -> tuple[Case, ...]:
    """At most ``n`` cases: of each kind its share, where the documents give so many."""
    found = [draft for document in documents for draft in _drafts(document)]
    names = _names(documents, found)
    twins = round(n * TWINS)
    chosen: list[Case] = []
    for kind, drafted, most in (
        (ANSWERABLE, _answerable(documents, found, names), n - 2 * twins),
        (UNANSWERABLE, _of_another_year(documents, found, names), twins),
        (NEAR_MISS, _of_another_item(documents, found), twins),
    ):
        chosen += _spread(kind, drafted, max(0, most), seed)
    return tuple(chosen)


# --- documents -> drafts ----------------------------------------------------------------------------


def _drafts(document: Document) -> Iterator[Draft]:
    name, text = document.document_id, document.text
    inside = _reader(text)
    tables = [(table.start, table.end) for table in document.tables]
    for table in document.tables:
        labels = Counter(row.label for row in table.rows)
        known = [row for row in table.rows if labels[row.label] == 1 and _ITEM.fullmatch(row.label)]
        for row, cell in ((one, cell) for one in known for cell in one.cells):
            head, said = " ".join(cell.head.split()), text[cell.start : cell.end].strip()
            if _NO_VALUE.fullmatch(said) or len(said.split()) > 16:
                continue
            if _YEAR.fullmatch(head):
                item = inside(row.label)
                was = "were" if re.search(r"[^s]s$", item) else "was"
                template = f"What {was} {item} in {{}}?"
                yield Draft(name, PERIOD, table.start, template, head, said, row.start, cell.end)
            elif _HEAD.fullmatch(head):
                template = f"What is the “{inside(head)}” of {{}}?"
                yield Draft(name, "table", table.start, template, row.label, said, row.start, cell.end)
    for line in _LINE.finditer(text):
        if not any(start <= line.start() < end for start, end in tables):
            item, start = inside(line[1]), line.start(1)
            yield Draft(name, "label", start, "What is the {}?", item, line[2], start, line.end())
    for start, end in sentence_spans(text):
        if end - start > LONGEST or any(first <= start < last for first, last in tables):
            continue
        sentence = text[start:end]
        for recipe, match in (
            ("when", _WHEN.fullmatch(sentence)),
            ("amount", _AMOUNT.fullmatch(sentence)),
            ("count", _COUNT.fullmatch(sentence)),
        ):
            template = _asked(recipe, match.groupdict()) if match else ""
            if match and template:
                yield Draft(name, recipe, start, template, inside(match["item"]), match["said"], start, end)
                break


def _asked(recipe: str, said: Mapping[str, str]) -> str:
    """The question, or "" where the verb cannot be turned round."""
    verb, more = said["verb"], said.get("more") or ""
    around = f"{said['item']} {said.get('rest') or ''}{more}"
    if re.search(r"[{}]|\b(?:this|these|it|they|which|who)\b", around):
        return ""
    if recipe == "when":
        return f"When {verb} {{}}{said['rest']}{more}?"
    if recipe == "amount":
        return f"What {verb} {{}}?"
    base = "have" if verb in ("has", "have", "had") else base_of(verb)
    does = "did" if verb.endswith("ed") or verb == "had" else "do" if verb == base else "does"
    return f"How many {said['what']} {does} {{}} {base}{more}?" if base else ""


def _reader(text: str) -> Callable[[str], str]:
    """How words of ``text`` read inside a sentence: a capital is lowered that only began the line."""
    names = set(re.findall(r"[a-z,] ([A-Z][\w’'-]*)", text))
    common = set(re.findall(r"\b[a-z][\w’'-]*", text)) | {"the", "a", "an"}

    def inside(words: str) -> str:
        first, _, others = words.partition(" ")
        begins = first[1:].islower() and (others[:1].islower() or first.lower() in common)
        lowered = first in ("The", "A", "An") or (begins and first not in names)
        return f"{words[0].lower()}{words[1:]}" if lowered else words

    return inside


# --- drafts -> cases --------------------------------------------------------------------------------


def _names(documents: Sequence[Document], found: Sequence[Draft]) -> Mapping[str, str]:
    """What to call each document where several could answer such questions."""
    holders = {draft.document for draft in found if draft.recipe in (PERIOD, "label")}
    names = {id: re.sub(r"_+", " ", id.rpartition("/")[2].rsplit(".", 1)[0]) for id in holders}
    titles = {one.document_id: one.title.value for one in documents if one.title}
    names |= {id: titles[id] for id in holders if 0 < len(titles.get(id, "")) <= 60}
    return names if len(names) > 1 else {}


def _whose(question: str, draft: Draft, names: Mapping[str, str]) -> str:
    if draft.recipe not in (PERIOD, "label") or draft.document not in names:
        return question
    return f"According to {names[draft.document]}, {question[:1].lower()}{question[1:]}"


_Candidate = tuple[Draft, str, str, tuple[CaseSpan, ...], str]
"""Its question, expected answer, spans, reason to abstain."""


def _answerable(
    documents: Sequence[Document], found: Sequence[Draft], names: Mapping[str, str]
) -> Iterator[_Candidate]:
    """A question that two places give is left out: it would have two answers."""
    texts = {document.document_id: document.text for document in documents}
    asked = Counter(_whose(draft.question, draft, names).lower() for draft in found)
    for draft in found:
        question = _whose(draft.question, draft, names)
        if asked[question.lower()] == 1:
            span = CaseSpan(document=draft.document, quote=texts[draft.document][draft.start : draft.end])
            yield draft, question, draft.expected, (span,), ""


def _of_another_year(
    documents: Sequence[Document], found: Sequence[Draft], names: Mapping[str, str]
) -> Iterator[_Candidate]:
    latest = max((int(year) for one in documents for year in _YEAR.findall(one.text)), default=2000)
    for draft in found:
        if draft.recipe == PERIOD:
            year = str(latest + 3 + _lot(draft.question) % 5)
            question = _whose(draft.template.format(year), draft, names)
            yield draft, question, "", (), f"no document speaks of {year}"


def _of_another_item(documents: Sequence[Document], found: Sequence[Draft]) -> Iterator[_Candidate]:
    """An item that another place of the same kind speaks of, and no line, with the next, in such words."""
    at: dict[str, set[int]] = {}
    lines = [line for one in documents for line in one.text.split("\n") if line.strip()]
    for number, line in enumerate(lines):
        for word in _words(line):
            at.setdefault(word, set()).update((number - 1, number))
    places: dict[str, set[tuple[str, int]]] = {}
    items: dict[str, list[Draft]] = {}
    for draft in found:
        places.setdefault(draft.template, set()).add((draft.document, draft.place))
        items.setdefault(draft.recipe, []).append(draft)
    for draft in found:
        others, lot, asked = items[draft.recipe], _lot(draft.question), _words(draft.template)
        for step in range(TRIED) if asked and draft.recipe != PERIOD else ():
            other = others[(lot + step) % len(others)]
            if (other.document, other.place) in places[draft.template] or not _words(other.slot):
                continue
            if _shape(other.slot) != _shape(draft.slot):
                continue
            told = set.intersection(*(at.get(word, set()) for word in _words(other.slot)))
            if not any(at.get(word, set()) & told for word in asked):
                reason = f"the documents say this of {draft.slot}, not of {other.slot}"
                yield draft, draft.template.format(other.slot), "", (), reason
                break


def _spread(kind: str, drafted: Iterator[_Candidate], n: int, seed: int) -> list[Case]:
    """``n`` of them by lot, in turns from each recipe of each document."""
    cases: dict[str, tuple[tuple[str, str], Case]] = {}
    for draft, question, expected, spans, abstain in drafted:
        name = hash_value([draft.document, question, draft.start]).partition(":")[2][:12]
        tags = (kind, f"recipe:{draft.recipe}")
        case = Case(
            id=f"draft-{name}", question=question, expected=expected, spans=spans, abstain=abstain, tags=tags
        )
        cases.setdefault(question.lower(), ((draft.document, draft.recipe), case))
    turns: Counter[tuple[str, str]] = Counter()
    ordered = []
    for place, case in sorted(cases.values(), key=lambda one: hash_value([seed, one[1].id])):
        ordered.append((turns[place], case))
        turns[place] += 1
    return [case for _, case in sorted(ordered, key=lambda one: one[0])[:n]]


def _lot(text: str) -> int:
    return int(hash_value(text)[-6:], 16)


def _shape(item: str) -> str:
    """ "pump.speed" is like "alarm.delay_s"."""
    return re.sub(r"\w+", "w", item)


def _words(text: str) -> set[str]:
    small = {
        "the",
        "and",
        "for",
        "with",
        "from",
        "are",
        "was",
        "were",
        "did",
        "does",
        "how",
        "many",
        "what",
        "when",
    }
    return set(re.findall(r"[a-z0-9]{3,}", text.lower())) - small
