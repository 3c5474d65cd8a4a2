"""No channel reveals a document to a caller who may not see it: no word, id, title or count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks.access_world import GROUPS, World, asked, leaks, make_world, told, words

from citewell.audit.entries import EntryKind
from citewell.audit.pages import Queries
from citewell.audit.question import AuditQuery
from citewell.core.access import OWNER, Caller, Role
from citewell.core.errors import AccessError, CitewellError, EvidenceError, UsageError
from citewell.core.records import Citation
from citewell.knowledge.home import KnowledgeBase

NOBODY, NEVER = "papers/never-there.txt", "req_" + "f" * 24


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = make_world(
        tmp_path_factory.mktemp("world") / "home", 7, documents=40, people=20, asked=12, sealed=80
    )
    yield made
    made.close()


def see_only_what_is_theirs(world: World) -> None:
    for caller in world.people:
        for way, given, value in told(world, caller):
            assert not leaks(world, caller, value, given=given, way=way), (way, caller)


def test_no_secret_by_any_way(world: World) -> None:
    see_only_what_is_theirs(world)


def test_what_is_counted_is_what_may_be_seen(world: World) -> None:
    for caller in world.people:
        kb, records = world.kb.as_(caller), world.records(caller)
        assert {entry.document_id for entry in kb.documents()} == world.seen(caller)
        assert {record.request_id for record in kb.audit.every(AuditQuery())} == records
        for by in ("month", "week", "hour"):
            counts = kb.audit.counts(AuditQuery(), by=by, of="decision")
            assert counts.total == sum(stretch.records for stretch in counts.stretches) == len(records)
        for document in world.documents[:8]:
            mine = sum(document in world.named[request] for request in records)
            assert kb.audit.counts(AuditQuery(document=document)).total <= mine


def test_signals_are_told_with_their_answers(world: World) -> None:
    for caller in world.people:
        signalled = {request for request, _ in world.kb.as_(caller).audit.signals()}
        assert signalled <= world.records(caller)


def test_nobody_resolves_words_in_a_document_they_may_not_see(world: World) -> None:
    caller = next(one for one in world.people if not one.unrestricted)
    hidden = next(document for document in world.documents if document not in world.seen(caller))
    citation = Citation(
        chunk_id="",
        document_id=hidden,
        document_version=world.versions[hidden],
        start=0,
        end=4,
        quote="What",
        answer_start=0,
        answer_end=0,
    )
    with pytest.raises(EvidenceError):
        world.kb.as_(caller).audit.resolve([citation])


def test_counts_of_a_part_are_made_like_counts_of_all(world: World) -> None:
    auditor = Caller(user="a", groups=GROUPS, roles=(Role.AUDITOR,))
    for by, of in (("day", "status"), ("month", "decision"), ("week", "model"), ("hour", "confidence")):
        of_all = world.kb.audit.counts(AuditQuery(), by=by, of=of)
        assert world.kb.as_(auditor).audit.counts(AuditQuery(), by=by, of=of) == of_all


def test_what_is_hidden_is_not_even_opened(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[int] = []
    known = Queries._bodies

    def counting(self: Queries, seqs: Sequence[int]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        opened.extend(seqs)
        return known(self, seqs)

    monkeypatch.setattr(Queries, "_bodies", counting)
    for groups in ((), ("group1",), ("group2", "group3")):
        auditor = Caller(user="a", groups=groups, roles=(Role.AUDITOR,))
        kb, theirs = world.kb.as_(auditor), world.records(auditor)
        assert 0 < len(theirs) < len(world.named)
        opened.clear()
        assert kb.audit.counts(AuditQuery()).total == len(theirs)
        assert opened == []
        assert len(kb.audit.query(AuditQuery(limit=3)).records) == min(3, len(theirs))
        assert len(opened) <= 4
        assert {record.request_id for record in kb.audit.every(AuditQuery())} == theirs
        assert len(opened) <= 4 + len(theirs)


def test_an_answer_tells_of_nothing_else(world: World) -> None:
    for caller in world.people[:12]:
        assert not leaks(world, caller, asked(world, caller))
        hidden = [document for document in world.documents if document not in world.seen(caller)]
        if hidden:
            mark = sorted(world.marks[hidden[0]])[0]
            assert not leaks(world, caller, asked(world, caller, about=mark), given=mark)


def test_pages_hold_together_and_cursors_tell_nothing(world: World) -> None:
    for caller in world.people:
        kb = world.kb.as_(caller)
        whole = [record.request_id for record in kb.audit.every(AuditQuery())]
        paged, query = [], AuditQuery(limit=3)
        while True:
            page = kb.audit.query(query)
            paged += [record.request_id for record in page.records]
            if not page.next:
                break
            assert Role.ADMIN in caller.roles or page.next == paged[-1]
            query = AuditQuery(limit=3, cursor=page.next)
        assert paged == whole


def test_what_is_hidden_reads_like_what_never_was(world: World) -> None:
    known = 0
    for caller in world.people:
        if Role.ADMIN in caller.roles:
            continue
        kb = world.kb.as_(caller)
        hidden = [document for document in world.documents if document not in world.seen(caller)]
        for document in hidden[:5]:
            known += 1
            version = world.versions[document]
            assert kb.versions(document) == kb.versions(NOBODY) == []
            for of_this, of_none in zip(
                about_a_document(kb, document, version), about_a_document(kb, NOBODY, version), strict=True
            ):
                assert said(of_this).replace(document, "ID") == said(of_none).replace(NOBODY, "ID")
        for request in sorted(set(world.named) - world.records(caller))[:5]:
            for of_this, of_none in zip(
                about_a_request(kb, request), about_a_request(kb, NEVER), strict=True
            ):
                assert said(of_this).replace(request, "ID") == said(of_none).replace(NEVER, "ID")
    assert known > 8


def about_a_document(kb: KnowledgeBase, document: str, version: str) -> list[Callable[[], object]]:
    return [
        lambda: kb.document(document),
        lambda: kb.document(document, version),
        lambda: list(kb.audit.recall(document)),
        lambda: kb.withdraw(document),
        lambda: kb.share(document, ()),
    ]


def about_a_request(kb: KnowledgeBase, request: str) -> list[Callable[[], object]]:
    return [
        lambda: kb.audit.record(request),
        lambda: kb.audit.receipt(request),
        lambda: kb.audit.replay(request),
        lambda: list(kb.audit.recheck(request)),
        lambda: kb.log.prove(request),
        lambda: kb.audit.query(AuditQuery(cursor=request)),
    ]


def said(way) -> str:  # type: ignore[no-untyped-def]
    with pytest.raises(CitewellError) as caught:
        way()
    return words(caught.value)


def test_a_list_that_changes_holds_for_what_was_answered_before(tmp_path: Path) -> None:
    world = make_world(tmp_path / "home", 7, documents=16, people=6, asked=5, sealed=30)
    for _ in range(2):
        for document in world.chance.sample(world.documents, 4):
            world.share(document)
        test_what_is_counted_is_what_may_be_seen(world)
        see_only_what_is_theirs(world)
        for caller in world.people[:4]:
            assert not leaks(world, caller, asked(world, caller))
    world.close()


# --- roles and names ------------------------------------------------------------------------------


def of(*roles: Role, user: str = "mallory", groups: tuple[str, ...] = ()) -> Caller:
    return Caller(user=user, groups=groups, roles=roles)


def test_roles(world: World, tmp_path: Path) -> None:
    asker, auditor, curator = (world.kb.as_(of(role)) for role in (Role.ASKER, Role.AUDITOR, Role.CURATOR))
    for kb in (asker, auditor):
        for way in what_curators_do(kb, world.documents[0], tmp_path):
            with pytest.raises(AccessError, match="curator or admin"):
                way()
    for kb in (asker, auditor, curator):
        for way in what_admins_do(kb, tmp_path):
            with pytest.raises(AccessError, match="admin"):
                way()
    for kb in (asker, curator):
        with pytest.raises(AccessError, match="auditor or admin"):
            kb.log.check()
        with pytest.raises(AccessError, match="auditor or admin"):
            list(kb.audit.recall(world.documents[0]))
    assert auditor.log.check().size == world.kb.log.check().size


def what_curators_do(kb: KnowledgeBase, document: str, folder: Path) -> list[Callable[[], object]]:
    return [lambda: kb.ingest(folder), lambda: kb.withdraw(document), lambda: kb.share(document, ())]


def what_admins_do(kb: KnowledgeBase, folder: Path) -> list[Callable[[], object]]:
    return [
        lambda: kb.audit.export(folder / "log"),
        lambda: kb.audit.erase("person1"),
        kb.audit.expire,
        kb.log.rotate_key,
        kb.log.publish,
        lambda: kb.log.replace_lost_key("gone"),
        lambda: kb.log.restore_keys(folder),
        lambda: kb.log.keys,
    ]


def test_nobody_asks_in_anothers_name_or_with_anothers_groups(world: World) -> None:
    kb = world.kb.as_(of(Role.ASKER, groups=("group1", "group2")))
    with pytest.raises(AccessError, match="act as 'alice'"):
        kb.ask("What is said of glass?", user="alice")
    with pytest.raises(AccessError, match="groups that are not your own"):
        kb.ask("What is said of glass?", groups=["group1", "group3"])
    with pytest.raises(AccessError, match="groups that are not your own"):
        kb.search("What is said of glass?", groups=["group3"])
    narrowed = {p.chunk.document_id for p in kb.search("What is said of glass?", groups=[], top_k=10)}
    assert narrowed <= {document for document, acl in world.lists.items() if not acl}
    assert world.kb.audit.record(asked(world, kb.caller)[0].request_id).user == "mallory"


def test_an_admin_looks_into_everything_and_the_owner_says_with_whose_eyes(world: World) -> None:
    closed = next(document for document, acl in world.lists.items() if acl)
    question = world.kb.document(closed).text

    def found(caller: Caller, **options: object) -> set[str]:
        passages = world.kb.as_(caller).search(question, document=closed, **options)  # type: ignore[arg-type]
        return {passage.chunk.document_id for passage in passages}

    assert found(of(Role.ADMIN)) == {closed}
    with pytest.raises(UsageError, match="no document"):
        found(OWNER)
    assert found(OWNER, groups=world.lists[closed]) == {closed}


def test_a_document_that_may_not_be_asked_reads_as_one_that_is_not_there(world: World) -> None:
    closed = next(document for document, acl in world.lists.items() if acl)
    before = world.kb.log.check().size
    for kb, options in (
        (world.kb.as_(of(Role.ASKER)), {}),
        (world.kb, {}),
        (world.kb, {"groups": ["other"]}),
    ):
        for way in (kb.ask, kb.search):
            told = []
            for document in (closed, "nope"):
                with pytest.raises(UsageError) as refused:
                    way("What is said of glass?", document=document, **options)  # type: ignore[arg-type]
                told.append(str(refused.value))
            assert told[0] == told[1]
            assert told[0].startswith("there is no document with that id")
    assert world.kb.log.check().size == before


@pytest.mark.parametrize("since", ["yesterday", "", "2026", "20260101", "2026-13-01", "2026-1-1", 20260101])
def test_since_is_a_day_and_nothing_else(world: World, since: Any) -> None:
    for way in (world.kb.ask, world.kb.search):
        with pytest.raises(UsageError, match="write a date such as"):
            way("What is said of glass?", since=since)


@pytest.mark.parametrize("letters", ["group1", 5, [5]])
def test_one_text_is_no_list_of_groups(world: World, tmp_path: Path, letters: Any) -> None:
    kb, document = world.kb, world.documents[0]
    for way in (
        lambda: kb.ask("What is said of glass?", groups=letters),
        lambda: kb.search("What is said of glass?", groups=letters),
        lambda: kb.share(document, letters),
        lambda: kb.ingest(tmp_path, acl=letters),
        lambda: kb.ingest(tmp_path, tags=letters),
        lambda: Caller(user="a", groups=letters),
    ):
        with pytest.raises(UsageError, match="list"):
            way()


@pytest.mark.parametrize(
    "careless",
    [
        {"user": 5},
        {"session_id": 5},
        {"document": 5},
        {"tag": 5},
        {"runs": 0},
        {"runs": 21},
        {"runs": "3"},
        {"runs": None},
        {"top_k": "3"},
        {"top_k": True},
        {"top_k": 0},
        {"pool": 0},
        {"pool": -3},
        {"pool": 1001},
    ],
)
def test_an_option_that_cannot_be_used_is_refused_before_anything_is_recorded(
    world: World, careless: dict[str, Any]
) -> None:
    before = world.kb.log.check().size
    (name,) = careless
    with pytest.raises(UsageError, match=name):
        world.kb.ask("What is said of glass?", **careless)
    if name in ("document", "tag", "top_k", "pool"):
        with pytest.raises(UsageError, match=name):
            world.kb.search("What is said of glass?", **careless)
    assert world.kb.log.check().size == before


@pytest.mark.parametrize("question", [5, None, b"What?", ["What?"], "", "?"])
def test_what_is_no_question_is_refused(world: World, question: Any) -> None:
    for way in (world.kb.ask, world.kb.search):
        with pytest.raises(UsageError, match="question"):
            way(question)


def test_without_a_name_nothing_is_ones_own_but_the_answer(world: World) -> None:
    stranger = of(Role.ASKER, user="")
    answer = world.kb.as_(stranger).ask("What is said of glass?", session_id="shared")
    assert answer.receipt().answer
    with pytest.raises(UsageError, match="no record"):
        world.kb.as_(stranger).audit.record(answer.request_id)
    assert world.kb.as_(stranger).trace("shared") == []
    assert world.kb.as_(stranger).audit.query(AuditQuery()).records == ()
    world.named[answer.request_id] = {p.chunk.document_id for p in answer.passages}
    world.askers[answer.request_id], world.questions[answer.request_id] = "", answer.question


def test_reading_is_recorded_under_the_readers_own_name(world: World) -> None:
    request = sorted(world.named)[0]
    world.kb.as_(of(Role.ADMIN, user="root")).audit.record(request, reader="somebody else")
    log = world.kb._parts.log
    entry = log.latest(EntryKind.READ)
    assert entry is not None
    assert log.body(entry)["reader"] == "root"


def test_a_session_of_another_is_no_session(world: World) -> None:
    first = of(Role.ASKER, user="first")
    answer = world.kb.as_(first).ask("What is said of copper?", session_id="theirs")
    assert [t.request_id for t in world.kb.as_(first).trace("theirs")] == [answer.request_id]
    assert world.kb.as_(of(Role.ASKER, user="second")).trace("theirs") == []
    world.named[answer.request_id] = {p.chunk.document_id for p in answer.passages}
    world.askers[answer.request_id], world.questions[answer.request_id] = "first", answer.question


# --- what a curator does --------------------------------------------------------------------------


def test_a_curator_manages_what_they_see(tmp_path: Path) -> None:
    world = make_world(tmp_path / "home", 3, documents=1, people=1, asked=0, sealed=0)
    papers = tmp_path / "papers"
    papers.mkdir()
    for name in ("open", "closed"):
        (papers / f"{name}.md").write_text(f"# On {name} doors\n\nThe {name} door is painted green.\n")
    world.kb.ingest(papers / "closed.md", acl=["group1"], document_id="papers/closed.md")
    curator = world.kb.as_(of(Role.CURATOR, user="cora", groups=("group2",)))

    report = curator.ingest(papers)
    assert {file.path.rsplit("/", 1)[-1]: file.status for file in report.files} == {
        "open.md": "added",
        "closed.md": "failed",
    }
    assert "group1" not in words(report)
    assert world.kb.document("papers/closed.md").acl == ("group1",)
    (papers / "closed.md").unlink()
    assert curator.ingest(papers).files[0].status == "unchanged"
    assert world.kb.documents()[-2].state == "indexed"

    with pytest.raises(AccessError, match="could not see"):
        curator.share("papers/open.md", ["group1"])
    with pytest.raises(AccessError, match="could not see"):
        curator.ingest(papers, acl=["group1"])
    with pytest.raises(EvidenceError):
        curator.withdraw("papers/closed.md")
    curator.share("papers/open.md", ["group1", "group2"])
    entry = world.kb._parts.log.latest(EntryKind.SHARE)
    assert entry is not None
    assert world.kb._parts.log.body(entry)["user"] == "cora"
    passages = world.kb.search("The open door is painted green", groups=["group2"])
    assert [passage.chunk.acl for passage in passages if "open" in passage.chunk.content] == [
        ("group1", "group2")
    ]
    assert not [p for p in world.kb.search("The open door is painted") if "open" in p.chunk.content]
    curator.withdraw("papers/open.md")
    world.close()


def test_an_interrupted_change_of_a_list_is_finished_by_the_next_ingest(tmp_path: Path) -> None:
    world = make_world(tmp_path / "home", 3, documents=1, people=1, asked=0, sealed=0)
    paper = tmp_path / "paper.md"
    paper.write_text("# On doors\n\nThe door of the house is painted green.\n")
    world.kb.ingest(paper)
    parts = world.kb._parts
    parts.evidence.share(
        f"{paper.parent.name}/paper.md" if parts.evidence.latest("paper.md") is None else "paper.md",
        ["group1"],
    )
    assert world.kb.search("The door of the house is painted green")
    world.kb.ingest(paper)
    assert not [
        p for p in world.kb.search("The door of the house is painted green") if "house" in p.chunk.content
    ]
    world.close()
