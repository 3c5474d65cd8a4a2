"""Access control: who, under which name, from which page, how often, and with how much."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request, Response
from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.core.access import Role
from citewell.core.config import Config, Server
from citewell.core.errors import ConfigError, ModelError, UsageError
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.knowledge.sealing import MADE
from citewell.server import create_app, identity, logs
from citewell.server.keys import ApiKeys, Scope
from citewell.server.limits import Buckets, Busy, WorkQueue
from citewell.server.serving import validate_serving

QUESTION = {"question": "When did the bridge open?"}
LOOPBACK = "http://127.0.0.1:8000"


@contextmanager
def serving(home: Path, *, local: bool = True, **settings: Any) -> Iterator[TestClient]:
    """A client of ``home`` served with these ``[server]`` settings; no question is asked of it."""
    with open(home, config=Config(server=Server(**settings))) as kb:
        client = TestClient(create_app(kb, local=local), base_url=LOOPBACK, raise_server_exceptions=False)
        yield client


# --- the owner on this machine ------------------------------------------------------------------------


def test_without_any_key_the_one_at_this_machine_is_the_owner(client: TestClient) -> None:
    assert client.get("/v1/documents").status_code == 200
    # Chat clients send some key, whatever it is.
    assert client.get("/v1/models", headers={"Authorization": "Bearer anything"}).status_code == 200


@pytest.mark.parametrize("name", ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"])
def test_what_a_proxy_passed_on_is_never_the_owners(client: TestClient, name: str) -> None:
    assert client.get("/v1/documents", headers={name: "203.0.113.7"}).status_code == 401


def test_who_is_nobody_is_told_so_before_anything_is_read(client: TestClient, keys: Any) -> None:
    keys("alice")
    public = {"/healthz", "/readyz"}
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        for method in operations.keys() & {"get", "post", "put", "delete"}:
            response = client.request(method, path.replace("{", "").replace("}", ""), content=b"{rubbish")
            assert (response.status_code == 401) != (path in public), (method, path, response.text)


def test_a_key_closes_the_home_and_revoking_it_does_not_open_it(client: TestClient, keys: Any) -> None:
    headers = keys("alice")
    assert client.get("/v1/documents").status_code == 401
    assert client.get("/v1/documents", headers=headers).status_code == 200
    keys.store.revoke(keys.store.all()[0].key_id)
    assert client.get("/v1/documents", headers=headers).status_code == 401
    assert client.get("/v1/documents").status_code == 401
    assert client.get("/healthz").status_code == 200


def test_a_home_whose_keys_are_gone_is_not_open(home: Path, keys: Any) -> None:
    """A backup without ``access.sqlite``, or a deleted one: the log knows that there were keys."""
    with closing(open(home)) as kb:
        made, _ = keys.store.create("alice", seal=lambda key: kb.log.seal_key(key, MADE))
        client = TestClient(create_app(kb), base_url=LOOPBACK)
        assert client.get("/v1/documents").status_code == 401
        keys.store.close()
        for file in home.glob("access.sqlite*"):
            file.unlink()
        assert client.get("/v1/documents").status_code == 401
    with closing(open(home)) as kb:
        assert TestClient(create_app(kb), base_url=LOOPBACK).get("/v1/documents").status_code == 401
        assert made.key_id in kb.log.check(api_keys=()).findings[-1].reason


def test_not_on_loopback_means_nobody_is_the_owner(kb: KnowledgeBase) -> None:
    client = TestClient(create_app(kb, local=False), base_url="http://kb.example.com")
    assert client.get("/v1/documents").status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "kb.example.com"])  # noqa: S104
def test_listening_for_others_takes_a_key(home: Path, keys: Any, host: str) -> None:
    config = Config(server=Server(host=host))
    with pytest.raises(ConfigError, match="keys create"):
        validate_serving(home, config)
    keys("alice")
    validate_serving(home, config)


def test_many_workers_take_postgresql(home: Path) -> None:
    with pytest.raises(ConfigError, match=r"audit\.database"):
        validate_serving(home, Config(server=Server(workers=2)))


# --- other names, other sites -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["attacker.example:8000", "attacker.example", "127.0.0.1.attacker.example", "", "["]
)
def test_a_name_that_is_not_ours_is_refused(client: TestClient, host: str) -> None:
    refused = client.get("/v1/documents", headers={"host": host})
    assert refused.status_code == 421
    assert refused.json()["hint"] == "if this host name is right, add it to server.hosts"


def test_a_configured_name_is_ours(home: Path) -> None:
    with serving(home, hosts=("kb.example.com",)) as client:
        assert client.get("/healthz", headers={"host": "kb.example.com"}).status_code == 200
        assert client.get("/healthz", headers={"host": "other.example.com"}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://attacker.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_sites_page_cannot_act(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/v1/ask", json=QUESTION, headers=headers).status_code == 403
    own = {"Origin": LOOPBACK, "Sec-Fetch-Site": "same-origin"}
    assert client.post("/v1/ask", json=QUESTION, headers=own).status_code == 200


def test_every_response_tells_browsers_what_not_to_do(client: TestClient) -> None:
    for response in (
        client.get("/healthz"),
        client.get("/v1/nothing"),
        client.get("/", headers={"host": "x"}),
    ):
        assert "script-src 'self'" in response.headers["content-security-policy"]
        assert "unsafe" not in response.headers["content-security-policy"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in response.headers


# --- keys ---------------------------------------------------------------------------------------------


class Held:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = datetime(2026, 11, 21, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def test_a_key_is_kept_as_a_hash_in_a_file_of_its_owners(home: Path) -> None:
    keys = ApiKeys(home)
    _, text = keys.create("alice")
    secret = text.rsplit("_", 1)[1]
    assert re.fullmatch(r"cw_[0-9a-f]{12}_[\w-]{43}", text) or "_" in secret
    assert keys.path.stat().st_mode & 0o777 == 0o600
    keys.close()
    for file in home.glob("access.sqlite*"):
        assert text.split("_", 2)[2].encode() not in file.read_bytes()
    with sqlite3.connect(home / "access.sqlite") as file:
        assert file.execute("SELECT length(salt), length(hash) FROM keys").fetchall() == [(16, 32)]


def test_a_key_ends_with_its_time_or_when_it_is_revoked(tmp_path: Path) -> None:
    clock = Held()
    keys = ApiKeys(tmp_path, clock)
    _, text = keys.create("alice", lasts=timedelta(days=90))
    assert keys.check(text)
    clock.time += timedelta(days=90)
    assert keys.check(text) is None
    made, other = keys.create("bob", groups=["x", "x"], roles=[Role.AUDITOR], scopes=[Scope.AUDIT])
    assert keys.check(other) == keys.holder(made.key_id)
    assert keys.check(other).groups == ("x",)  # type: ignore[union-attr]
    keys.revoke(made.key_id)
    assert keys.check(other) is None
    with pytest.raises(UsageError):
        keys.revoke("0" * 12)
    with pytest.raises(UsageError):
        keys.create(" ")
    keys.close()


@settings(deadline=None, max_examples=25)  # each makes a key, and waits for the disk
@given(st.text(max_size=80))
def test_no_other_text_is_a_key(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    keys = ApiKeys(tmp_path_factory.getbasetemp() / "doors")
    keys.path.parent.mkdir(exist_ok=True)
    _, real = keys.create("alice")
    assert keys.check(text) is None
    assert keys.check(real[:-1] + ("A" if real[-1] != "A" else "B")) is None
    assert keys.check(real)
    keys.close()


def test_last_use_is_kept_and_not_at_every_request(tmp_path: Path) -> None:
    clock = Held()
    keys = ApiKeys(tmp_path, clock)
    _, text = keys.create("alice")
    keys.check(text)
    first = keys.all()[0].last_used_at
    clock.time += timedelta(seconds=59)
    keys.check(text)
    assert keys.all()[0].last_used_at == first
    clock.time += timedelta(seconds=1)
    keys.check(text)
    assert keys.all()[0].last_used_at > first
    keys.close()


def test_a_revocation_is_not_lost_to_a_use_at_the_same_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Held()
    server, command = ApiKeys(tmp_path, clock), ApiKeys(tmp_path, clock)
    made, text = server.create("alice")
    now = clock.now

    def meanwhile() -> datetime:
        # The key was read and found valid; now it is revoked, and only then is its use recorded.
        monkeypatch.setattr(clock, "now", now)
        command.revoke(made.key_id)
        return now()

    monkeypatch.setattr(clock, "now", meanwhile)
    assert server.check(text)
    assert server.check(text) is None
    assert command.all()[0].revoked_at
    assert command.all()[0].last_used_at
    for keys in (server, command):
        keys.close()


def test_a_scope_narrows_a_key(client: TestClient, keys: Any) -> None:
    headers = keys("robot", scopes=[Scope.VERIFY])
    line = {"answer": "The sky is blue.", "sources": ["The sky is blue."]}
    assert client.post("/v1/verify", json=line, headers=headers).status_code == 200
    fact = {"answerCandidate": "The sky is blue.", "facts": [{"factText": "The sky is blue."}]}
    check = "/v1beta/projects/p/locations/l/groundingConfigs/g:check"
    assert client.post(check, json=fact, headers=headers).status_code == 200
    assert client.post(check, json=fact, headers=keys("asker", scopes=[Scope.ASK])).status_code == 403
    refused = client.post(check, json=fact)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, 401)
    for address in ("/v1/documents", "/v1/audit"):
        assert client.get(address, headers=headers).status_code == 403
    assert client.post("/v1/ask", json=QUESTION, headers=headers).status_code == 403


def test_a_role_opens_what_it_should(client: TestClient, keys: Any) -> None:
    asker, curator, auditor = keys("a"), keys("c", Role.CURATOR), keys("u", Role.AUDITOR)
    note = {"file": ("note.md", b"# Note\n\nThe ferry leaves at nine.\n")}
    assert client.post("/v1/documents", files=note, headers=asker).status_code == 403
    assert client.post("/v1/documents", files=note, headers=curator).status_code == 200
    assert client.get("/metrics", headers=asker).status_code == 403
    assert client.get("/metrics", headers=auditor).status_code == 403


def test_counts_over_the_whole_home_are_for_admins_and_keys_made_for_them(
    client: TestClient, keys: Any
) -> None:
    admin, scraper = keys("admin", Role.ADMIN), keys("prometheus", Role.AUDITOR, scopes=[Scope.METRICS])
    assert {client.get("/metrics", headers=one).status_code for one in (admin, scraper)} == {200}
    others = (
        keys("u", Role.AUDITOR),
        keys("a", scopes=[Scope.METRICS]),
        keys("b", Role.ADMIN, scopes=[Scope.ASK]),
    )
    assert {client.get("/metrics", headers=one).status_code for one in others} == {403}


def test_guessing_is_slowed_down(client: TestClient, keys: Any) -> None:
    keys("alice")
    tries = [
        client.get("/v1/documents", headers={"Authorization": f"Bearer cw_{n:012x}_{'x' * 43}"}).status_code
        for n in range(40)
    ]
    assert set(tries) == {401, 429}


def test_a_strangers_files_are_not_read_and_many_of_them_are_slowed_down(
    client: TestClient, keys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read(_: Any) -> Any:
        raise AssertionError("the body was read")

    monkeypatch.setattr("starlette.formparsers.MultiPartParser.parse", read)
    keys("alice")
    file = {"files": ("a.txt", b"x" * 1000)}
    for path in ("/documents", "/v1/documents"):
        codes = [client.post(path, files=file, data={"csrf": "x"}).status_code for _ in range(40)]
        assert set(codes) <= {401, 429}
        assert codes[-1] == 429
    assert (
        client.get("/documents", headers={"accept": "text/html"}, follow_redirects=False).status_code == 303
    )
    # A key without the pages scope gets no upload read there, either.
    robot = keys("robot", Role.ADMIN, scopes=[Scope.ASK])
    assert client.post("/documents", files=file, headers=robot).status_code == 403


# --- browsers -----------------------------------------------------------------------------------------


def signed_in(client: TestClient, key: str) -> str:
    """Signs in as a page would; returns the token for its forms."""
    app: Any = client.app

    def login(request: Request) -> Response:
        response = Response()
        if identity.sign_in(request, response, key) is None:
            response.status_code = 401
        return response

    def form(request: Request) -> Response:
        return Response(identity.csrf_token(request))

    app.add_api_route("/test/login", login, methods=["POST"], response_model=None)
    app.add_api_route("/test/form", form, response_model=None)
    answer = client.post("/test/login")
    if answer.status_code == 200:
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert key.lower() not in cookie
    return client.get("/test/form").text


def test_a_session_needs_the_forms_token_to_act(client: TestClient, keys: Any) -> None:
    key = keys("alice")["Authorization"].removeprefix("Bearer ")
    token = signed_in(client, key)
    assert client.get("/v1/documents").status_code == 200
    assert client.post("/v1/ask", json=QUESTION).status_code == 403
    assert client.post("/v1/ask", json=QUESTION, headers={"X-CSRF-Token": "x"}).status_code == 403
    assert client.post("/v1/ask", json=QUESTION, headers={"X-CSRF-Token": token}).status_code == 200
    keys.store.revoke(keys.store.all()[0].key_id)
    assert client.get("/v1/documents").status_code == 401


def test_a_session_ends_on_the_server_when_its_browser_signs_out(client: TestClient, keys: Any) -> None:
    key = keys("alice")["Authorization"].removeprefix("Bearer ")
    token = signed_in(client, key)
    kept = {"Cookie": f"citewell_session={client.cookies['citewell_session']}"}
    client.cookies.clear()
    assert client.get("/v1/documents", headers=kept).status_code == 200
    answer = client.post("/logout", data={"csrf": token}, headers=kept, follow_redirects=False)
    assert answer.status_code == 303
    assert client.get("/v1/documents", headers=kept).status_code == 401
    signed_in(client, key)
    assert client.get("/v1/documents").status_code == 200


def test_a_changed_or_foreign_cookie_is_nobody(client: TestClient, keys: Any) -> None:
    signed_in(client, keys("alice")["Authorization"].removeprefix("Bearer "))
    cookie = client.cookies["citewell_session"]
    for forged in (cookie[:-2] + "AA", cookie.split(".")[0] + ".", "x.y", "." + cookie):
        client.cookies.clear()
        assert (
            client.get("/v1/documents", headers={"Cookie": f"citewell_session={forged}"}).status_code == 401
        )


def test_a_key_for_programs_opens_no_session(client: TestClient, keys: Any) -> None:
    signed_in(client, keys("robot", scopes=[Scope.ASK])["Authorization"].removeprefix("Bearer "))
    assert "citewell_session" not in client.cookies


PAGES = ("/", "/documents", "/audit", "/audit/records/req_0", "/review", "/health")


def test_a_key_without_the_scope_of_the_pages_opens_none(client: TestClient, keys: Any) -> None:
    scraper = keys("prometheus", Role.ADMIN, scopes=[Scope.METRICS])
    for path in PAGES:
        assert client.get(path, headers=scraper).status_code == 403, path
    csrf = signed_in(client, "")  # of a browser without a sign-in
    data = {"csrf": csrf, "id": "bridge.md", "question": "x"}
    for path in ("/documents/withdraw", "/"):
        assert client.post(path, data=data, headers=scraper).status_code == 403, path
    assert client.get("/documents", headers=keys("alice", scopes=[Scope.PAGES])).status_code == 200


def test_a_session_reaches_what_pages_fetch_and_what_its_key_was_given(client: TestClient, keys: Any) -> None:
    key = keys("eve", Role.ADMIN, scopes=[Scope.PAGES])["Authorization"].removeprefix("Bearer ")
    token = {"X-CSRF-Token": signed_in(client, key)}
    given = client.post("/v1/ask", json=QUESTION, headers=token).json()["request_id"]
    assert client.get(f"/v1/answers/{given}/receipt").status_code == 200
    said = {"request_id": given, "signal": "thumbs_up"}
    assert client.post("/v1/feedback", json=said, headers=token).status_code == 200
    assert client.get("/audit").status_code == 200
    for path in ("/metrics", "/v1/audit", "/v1/audit/export"):
        assert client.get(path).status_code == 403, path
    note = {"file": ("note.md", b"# Note\n\nThe ferry leaves at nine.\n")}
    assert client.post("/v1/documents", files=note, headers=token).status_code == 403


def test_a_session_has_its_keys_other_scopes_too(client: TestClient, keys: Any) -> None:
    key = keys("eve", Role.ADMIN, scopes=[Scope.PAGES, Scope.AUDIT])["Authorization"].removeprefix("Bearer ")
    signed_in(client, key)
    assert client.get("/v1/audit/export").status_code == 200


# --- limits -------------------------------------------------------------------------------------------


def test_a_caller_who_comes_too_often_is_told_when_to_come_again(home: Path) -> None:
    with serving(home, rate_per_minute=60, burst=3) as client:
        codes = [client.get("/v1/models").status_code for _ in range(4)]
        assert codes == [200, 200, 200, 429]
        assert client.get("/v1/models").headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200


@given(st.lists(st.floats(0, 30), min_size=1, max_size=60))
def test_a_bucket_never_gives_more_than_its_rate(gaps: list[float]) -> None:
    now, taken = 0.0, 0
    buckets = Buckets(60, 5, clock=lambda: now)
    for gap in gaps:
        now += gap
        taken += buckets.take("x") == 0.0
    assert taken <= 5 + now + 1e-6
    assert buckets.take("somebody else") == 0.0


def test_no_rate_is_no_limit() -> None:
    assert {Buckets(0, 1).take("x") for _ in range(50)} == {0.0}


def test_what_waits_is_bounded() -> None:
    import threading

    gate, work = threading.Event(), WorkQueue(1, 2)
    accepted = [work.submit(gate.wait) for _ in range(3)]
    with pytest.raises(Busy):
        work.submit(gate.wait)
    gate.set()
    assert all(future.result() for future in accepted)
    work.close()
    assert work.waiting == 0


def test_a_full_queue_is_503_with_a_time(home: Path) -> None:
    with serving(home, threads=1, queue=0) as client:
        site: Any = client.app.state.site  # type: ignore[attr-defined]
        site.work.waiting = 1
        for body in (QUESTION, {**QUESTION, "stream": True}):
            response = client.post("/v1/ask", json=body)
            assert response.status_code == 503
            assert int(response.headers["retry-after"]) >= 1
            assert response.json()["retryable"] is True


def test_a_body_is_bounded_whether_it_says_its_length_or_not(home: Path) -> None:
    with serving(home, max_body_kb=1, max_upload_mb=1) as client:
        assert client.post("/v1/verify", content=b"x" * 2000).status_code == 413
        assert client.post("/v1/verify", content=iter([b"x" * 600] * 4)).status_code == 413
        big = {"file": ("a.txt", b"x" * (1 << 20))}
        assert client.post("/v1/documents", files=big).status_code == 413


def test_ready_only_when_the_models_are(client: TestClient) -> None:
    site: Any = client.app.state.site  # type: ignore[attr-defined]
    assert site.ready.wait(10)
    assert client.get("/readyz").json() == {"status": "ready"}
    site.ready.clear()
    assert client.get("/readyz").status_code == 503
    site.failed = "ModelError: weights of alice"
    assert "alice" not in client.get("/readyz").text


def test_a_part_that_cannot_be_made_is_in_the_servers_log(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def damaged(_: KnowledgeBase) -> None:
        raise ModelError("the weights are damaged")

    monkeypatch.setattr(KnowledgeBase, "warm", damaged)
    with serving(home) as client:
        client.app.state.site.load()  # type: ignore[attr-defined]
        assert client.get("/readyz").json()["title"] == "a component could not be loaded"
    (said,) = [one for one in caplog.records if one.name == logs.log.name and one.levelname == "ERROR"]
    line = json.loads(logs.JsonLines().format(said))
    assert (line["event"], line["error"]) == ("a component could not be loaded", "ModelError")
    assert any("test_doors.py" in place for place in line["at"])
