"""Documents -> draft cases: answerable ones, their unanswerable twins, and near misses.

In: documents, how many, a seed. Out: cases, unreviewed, whose tags say kind and recipe. A twin asks the
same of something that the documents do not have; a near miss asks something the documents do not say of a
thing that they speak of. Both are made only where no line of any document holds the words of an answer.
The same documents and seed give the same cases. Knows nothing about models.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from citewell.core.identity import hash_value
from citewell.core.records import Case, CaseSpan, Document
from citewell.evaluation.drafting.drafts import Draft
from citewell.evaluation.drafting.prose import from_prose
from citewell.evaluation.drafting.tables import YEAR, from_tables

ANSWERABLE, UNANSWERABLE, NEAR_MISS = "answerable", "unanswerable", "near-miss"
SHARES = {ANSWERABLE: 0.6, UNANSWERABLE: 0.2, NEAR_MISS: 0.2}
DEFAULT_N = 50

# In the company of these words the documents might say why, who or when.
_ANSWERS = {
    "Why": ("because", "so that", "reason", "therefore", "in order", " why", " since ", "thus"),
    "Who": (" who ", "introduced by", "invented", "author", "decided", "chose", "founder"),
    "On": ("date", "day", "month", "week", "century"),
    "In": ("introduced", "since", "century", "version"),
    "How": ("industry", "peers", "competitors", "benchmark"),
}
_NAME = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+| [IVX]+)?")
_SMALL = frozenset(
    str.split("""
    the a an of and or in on at to for with by from is are was were be been has have had do does did what who
    which when where why how many much it its that this as not can may must will year date average
""")
)


_Found = Sequence[tuple[Document, Draft]]


class _Chosen(NamedTuple):
    case: Case
    recipe: str
    document: str
    subject: str


class _Corpus:
    """All texts, for the question whether something stands in them."""

    def __init__(self, documents: Sequence[Document]) -> None:
        lines = [line.lower() for document in documents for line in document.text.split("\n") if line.strip()]
        self.whole = "\n".join(lines)
        self._lines = lines
        self._at: dict[str, set[int]] = {}
        for index, line in enumerate(lines):
            for word in _words(line):
                self._at.setdefault(word, set()).add(index)

    def together(self, words: Collection[str], others: Iterable[str], *, years: bool) -> bool:
        """Whether a line holds most of ``words``, and it or one next to it one of ``others``, or a year."""
        most = -(-2 * len(words) // 3)
        held = Counter(index for word in words for index in self._at.get(word, ()))
        for index, count in held.items():
            if count >= most:
                near = " ".join(self._lines[max(index - 1, 0) : index + 2])
                if any(word in near for word in others) or (years and YEAR.search(near)):
                    return True
        return False


def draft_cases(documents: Sequence[Document], *, n: int = DEFAULT_N, seed: int = 0) -> tuple[Case, ...]:
    """At most ``n`` cases, as many of each kind as :data:`SHARES` says where the documents give so many."""
    corpus = _Corpus(documents)
    found = [
        (document, draft)
        for document in documents
        for draft in (*from_prose(document), *from_tables(document))
    ]
    chosen: list[Case] = []
    asked = {kind: round(n * SHARES[kind]) for kind in (UNANSWERABLE, NEAR_MISS)}
    asked[ANSWERABLE] = max(0, n - sum(asked.values()))
    for kind, drafted in (
        (ANSWERABLE, _answerable(found)),
        (UNANSWERABLE, _twins(corpus, found)),
        (NEAR_MISS, _near_misses(corpus, found)),
    ):
        chosen += _spread(list(drafted), asked[kind], seed)
    return tuple(chosen)


def _answerable(found: _Found) -> Iterator[_Chosen]:
    """A question that two places give is left out: it would have two answers."""
    whose = _whose(found)
    asked = Counter(whose(document, draft, draft.question).lower() for document, draft in found)
    for document, draft in found:
        question = whose(document, draft, draft.question)
        if asked[question.lower()] == 1:
            span = CaseSpan(document=document.document_id, quote=document.text[draft.start : draft.end])
            yield _made(ANSWERABLE, document, draft, question, expected=draft.expected, spans=(span,))


def _whose(found: _Found) -> Callable[[Document, Draft, str], str]:
    """Where several documents have figures of a period, a question for one says whose."""
    holders = {document.document_id for document, draft in found if draft.recipe == "table-period"}

    def named(document: Document, draft: Draft, question: str) -> str:
        if draft.recipe != "table-period" or len(holders) < 2:
            return question
        title = document.title.value if document.title else ""
        stem = re.sub(r"_+", " ", document.document_id.rpartition("/")[2].rsplit(".", 1)[0])
        name = title if title and len(title) <= 60 else stem
        return f"According to {name}, {question[:1].lower()}{question[1:]}"

    return named


def _twins(corpus: _Corpus, found: _Found) -> Iterator[_Chosen]:
    """The same question of a year, a setting or a name that it does not stand of."""
    whose = _whose(found)
    names = sorted(
        {draft.subject for _, draft in found if _NAME.fullmatch(draft.subject) and not draft.plural}
    )
    settings: dict[str, list[str]] = {}
    for document, draft in found:
        settings.setdefault(document.document_id, []).append(draft.subject)
    latest = max((int(year) for year in YEAR.findall(corpus.whole)), default=2000)
    for document, draft in found:
        lot = int(hash_value(draft.question)[-6:], 16)
        if draft.recipe == "table-period":
            year = str(latest + 3 + lot % 5)
            question, reason = draft.template.replace("{}", year), f"no document speaks of {year}"
        elif draft.recipe == "table":
            setting = _another_setting(draft.subject, settings[document.document_id], lot)
            if not setting or setting in corpus.whole:
                continue
            question, reason = draft.template.format(setting), f"no document has {setting}"
        elif YEAR.search(draft.question):
            year = str(latest - lot % 300 - 5)
            if year in corpus.whole:
                continue
            question = YEAR.sub(year, draft.question, count=1)
            reason = f"no document speaks of {year}"
        else:
            name = names[lot % len(names)] if names else ""
            if draft.template.count("{}") != 1 or not _NAME.fullmatch(draft.subject) or name == draft.subject:
                continue
            words = _words(draft.template) | _words(draft.expected)
            if draft.recipe == "definition" or corpus.together(_words(name), words, years=False):
                continue
            question = draft.template.format(name)
            reason = f"the documents say this of {draft.subject}, not of {name}"
        yield _made(UNANSWERABLE, document, draft, whose(document, draft, question), abstain=reason)


def _near_misses(corpus: _Corpus, found: _Found) -> Iterator[_Chosen]:
    """Why, who or when, of a fact that the documents only state."""
    whose = _whose(found)
    for document, draft in found:
        for question in draft.aside:
            word = question.split()[0]
            words = _words(draft.subject if word in {"Who", "In"} else question)
            if words and not corpus.together(words, _ANSWERS[word], years=word in {"On", "In"}):
                reason = f"the documents speak of {draft.subject}; this they do not say"
                yield _made(NEAR_MISS, document, draft, whose(document, draft, question), abstain=reason)
                break


def _another_setting(name: str, names: Sequence[str], lot: int) -> str:
    """A dotted name of the same section with the ending of another; "" where the names are no such."""
    section, _, ending = name.partition(".")
    dotted = sorted({other for other in names if re.fullmatch(r"[a-z_]+\.[a-z_]+", other)})
    siblings = [other for other in dotted if other.startswith(f"{section}.")]
    others = [other for other in dotted if other not in siblings]
    if not ending or len(siblings) < 3 or not others:
        return ""
    return f"{section}.{others[lot % len(others)].partition('.')[2]}"


def _made(
    kind: str,
    document: Document,
    draft: Draft,
    question: str,
    *,
    expected: str = "",
    spans: tuple[CaseSpan, ...] = (),
    abstain: str = "",
) -> _Chosen:
    name = hash_value([document.document_id, question, draft.start])
    case = Case(
        id=f"draft-{name.partition(':')[2][:12]}",
        question=question,
        expected=expected,
        spans=spans,
        abstain=abstain,
        tags=(kind, f"recipe:{draft.recipe}"),
    )
    return _Chosen(case, draft.recipe, document.document_id, draft.subject)


def _spread(candidates: Sequence[_Chosen], n: int, seed: int) -> list[Case]:
    """``n`` of them by lot, taking first from what gave least so far."""
    order: Callable[[_Chosen], str] = lambda one: hash_value([seed, one.case.id])  # noqa: E731
    left = sorted(candidates, key=order)
    given: Counter[tuple[str, str]] = Counter()
    chosen: list[_Chosen] = []
    questions: set[str] = set()
    while left and len(chosen) < n:
        best = min(
            left,
            key=lambda one: (
                given["subject", one.subject],
                given["recipe", one.recipe] + given["document", one.document],
            ),
        )
        left.remove(best)
        if best.case.question.lower() in questions:
            continue
        questions.add(best.case.question.lower())
        chosen.append(best)
        given.update([("subject", best.subject), ("recipe", best.recipe), ("document", best.document)])
    return [one.case for one in chosen]


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]{3,}", text.lower()) if word not in _SMALL}
