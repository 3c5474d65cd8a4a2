"""A randomly generated home full of secrets, and everything that a caller can learn from it.

In: a seed and sizes. Out: a :class:`World`: documents with random access lists, each with its own marks
in id, title and text; people with random groups and roles; records of what they asked. :func:`told` calls
every public method as one of them and yields the results; :func:`leaks` returns the marks that should not be
in them. The models are fakes, so thousands of cases take seconds; stores, index and log are real. Used by the
tests and by the access measurement.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.sample_records import some_claim, some_record
from citewell.audit.question import AuditQuery
from citewell.core.access import Caller, Role
from citewell.core.config import Config, Retrieval, Server
from citewell.core.errors import CitewellError
from citewell.core.identity import canonical_json, hash_text, plain
from citewell.core.ports import Extraction, Reading
from citewell.core.records import (
    AuditRecord,
    Chunk,
    Citation,
    Document,
    Found,
    Maker,
    RetrievalResult,
    Trace,
)
from citewell.documents.chunking import chunk_document
from citewell.documents.text import caller_document
from citewell.knowledge.assembly import Assembly
from citewell.knowledge.home import KnowledgeBase
from citewell.models.fake import FakeEntailer, HashEmbedder

GROUPS = tuple(f"group{number}" for number in range(6))
TOPICS = ("apples", "bridges", "copper", "dikes", "engines", "ferries", "glass", "harbours")
MARK = re.compile(r"zq[0-9a-f]{10}")
"""Matches nothing else: every hash is preceded by other letters."""


class SharedWords:
    """A ranker that scores a passage by the share of the question's words it contains."""

    maker = Maker(name="fake/shared-words", hash="sha256:ranker")

    def rank(self, question: str, passages: Sequence[str]) -> list[float]:
        words = set(re.findall(r"\w+", question.lower()))
        return [len(words & set(re.findall(r"\w+", p.lower()))) / max(1, len(words)) for p in passages]


class FirstSentence:
    """A reader that extracts the first sentence of every passage."""

    maker = Maker(name="fake/first-sentence", hash="sha256:reader")

    def extract(self, question: str, passages: Sequence[str]) -> list[Reading]:
        found = []
        for passage in passages:
            end = passage.find(".") + 1 or len(passage)
            found.append(Reading(candidates=(Extraction(start=0, end=end, probability=0.9),), no_answer=0.05))
        return found


@dataclass
class World:
    """``lists``: current access lists by document; ``marks``: what reveals a document; ``named``: the
    documents a record names, by request; ``askers``: who made the request."""

    kb: KnowledgeBase
    chance: random.Random
    people: list[Caller] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    marks: dict[str, set[str]] = field(default_factory=dict)
    named: dict[str, set[str]] = field(default_factory=dict)
    askers: dict[str, str] = field(default_factory=dict)
    sessions: list[str] = field(default_factory=list)
    questions: dict[str, str] = field(default_factory=dict)

    def mark(self) -> str:
        return f"zq{self.chance.getrandbits(40):010x}"

    def seen(self, caller: Caller) -> set[str]:
        """The documents this caller may see by the rule, reimplemented independently of the tested code."""
        if Role.ADMIN in caller.roles:
            return set(self.documents)
        return {d for d, acl in self.lists.items() if not acl or set(acl) & set(caller.groups)}

    def records(self, caller: Caller) -> set[str]:
        """The requests whose records this caller may read by the rule."""
        seen = self.seen(caller)
        return {
            request
            for request, named in self.named.items()
            if Role.ADMIN in caller.roles
            or (named <= seen and (self.askers[request] == caller.user or Role.AUDITOR in caller.roles))
        }

    def share(self, document_id: str) -> None:
        """Gives the document a random access list."""
        self.lists[document_id] = _some_groups(self.chance)
        self.kb.share(document_id, self.lists[document_id])

    def close(self) -> None:
        self.kb.close()


def make_world(
    folder: Path,
    seed: int,
    *,
    documents: int,
    people: int,
    asked: int,
    sealed: int,
) -> World:
    """``asked`` questions go through the whole pass; ``sealed`` records are appended to the log directly."""
    chance = random.Random(seed)
    settings = Config(retrieval=Retrieval(relevance_threshold=0.2), server=Server(rate_per_minute=0))
    world = World(kb=KnowledgeBase(fake_parts(folder, settings)), chance=chance)
    folder.mkdir(parents=True, exist_ok=True)
    # A home's log starts before its documents.
    world.kb.log.size()
    folder.mkdir(parents=True, exist_ok=True)
    _add(world, documents)
    for number in range(people):
        roles = [Role.ASKER, *chance.sample([Role.CURATOR, Role.AUDITOR], chance.randint(0, 2))]
        if chance.random() < 0.05:
            roles.append(Role.ADMIN)
        world.people.append(Caller(user=f"person{number}", groups=_some_groups(chance), roles=tuple(roles)))
    for _ in range(asked):
        _ask(world, chance.choice(world.people))
    for number in range(sealed):
        _seal(world, number)
    for request in sorted(world.named)[::4]:
        world.kb.feedback(request, "thumbs_down", user=world.askers[request])
    return world


def told(world: World, caller: Caller) -> Iterator[tuple[str, str, Any]]:
    """Calls every public method as this caller; yields its name, the words that the caller supplied, and the
    result or error."""
    kb = world.kb.as_(caller)
    chance = world.chance
    document = chance.choice(world.documents)
    request = chance.choice(list(world.named))
    session = chance.choice(world.sessions)
    version = world.versions[document]
    question = f"What is said of {chance.choice(TOPICS)}?"
    ways: dict[str, Callable[[], Any]] = {
        "documents": kb.documents,
        "document": lambda: kb.document(document),
        "version": lambda: kb.document(document, version),
        "by its hash alone": lambda: kb.document("", version),
        "versions": lambda: kb.versions(document),
        "search": lambda: kb.search(question, top_k=10),
        "search in": lambda: kb.search(question, document=document),
        "search its words": lambda: kb.search(" ".join(sorted(world.marks[document])), top_k=10),
        "trace": lambda: kb.trace(session),
        "query": lambda: list(_pages(kb, AuditQuery(limit=7))),
        "query by document": lambda: list(_pages(kb, AuditQuery(document=document, limit=5))),
        "query by person": lambda: kb.audit.query(AuditQuery(user=chance.choice(world.people).user)),
        "query by status": lambda: kb.audit.query(AuditQuery(status="any-verified", limit=1000)),
        "counts": lambda: kb.audit.counts(AuditQuery(), by="month", of="status"),
        "counts by document": lambda: kb.audit.counts(AuditQuery(document=document)),
        "every": lambda: list(kb.audit.every(AuditQuery())),
        "record": lambda: kb.audit.record(request),
        "receipt": lambda: kb.audit.receipt(request, with_user=True),
        "prove": lambda: kb.log.prove(request),
        "cursor of another": lambda: kb.audit.query(AuditQuery(cursor=request)),
        "recheck": lambda: list(kb.audit.recheck(request)),
        "recheck all": lambda: list(kb.audit.recheck()),
        "recall": lambda: list(kb.audit.recall(document, reason="wrong")),
        "answer": lambda: kb.answer(request),
        "resolve": lambda: kb.audit.resolve([_cited(world, document)]),
        "bodies": lambda: [body for _, body in kb.audit.bodies(AuditQuery())],
        "signals": lambda: list(kb.audit.signals()),
        "queue": lambda: kb.review.queue(state="all"),
        "queue of a document": lambda: kb.review.queue(state="all", document=document),
        "groups": lambda: kb.review.groups(by="document", state="all"),
        "case": lambda: kb.review.show(request),
        "failures": kb.failures,
        "export": lambda: kb.audit.export(world.kb.home / "export"),
        "check": kb.log.check,
    }
    naming = {name for name in ways if "document" in name or name in {"version", "recall", "resolve"}} - {
        "documents"
    }
    for name, way in ways.items():
        if Role.ADMIN in caller.roles and name in {"export", "check"}:
            continue
        given = f"{document} {' '.join(world.marks[document])}" if name in naming else ""
        try:
            yield name, given, way()
        except CitewellError as error:
            yield name, given, error


def asked(world: World, caller: Caller, *, about: str = "") -> Any:
    """An answer, its receipt and its trace, as the caller gets them."""
    answer = _ask(world, caller, about=about)
    return [answer, answer.receipt(), world.kb.as_(caller).trace(answer.session_id)]


def words(value: Any) -> str:
    """All text in a value."""
    if isinstance(value, CitewellError):
        return f"{type(value).__name__} {value}"
    return str(canonical_json(plain(value)).decode())


REVIEWS = {"queue", "queue of a document", "groups", "case"}
"""Methods through which curators and auditors see other people's answers in order to judge them."""


def leaks(world: World, caller: Caller, value: Any, *, given: str = "", way: str = "") -> set[str]:
    """Marks in ``value`` of documents that the caller may not see, except those the caller supplied."""
    seen = world.seen(caller)
    readable = world.records(caller)
    if way in REVIEWS and set(caller.roles) & {Role.CURATOR, Role.AUDITOR}:
        readable |= {request for request, named in world.named.items() if named <= seen}
    may = {mark for document in seen for mark in world.marks[document]} | set(MARK.findall(given))
    may |= {mark for request in readable for mark in MARK.findall(world.questions[request])}
    return set(MARK.findall(words(value))) - may


def _pages(kb: KnowledgeBase, query: AuditQuery) -> Iterator[Any]:
    while True:
        page = kb.audit.query(query)
        yield page
        if not page.next:
            return
        query = msgspec.structs.replace(query, cursor=page.next)


def fake_parts(folder: Path, settings: Config) -> Assembly:
    parts = Assembly(folder, settings)
    parts.__dict__ |= {
        "embedder": HashEmbedder(),
        "ranker": SharedWords(),
        "extractor": FirstSentence(),
        "entailer": FakeEntailer(),
        "answer_check": None,
    }
    return parts


def _add(world: World, count: int) -> None:
    """Straight into evidence and index: file readers are not tested here."""
    parts, chance = world.kb._parts, world.chance
    chunks: list[Chunk] = []
    for number in range(count):
        mark_id, mark_title, secret = world.mark(), world.mark(), world.mark()
        document_id = f"papers/{mark_id}-{number}.txt"
        topic = chance.choice(TOPICS)
        # Some documents say the same thing, so that folding has something to fold.
        text = f"What is said of {topic} is number {number % 5} of {topic}. The secret word is {secret}.\n"
        text = text if chance.random() < 0.7 else f"All that is said of {topic} is plain and short.\n"
        acl = _some_groups(chance)
        document = msgspec.structs.replace(
            caller_document(document_id, text),
            version=hash_text(document_id),
            caller_supplied=False,
            title=Found(value=f"On {topic}, volume {mark_title}", origin="made"),
            acl=acl,
        )
        chunks += _put(world, document)
        world.marks[document_id] = {mark_id, mark_title, *([secret] if secret in text else [])}
    parts.index.add(chunks)
    parts.index.publish()


def _put(world: World, document: Document) -> list[Chunk]:
    parts = world.kb._parts
    parts.evidence.put(document)
    parts.evidence.mark_indexed(document.document_id, document.version)
    world.documents.append(document.document_id)
    world.versions[document.document_id] = document.version
    world.lists[document.document_id] = document.acl
    return list(chunk_document(document, parts.config.chunking))


def _ask(world: World, caller: Caller, *, about: str = "") -> Any:
    question = f"What is said of {about or world.chance.choice(TOPICS)}?"
    session = f"ses{world.chance.randint(0, 9)}"
    answer = world.kb.as_(caller).ask(question, session_id=session)
    world.named[answer.request_id] = named_in(world, world.kb.audit.record(answer.request_id))
    world.askers[answer.request_id] = caller.user
    world.questions[answer.request_id] = question
    world.sessions.append(session)
    return answer


def _cited(world: World, document_id: str) -> Citation:
    """A citation invented by the caller, who may have guessed its position."""
    return Citation(
        chunk_id="",
        document_id=document_id,
        document_version=world.versions[document_id],
        start=0,
        end=4,
        quote="What",
        answer_start=0,
        answer_end=0,
    )


def named_in(world: World, record: AuditRecord) -> set[str]:
    """The documents that a record reveals, by their marks anywhere in it but the question."""
    found = set(MARK.findall(words(record))) - set(MARK.findall(record.user_query))
    return {document for document, marks in world.marks.items() if marks & found}


def _seal(world: World, number: int) -> None:
    """A record as a pass would leave it, from someone who could see its documents at the time."""
    chance = world.chance
    asker = chance.choice(world.people)
    seen = sorted(world.seen(asker))
    retrieved = chance.sample(seen, min(len(seen), chance.randint(0, 4)))
    cited = retrieved[:1]
    session = f"ses{chance.randint(0, 9)}"
    record = some_record(
        number,
        timestamp=f"2026-{number % 11 + 1:02d}-{number % 28 + 1:02d}T10:00:00.000000Z",
        user=asker.user,
        session=session,
        question=f"What is said of {world.mark()}?",
        config_hash=world.kb.config.hash,
        retrieval_results=tuple(
            RetrievalResult(
                chunk_id=hash_text(document),
                document_id=document,
                document_version=world.versions[document],
                similarity_score=0.5,
                reranker_score=0.5,
                was_used_in_generation=document in cited,
            )
            for document in retrieved
        ),
        claims=tuple(
            some_claim(
                place,
                document=document,
                version=world.versions[document],
                quote=world.kb.document(document).text[:4],
            )
            for place, document in enumerate(cited)
        ),
        confidence_report=None,
        parameters={"looked_into": retrieved},
    )
    request = record.request_id
    world.kb._parts.log.append(record)
    world.kb._parts.traces.put(
        Trace(session_id=session, request_id=request, timestamp=record.timestamp, query=record.user_query)
    )
    world.named[request], world.askers[request] = set(retrieved), asker.user
    world.questions[request] = record.user_query
    world.sessions.append(session)


def _some_groups(chance: random.Random) -> tuple[str, ...]:
    return tuple(sorted(chance.sample(GROUPS, chance.choice((0, 1, 1, 2, 3)))))
