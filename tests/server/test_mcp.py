"""An agent on this machine uses the home through a real MCP client, over a pipe."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import fsspec
import pytest
from mcp import Client, StdioServerParameters
from typer.testing import CliRunner

from citewell.audit.question import AuditQuery
from citewell.audit.receipt_check import check_receipt
from citewell.audit.search import Finder
from citewell.cli import app
from citewell.core.access import Caller, Role
from citewell.core.config import Config, Server
from citewell.core.errors import AbandonedError, AccessError
from citewell.core.identity import canonical_json
from citewell.core.metering import unwanted
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.models.fake import HashEmbedder
from citewell.server.keys import ApiKeys, Scope
from citewell.server.mcp import make_server

from .conftest import QUESTION, with_stand_ins
from .test_escaping import answered

SERVER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from conftest import with_stand_ins
from citewell.cli import app
import citewell.knowledge.opening

opened = citewell.knowledge.opening.open
citewell.knowledge.opening.open = lambda *given, **named: with_stand_ins(opened(*given, **named))
app(["--home", {home!r}, "mcp", *{options!r}], prog_name="citewell")
"""

Talk = Callable[..., Any]


@pytest.fixture
def talk(kb: KnowledgeBase) -> Talk:
    """``talk(calls, user=..., ...)``: the tools, and what a client gets for each call."""

    def talk(
        *calls: tuple[str, dict[str, Any]],
        user: str = "owner",
        groups: tuple[str, ...] = (),
        roles: tuple[Role, ...] = (Role.ADMIN,),
        writes: bool = False,
    ) -> list[Any]:
        caller = Caller(user=user, groups=groups, roles=roles)
        return anyio.run(_talked, make_server(kb.as_(caller), allow_writes=writes), calls)

    return talk


async def _talked(server: Any, calls: tuple[tuple[str, dict[str, Any]], ...]) -> list[Any]:
    async with Client(server) as client:
        tools = await client.list_tools()
        return [tools.tools] + [await client.call_tool(name, given) for name, given in calls]


def test_the_tools_and_what_they_say_of_themselves(talk: Talk) -> None:
    (tools,) = talk()
    named = {tool.name: tool for tool in tools}
    assert set(named) == {"search", "ask", "verify_citation", "audit_query", "get_receipt"}
    assert all(tool.description and tool.output_schema for tool in tools)
    assert [tool.name for tool in tools if not tool.annotations.read_only_hint] == ["ask"]
    (tools,) = talk(writes=True)
    assert {"ingest", "withdraw"} <= {tool.name for tool in tools}


def test_an_answer_its_citation_and_its_receipt(talk: Talk, kb: KnowledgeBase) -> None:
    _, searched, asked = talk(
        ("search", {"query": "When did the bridge open?"}),
        ("ask", {"question": "When did the bridge open?"}),
    )
    found = searched.structured_content["passages"][0]
    assert "1932" in found["document_text"]
    answer = asked.structured_content
    assert answer["decision"] in {"ANSWER", "PARTIAL"}
    claim = answer["claims"][0]
    assert claim["status"] == "VERIFIED"
    cited = claim["citations"][0]
    place = cited["place"]
    text = kb.document(place["document_id"], place["document_version"]).text
    assert text[place["start"] : place["end"]] == cited["quote"]

    _, good, broken, other, past, receipt = talk(
        (
            "verify_citation",
            {"claim": claim["text"], "quote": cited["quote"], "document_id": place["document_id"]},
        ),
        (
            "verify_citation",
            {"claim": "It opened.", "quote": "opened in 1933", "document_id": place["document_id"]},
        ),
        (
            "verify_citation",
            {
                "claim": "The bridge opened in 1941.",
                "quote": cited["quote"],
                "document_id": place["document_id"],
            },
        ),
        ("audit_query", {"limit": 5, "since": "1d"}),
        ("get_receipt", {"request_id": answer["request_id"]}),
    )
    assert (good.structured_content["found"], good.structured_content["status"]) == (True, "VERIFIED")
    assert good.structured_content["places"][0]["start"] == place["start"]
    assert (broken.structured_content["found"], broken.structured_content["status"]) == (False, "BROKEN")
    assert broken.structured_content["failure"] in {"fabricated", "spliced"}
    assert other.structured_content["found"]
    assert other.structured_content["status"] != "VERIFIED"
    assert answer["request_id"] in {one["request_id"] for one in past.structured_content["records"]}
    assert check_receipt(canonical_json(receipt.structured_content["receipt"])).ok


def test_an_answer_that_an_agent_passes_on_shows_no_picture(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = "The ferry ![](https://evil.example/seen.png) leaves at nine."
    monkeypatch.setattr(KnowledgeBase, "ask", lambda *given, **named: answered(quote, quote))
    _, asked = talk(("ask", {"question": "When does the ferry leave?"}))
    answer = asked.structured_content
    shown = "The ferry ![]\\(https://evil.example/seen.png) leaves at nine."
    (claim,) = answer["claims"]
    assert {answer["answer"], claim["text"], claim["citations"][0]["quote"]} == {shown}


HOSTILE = """# Ferries ![](https://evil/head)

The ferry was painted ![](https://evil/seen) in 1958 by <img src=https://evil/pier> hand.
"""


def test_nothing_of_a_document_is_active_in_what_an_agent_is_handed(
    talk: Talk, kb: KnowledgeBase, tmp_path: Path
) -> None:
    """What it takes from a result can be passed back in, backslashes and all."""
    page = tmp_path / "page.txt"
    page.write_text(HOSTILE)
    name = "ferry ![](https:evil).txt"
    kb.ingest(page, document_id=name)
    _, searched, asked, past = talk(
        ("search", {"query": "When was the ferry painted?"}),
        ("ask", {"question": "When was the ferry painted?"}),
        ("audit_query", {"limit": 5}),
    )
    found = searched.structured_content["passages"][0]
    for result in (searched, asked, past):
        told = json.dumps(result.structured_content) + "".join(part.text for part in result.content)
        assert "evil" in told
        assert not re.search(r"\]\(|(?<!\\)<img", told)
    given = {"claim": "The ferry was painted in 1958.", "quote": found["document_text"]}
    place = found["place"]
    _, checked, narrowed = talk(
        ("verify_citation", {**given, "document_id": place["document_id"]}),
        ("search", {"query": "ferry", "document_id": place["document_id"]}),
    )
    assert checked.structured_content["found"]
    assert checked.structured_content["places"][0]["start"] == place["start"]
    assert narrowed.structured_content["passages"]


def test_a_quoted_figure_is_read_under_its_column(
    talk: Talk, kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row alone names no year: its heads and units belong to it."""
    sales = tmp_path / "sales.csv"
    sales.write_text("Item,2018,2019\nNet sales,232,280\nCosts,139,165\n")
    kb.ingest(sales, document_id="sales.csv")
    document = kb.document("sales.csv")
    (row,) = [row for table in document.tables for row in table.rows if row.label == "Net sales"]
    quote = document.text[row.start : row.end]
    texts = []

    def heard(kb: KnowledgeBase, line: str | bytes, **options: Any) -> bytes:
        texts.append(json.loads(line)["sources"][0]["text"])
        return known(kb, line, **options)

    known = KnowledgeBase.verify_line
    monkeypatch.setattr(KnowledgeBase, "verify_line", heard)
    given = {"claim": "Net sales were 280 in 2019.", "quote": quote, "document_id": "sales.csv"}
    _, checked = talk(("verify_citation", given))
    assert checked.structured_content["found"]
    (text,) = texts
    assert "2018\t2019\nNet sales\t232\t280" in text
    assert "Costs" not in text


def test_an_agent_sees_what_its_user_may_see(talk: Talk, kb: KnowledgeBase) -> None:
    secret = next(entry.document_id for entry in kb.documents() if entry.acl)
    groups = kb.document(secret).acl
    question = "When will the merger with Acme be announced?"
    stranger = {"user": "mallory", "roles": (Role.ASKER,)}
    _, searched, asked, checked, past = talk(
        ("search", {"query": question}),
        ("ask", {"question": question}),
        ("verify_citation", {"claim": "x", "quote": "March", "document_id": secret}),
        ("audit_query", {"user": "owner"}),
        **stranger,
    )
    assert "Acme" not in str(searched.structured_content)
    assert asked.structured_content["decision"] == "ABSTAIN"
    assert checked.is_error
    assert "March" not in str(checked.content)
    assert past.structured_content == {"records": [], "next": ""}
    _, insider = talk(("ask", {"question": question}), user="ivy", groups=groups, roles=(Role.ASKER,))
    assert "March" in insider.structured_content["answer"]
    request = insider.structured_content["request_id"]
    _, hidden, never = talk(
        ("get_receipt", {"request_id": request}),
        ("get_receipt", {"request_id": "req_" + "0" * 24}),
        **stranger,
    )
    assert hidden.is_error
    assert str(hidden.content[0].text).replace(request, "ID") == str(never.content[0].text).replace(
        "req_" + "0" * 24, "ID"
    )


def test_mistakes_are_told_with_their_remedy(talk: Talk) -> None:
    _, many, empty, status = talk(
        ("search", {"query": "bridge", "top_k": 50}),
        ("ask", {"question": "?"}),
        ("audit_query", {"status": "wrong"}),
    )
    for result, words in ((many, "choose 1 to 10"), (empty, "question in words"), (status, "one of")):
        assert result.is_error
        assert words in result.content[0].text


def test_documents_change_only_where_that_was_allowed(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "tower.md").write_text("# The tower\n\nThe tower was built in 1805.\n")
    _, refused = talk(("ingest", {"path": str(tmp_path / "tower.md")}))
    assert refused.is_error
    _, taken, answer, withdrawn = talk(
        ("ingest", {"path": str(tmp_path / "tower.md")}),
        ("ask", {"question": "When was the tower built?"}),
        ("withdraw", {"document_id": "tower.md", "reason": "a test"}),
        writes=True,
    )
    assert taken.structured_content["files"][0]["status"] == "added"
    assert "1805" in answer.structured_content["answer"]
    assert not withdrawn.is_error


def test_an_agent_cannot_have_an_address_fetched(kb: KnowledgeBase) -> None:
    system, before = fsspec.filesystem("memory"), kb.documents()
    system.pipe("memory://bucket/a.md", b"# The tower\n\nThe tower was built in 1805.\n")
    anyio.run(make_server(kb, allow_writes=True).call_tool, "ingest", {"path": "memory://bucket/a.md"})
    assert kb.documents() == before
    system.store.clear()


def waits(stopped: threading.Event) -> Callable[..., Any]:
    """Work that goes on until it is told that nobody waits for it."""

    def work(*_: object, gone: Callable[[], str] = unwanted, **__: object) -> None:
        ends = time.monotonic() + 10
        while time.monotonic() < ends:
            time.sleep(0.01)
            if reason := gone():
                stopped.set()
                raise AbandonedError(reason)

    return work


CALLS: list[tuple[str, dict[str, Any], type, str]] = [
    ("ask", {"question": QUESTION}, KnowledgeBase, "ask"),
    ("search", {"query": QUESTION}, KnowledgeBase, "search"),
    (
        "verify_citation",
        {"claim": "It opened.", "quote": "opened in 1932", "document_id": "bridge.md"},
        KnowledgeBase,
        "verify_line",
    ),
    ("audit_query", {}, Finder, "_profiles"),
    ("ingest", {"path": "bridge.md"}, KnowledgeBase, "ingest"),
]


@pytest.mark.parametrize(("tool", "given", "owner", "name"), CALLS, ids=[call[0] for call in CALLS])
def test_a_call_ends_when_its_time_is_over_or_it_is_cancelled(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: str,
    given: dict[str, Any],
    owner: type,
    name: str,
) -> None:
    stopped = threading.Event()
    monkeypatch.setattr(owner, name, waits(stopped))

    async def cancelled(server: Any) -> None:
        with anyio.move_on_after(0.3):
            await server.call_tool(tool, given)

    with (
        with_stand_ins(open(home, config=Config(server=Server(timeout_s=0.3)))) as kb,
        pytest.raises(Exception, match=r"longer than server\.timeout_s"),
    ):
        anyio.run(make_server(kb, allow_writes=True).call_tool, tool, given)
    stopped.clear()
    with with_stand_ins(open(home)) as kb:
        began = time.monotonic()
        anyio.run(cancelled, make_server(kb, allow_writes=True))
        assert stopped.wait(2)
        assert time.monotonic() - began < 5


def test_a_question_that_took_too_long_is_sealed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embed = HashEmbedder.embed

    def slowly(self: HashEmbedder, texts: Any) -> Any:
        time.sleep(0.5)
        return embed(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed", slowly)
    with with_stand_ins(open(home, config=Config(server=Server(timeout_s=0.3)))) as kb:
        with pytest.raises(Exception, match=r"longer than server\.timeout_s"):
            anyio.run(make_server(kb).call_tool, "ask", {"question": QUESTION})
        (record,) = kb.audit.query(AuditQuery()).records
    assert record.failure_reason == "abandoned"


def test_the_command_serves_its_home_over_a_pipe(home: Path) -> None:
    options = ["--user", "ivy", "--group", "board"]
    code = SERVER.format(tests=str(Path(__file__).parent), home=str(home), options=options)
    process = StdioServerParameters(command=sys.executable, args=["-c", code], env=dict(os.environ))
    question = "When will the merger with Acme be announced?"
    calls = (
        ("ask", {"question": question}),
        ("audit_query", {}),
        ("search", {"query": "merger", "top_k": 0}),
    )
    tools, answer, past, refused = anyio.run(_talked, process, calls)
    assert len(tools) == 5
    assert "March" in answer.structured_content["answer"]
    assert [one["user"] for one in past.structured_content["records"]] == ["ivy"]
    assert refused.is_error


def test_the_callers_roles_hold_here_too(kb: KnowledgeBase) -> None:
    server = make_server(kb.as_(Caller(user="ann", roles=(Role.ASKER,))), allow_writes=True)
    with pytest.raises(Exception, match="do not have permission to change documents"):
        anyio.run(server.call_tool, "ingest", {"path": "/nowhere"})


def test_a_named_user_writes_only_with_a_curators_key(home: Path) -> None:
    def start(*options: str) -> Any:
        words = ["--home", str(home), "mcp", "--user", "bob", "--allow-writes", *options]
        return CliRunner().invoke(app, words)

    keys = ApiKeys(home)
    keys.create("bob")
    keys.create("carol", roles=[Role.CURATOR])
    keys.create("bob", roles=[Role.CURATOR], scopes=[Scope.ASK])
    refused = start("--folder", str(home))
    assert refused.exit_code != 0
    assert "bob may not change documents" in refused.stderr
    made, _ = keys.create("bob", roles=[Role.CURATOR])
    assert "--folder DIR" in start().stderr
    keys.revoke(made.key_id)
    assert "bob may not change documents" in start("--folder", str(home)).stderr
    keys.close()


def test_documents_come_from_the_named_folders_alone(kb: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.md").write_text("# Lamps\n\nThe lamp is lit at dusk.\n")
    (tmp_path / "out.md").write_text("# Secrets\n\nThe safe is behind the picture.\n")
    (tmp_path / "in" / "link.md").symlink_to(tmp_path / "out.md")
    allowed = [True]

    def may_write() -> None:
        if not allowed[0]:
            raise AccessError("the key was revoked", hint="make another")

    curator = kb.as_(Caller(user="bob", roles=(Role.CURATOR,)))
    server = make_server(curator, allow_writes=True, folders=[tmp_path / "in"], may_write=may_write)
    for path in ("out.md", "in/../out.md", "in/link.md"):
        with pytest.raises(Exception, match="not in any of the folders"):
            anyio.run(server.call_tool, "ingest", {"path": str(tmp_path / path)})
    anyio.run(server.call_tool, "ingest", {"path": str(tmp_path / "in" / "a.md")})
    allowed[0] = False
    with pytest.raises(Exception, match="revoked"):
        anyio.run(server.call_tool, "withdraw", {"document_id": "a.md", "reason": "old"})
    assert {entry.state for entry in kb.documents() if entry.document_id == "a.md"} == {"indexed"}
