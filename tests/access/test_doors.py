"""The server reveals no document to a caller who may not see it: API, pages, streams, chat, agent tools,
exports, metrics, errors; refusing a hidden document takes no longer than refusing a missing one."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from benchmarks.access_world import TOPICS, World, leaks, make_world, named_in
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from mcp import Client

from citewell.core.access import Caller, Role
from citewell.evaluation import sampling
from citewell.server import create_app
from citewell.server.keys import ApiKeys
from citewell.server.mcp import make_server
from citewell.server.pages import ROUTERS as PAGE_ROUTERS
from citewell.server.routes import ROUTERS

LOOPBACK = "http://127.0.0.1:8000"
NOBODY, NEVER = "papers/never-there.txt", "req_" + "f" * 24
PAGES = (
    "/",
    "/documents",
    "/documents/about?id={id}",
    "/documents/view?id={id}",
    "/documents/view?id={id}&version={version}",
    "/documents/turn?id={id}&version={version}&number=1",
    "/history",
    "/review",
    "/review?state=all",
    "/review/{request_id}",
    "/answers/{request_id}",
    "/spot-check",
    "/spot-check/{sample_id}",
    "/health",
    "/audit",
    "/audit?document={id}",
    "/audit/records/{request_id}",
    "/audit/integrity",
)
REVIEWS = ("/review", "/spot-check")
OPEN = {"/login", "/static/{name}", "/openapi.json"}
"""What has nothing of the home in it."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = make_world(
        tmp_path_factory.mktemp("doors") / "home", 11, documents=24, people=10, asked=8, sealed=40
    )
    sampling.draw(made.kb, since="3650d", n=20)
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[TestClient]:
    with TestClient(create_app(world.kb), base_url=LOOPBACK, raise_server_exceptions=False) as found:
        deadline = time.monotonic() + 60
        while found.get("/readyz").status_code == 503 and time.monotonic() < deadline:
            time.sleep(0.1)  # a process must not end while its models are loading
        yield found


@pytest.fixture(scope="module")
def headers(world: World) -> dict[str, dict[str, str]]:
    """Authorization headers with one API key per person."""
    store = ApiKeys(world.kb.home)
    made = {}
    for one in world.people:
        _, text = store.create(one.user, groups=one.groups, roles=one.roles)
        made[one.user] = {"Authorization": f"Bearer {text}"}
    store.close()
    return made


def paths(world: World, client: TestClient) -> Iterator[tuple[str, str, str]]:
    """Every readable address, with random parameters: the route, the address, and a document it may name."""
    document = world.chance.choice(world.documents)
    values = {
        "id": document,
        "document": document,
        "version": world.versions[document],
        "request_id": world.chance.choice(list(world.named)),
        "session_id": world.chance.choice(world.sessions),
        "sample_id": sampling.samples(world.kb)[0].sample_id,
        "number": "1",
        "start": "0",
        "end": "40",
        "limit": "7",
        "by": "month",
        "of": "status",
    }
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        if "get" in operations:
            names = [one["name"] for one in operations["get"].get("parameters", [])]
            filled = [n for n in names if n in values and f"{{{n}}}" not in path]
            for asked in {tuple(filled), tuple(n for n in filled if n in {"id", "number"})}:
                query = "&".join(f"{name}={values[name]}" for name in asked)
                yield path, f"{path.format(**values)}?{query}", document
    for page in PAGES:
        yield page.split("?")[0], page.format(**values), document


def test_every_address_that_can_be_read_is_tried(world: World, client: TestClient) -> None:
    routes = {
        route.path
        for router in (*ROUTERS, *PAGE_ROUTERS)
        for route in router.routes
        if isinstance(route, APIRoute) and "GET" in route.methods
    }
    assert routes - OPEN == {way for way, _, _ in paths(world, client)} - OPEN


def no_leak(world: World, caller: Caller, said: Any, way: str, given: str = "") -> None:
    # HTML and JSON escapes leave a marker unchanged, so plain text can be searched.
    reviewing = "queue" if way.startswith(REVIEWS) else ""
    assert not leaks(world, caller, said, given=given, way=reviewing), (way, caller)


def asked_by(world: World, caller: Caller, question: str, said: str) -> None:
    """A person's question belongs to them, including the markers in it."""
    for request in set(re.findall(r"req_[0-9a-f]{24}", said)) - set(world.named):
        world.named[request] = named_in(world, world.kb.audit.record(request))
        world.askers[request], world.questions[request] = caller.user, question


def given_with(world: World, document: str) -> str:
    """A response may repeat the id that was in its request."""
    return " ".join(re.findall(r"zq[0-9a-f]{10}", document))


def test_nothing_that_can_be_read_tells_a_secret(
    world: World, client: TestClient, headers: dict[str, dict[str, str]]
) -> None:
    seen = 0
    for caller in world.people:
        for _ in range(2):
            for way, address, document in paths(world, client):
                response = client.get(address, headers=headers[caller.user])
                assert response.status_code < 500, (address, response.text)
                assert response.status_code not in (422, 429), (address, response.text)
                seen += response.status_code == 200
                heads = " ".join(f"{name}: {value}" for name, value in response.headers.items())
                no_leak(world, caller, heads + response.text, way, given_with(world, document))
    assert seen > 100


def test_no_answer_stream_chat_or_check_tells_a_secret(
    world: World, client: TestClient, headers: dict[str, dict[str, str]]
) -> None:
    answered = 0
    for caller in world.people[:6]:
        topic = world.chance.choice(TOPICS)
        question = f"What is said of {topic}?"
        chat = {"model": "citewell", "messages": [{"role": "user", "content": question}]}
        for path, body, accept in (
            ("/v1/ask", {"question": question}, "application/json"),
            ("/v1/ask", {"question": question}, "text/event-stream"),
            ("/v1/chat/completions", chat, "application/json"),
            ("/v1/chat/completions", {**chat, "stream": True}, "text/event-stream"),
        ):
            response = client.post(path, json=body, headers={**headers[caller.user], "Accept": accept})
            answered += response.status_code == 200
            asked_by(world, caller, question, response.text)
            no_leak(world, caller, response.text, path)
        for document in world.chance.sample(world.documents, 3):
            body = {"question": question, "document": document}
            response = client.post("/v1/ask", json=body, headers=headers[caller.user])
            asked_by(world, caller, question, response.text)
            no_leak(world, caller, response.text, "/v1/ask", given_with(world, document))
            body = {"document_id": document, "reason": "it is wrong"}
            if document not in world.seen(caller):
                response = client.post("/v1/documents/withdraw", json=body, headers=headers[caller.user])
                assert response.status_code >= 400
                no_leak(world, caller, response.text, "withdraw", given_with(world, document))
    assert answered >= 20


def test_no_tool_for_agents_tells_a_secret(world: World) -> None:
    for caller in world.people[:6]:
        document = world.chance.choice(world.documents)
        request = world.chance.choice(list(world.named))
        calls = (
            ("search", {"query": f"What is said of {world.chance.choice(TOPICS)}?", "top_k": 10}),
            ("search", {"query": "secret", "document_id": document}),
            ("audit_query", {"limit": 50}),
            ("audit_query", {"document_id": document}),
            ("get_receipt", {"request_id": request}),
            ("verify_citation", {"claim": "x is said", "quote": "What is said", "document_id": document}),
        )
        for (name, _), result in zip(calls, anyio.run(_talked, world, caller, calls), strict=True):
            no_leak(world, caller, result.model_dump_json(), f"tool {name}", given_with(world, document))


async def _talked(world: World, caller: Caller, calls: tuple[tuple[str, dict[str, Any]], ...]) -> list[Any]:
    async with Client(make_server(world.kb.as_(caller))) as talking:
        return [await talking.call_tool(name, given) for name, given in calls]


# --- hidden and absent look the same --------------------------------------------------------------------


def hidden(world: World) -> tuple[Caller, str, str]:
    """A caller, a document they may not see, and a request whose record they may not see."""
    for caller in world.people:
        documents = [one for one in world.documents if one not in world.seen(caller)]
        requests = [one for one in world.named if one not in world.records(caller)]
        if documents and requests and Role.ADMIN not in caller.roles:
            return caller, documents[0], requests[0]
    raise AssertionError("everybody may see everything")


def pairs(world: World) -> Iterator[tuple[str, str, Caller]]:
    """Pairs of addresses that differ in one name: hidden in the first, nonexistent in the second."""
    caller, document, request = hidden(world)
    for path in (
        "show?id=",
        "versions?id=",
        "text?start=0&end=9&id=",
        "page?number=1&id=",
        "page.png?number=1&id=",
    ):
        yield f"/v1/documents/{path}{document}", f"/v1/documents/{path}{NOBODY}", caller
    for path in ("/v1/answers/{}", "/v1/answers/{}/receipt", "/v1/audit/records/{}", "/v1/ask/{}/events"):
        yield path.format(request), path.format(NEVER), caller
    yield f"/v1/audit?document={document}", f"/v1/audit?document={NOBODY}", caller
    yield f"/v1/audit/counts?document={document}", f"/v1/audit/counts?document={NOBODY}", caller
    for path in ("/documents/about?id=", "/documents/view?id="):
        yield path + document, path + NOBODY, caller
    yield f"/answers/{request}", f"/answers/{NEVER}", caller


def plainly(text: str) -> str:
    """The text without what varies between responses: requested names, tokens and timestamps."""
    text = re.sub(r"papers/[\w.%/-]+", "DOCUMENT", text.replace("%2F", "/"))
    text = re.sub(r"req_[0-9a-f]{24}", "REQUEST", text)
    text = re.sub(r'(name="csrf" value|nonce)="[^"]*"', "TOKEN", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "MOMENT", text)


def test_what_is_hidden_is_refused_as_what_is_not_there(
    world: World, client: TestClient, headers: dict[str, dict[str, str]]
) -> None:
    for one, other, caller in pairs(world):
        told, never = (client.get(each, headers=headers[caller.user]) for each in (one, other))
        assert told.status_code == never.status_code, one
        assert plainly(told.text) == plainly(never.text), one


@pytest.fixture(scope="module")
def insider(world: World) -> tuple[Caller, dict[str, str], str, str]:
    """Somebody with every role but that of an admin who may see little: the caller, their headers, a document
    they may not see, and a request that they may not read."""
    caller = Caller(user="insider", groups=(), roles=(Role.ASKER, Role.CURATOR, Role.AUDITOR))
    store = ApiKeys(world.kb.home)
    _, text = store.create(caller.user, groups=caller.groups, roles=caller.roles)
    store.close()
    document = next(one for one in world.documents if one not in world.seen(caller))
    request = next(one for one in world.named if one not in world.records(caller))
    return caller, {"Authorization": f"Bearer {text}"}, document, request


Change = Callable[[str, str], tuple[str, dict[str, Any]]]
CHANGES: dict[str, Change] = {
    "withdraw": lambda d, r: ("/v1/documents/withdraw", {"json": {"document_id": d, "reason": "wrong"}}),
    "say of": lambda d, r: ("/v1/feedback", {"json": {"request_id": r, "signal": "thumbs_down"}}),
    "withdraw by a form": lambda d, r: ("/documents/withdraw", {"data": {"id": d, "reason": "wrong"}}),
    "recall": lambda d, r: ("/documents/recall", {"data": {"id": d, "reason": "wrong"}}),
    "replace": lambda d, r: ("/documents/version", {"data": {"id": d}, "files": {"file": ("a.txt", b"No.")}}),
    "say of by a form": lambda d, r: (f"/answers/{r}/feedback", {"data": {"signal": "thumbs_down"}}),
    "cancel": lambda d, r: (f"/answers/{r}/cancel", {"data": {}}),
    "accept": lambda d, r: (f"/review/{r}/accept", {"data": {"abstain": "nothing says so"}}),
    "dismiss": lambda d, r: (f"/review/{r}/dismiss", {"data": {"reason": "right"}}),
    "dismiss many": lambda d, r: ("/review/dismiss", {"data": {"chosen": r, "reason": "right"}}),
    "reopen": lambda d, r: (f"/review/{r}/reopen", {"data": {}}),
    "replay": lambda d, r: (f"/audit/records/{r}/replay", {"data": {}}),
}


def changeable(world: World) -> list[str]:
    """Everything that somebody could change, as the owner sees it."""
    documents = [f"{entry.document_id} {entry.version} {entry.state}" for entry in world.kb.documents()]
    reviews = [f"{item.request_id} {item.state}" for item in world.kb.review.queue(state="all").items]
    return [*documents, *reviews, str(list(world.kb.audit.signals()))]


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_hidden_cannot_be_changed_and_is_refused_as_what_is_not_there(
    world: World, client: TestClient, insider: tuple[Caller, dict[str, str], str, str], name: str
) -> None:
    caller, headers, document, request = insider
    token = re.search(r'name="csrf" value="([^"]+)"', client.get("/", headers=headers).text)
    assert token
    before = changeable(world)
    told = []
    for one, other in ((document, request), (NOBODY, NEVER)):
        path, given = CHANGES[name](one, other)
        given = {**given, "data": given["data"] | {"csrf": token[1]}} if "data" in given else given
        told.append(client.post(path, headers=headers, follow_redirects=False, **given))
        no_leak(world, caller, told[-1].text, name, given_with(world, document))
    assert told[0].status_code == told[1].status_code
    assert plainly(told[0].text) == plainly(told[1].text)
    assert told[0].status_code >= 400
    assert changeable(world) == before


def test_a_question_to_a_hidden_document_is_answered_as_one_to_none(
    world: World, client: TestClient, insider: tuple[Caller, dict[str, str], str, str]
) -> None:
    caller, headers, document, _ = insider
    told = []
    for one in (document, NOBODY):
        body = {"question": "What is said of apples?", "document": one}
        response = client.post("/v1/ask", json=body, headers=headers)
        asked_by(world, caller, body["question"], response.text)
        told.append((response.status_code, response.json().get("decision"), response.json().get("title")))
    assert plainly(str(told[0])) == plainly(str(told[1]))


def test_a_tool_refuses_what_is_hidden_as_what_is_not_there(
    world: World, insider: tuple[Caller, dict[str, str], str, str]
) -> None:
    caller, _, document, request = insider
    told = []
    for one, other in ((document, request), (NOBODY, NEVER)):
        calls: tuple[tuple[str, dict[str, Any]], ...] = (
            ("search", {"query": "What is said of apples?", "document_id": one}),
            ("audit_query", {"document_id": one}),
            ("get_receipt", {"request_id": other}),
            ("verify_citation", {"claim": "x is said", "quote": "What is said", "document_id": one}),
        )
        found = anyio.run(_talked, world, caller, calls)
        told.append([plainly(result.model_dump_json()) for result in found])
    assert told[0] == told[1]


def test_no_clock_tells_what_is_hidden(
    world: World, client: TestClient, headers: dict[str, dict[str, str]]
) -> None:
    """Compares the fastest of many interleaved calls, so that waits for locks or the GC do not count."""
    for one, other, caller in pairs(world):
        quickest = {one: float("inf"), other: float("inf")}
        for _ in range(12):
            for address in quickest:
                begun = time.process_time()
                client.get(address, headers=headers[caller.user])
                quickest[address] = min(quickest[address], time.process_time() - begun)
        low, high = sorted(quickest.values())
        assert high < 2.0 * low + 0.002, (one, quickest)


def test_errors_and_metrics_name_no_document(
    world: World, client: TestClient, headers: dict[str, dict[str, str]]
) -> None:
    caller, document, _ = hidden(world)
    for body in (
        b"{rubbish",
        json.dumps({"question": 7}).encode(),
        json.dumps({"question": document}).encode(),
    ):
        response = client.post("/v1/ask", content=body, headers=headers[caller.user])
        asked_by(world, caller, document, response.text)
        no_leak(world, caller, response.text, "error", given_with(world, document))
    for one in world.people:
        no_leak(world, one, client.get("/metrics", headers=headers[one.user]).text, "/metrics")
