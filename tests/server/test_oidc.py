"""Bearer tokens of an issuer: genuine ones from a local issuer, and forgeries."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from fastapi.testclient import TestClient

from citewell.core.access import Role
from citewell.core.config import Config, Server
from citewell.core.errors import ConfigError
from citewell.knowledge.opening import open
from citewell.server import create_app
from citewell.server.oidc import Issuer, IssuerError, claim

pytestmark = pytest.mark.enable_socket

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
AUDIENCE = "citewell"


def jwk(key: Any, kid: str, algorithm: str) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if algorithm == "RS256" else jwt.algorithms.ECAlgorithm
    return {**json.loads(kind.to_jwk(key.public_key())), "kid": kid, "alg": algorithm, "use": "sig"}


class Double(HTTPServer):
    """An issuer on loopback; ``asked`` lists the paths that were fetched."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[str] = []
        self.keys = [
            jwk(RSA, "r1", "RS256"),
            jwk(CURVE, "e1", "ES256"),
            {"kty": "oct", "k": "AAAA", "kid": "o"},
        ]
        self.jwks_uri = f"{self.url}/keys"
        self.moved = ""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        double: Any = self.server
        double.asked.append(self.path)
        if double.moved:
            self.send_response(302)
            self.send_header("Location", double.moved)
            self.end_headers()
            return
        about = {"issuer": double.url, "jwks_uri": double.jwks_uri}
        body = json.dumps({"keys": double.keys} if self.path == "/keys" else about).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def issuer() -> Iterator[Double]:
    double = Double()
    thread = threading.Thread(target=double.serve_forever)
    thread.start()
    yield double
    double.shutdown()
    thread.join()
    double.server_close()


def settings(issuer: Double, **more: Any) -> Server:
    return Server(oidc_issuer=issuer.url, oidc_audience=AUDIENCE, **more)


def token(issuer: Double, key: Any = RSA, algorithm: str = "RS256", kid: str = "r1", **claims: Any) -> str:
    now = int(time.time())
    body = {"iss": issuer.url, "aud": AUDIENCE, "sub": "alice", "iat": now, "exp": now + 300, **claims}
    body = {name: value for name, value in body.items() if value is not None}
    return jwt.encode(body, key, algorithm=algorithm, headers={"kid": kid})


def test_a_token_says_who_which_groups_and_which_roles(issuer: Double) -> None:
    door = Issuer(settings(issuer))
    found = door.caller(token(issuer, groups=["board", "staff"], roles=["auditor", "janitor"]))
    assert found is not None
    assert (found.user, found.groups, found.roles) == ("alice", ("board", "staff"), (Role.AUDITOR,))
    assert door.caller(token(issuer, CURVE, "ES256", "e1")).roles == (Role.ASKER,)  # type: ignore[union-attr]
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


def test_claims_are_found_where_the_configuration_says(issuer: Double) -> None:
    door = Issuer(settings(issuer, oidc_user="email", oidc_roles="realm_access.roles", oidc_role=""))
    found = door.caller(token(issuer, email="a@x.example", realm_access={"roles": ["curator"]}))
    assert found is not None
    assert (found.user, found.roles) == ("a@x.example", (Role.CURATOR,))
    assert door.caller(token(issuer, email="a@x.example")) is None
    assert door.caller(token(issuer, realm_access={"roles": ["curator"]})) is None
    assert claim({"https://x.example/roles": ["asker"]}, "https://x.example/roles") == ["asker"]


def forged(issuer: Double) -> dict[str, str]:
    now = int(time.time())
    public = RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    import base64
    import hashlib
    import hmac

    def part(value: Any) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    body = part({"iss": issuer.url, "aud": AUDIENCE, "sub": "alice", "exp": now + 300})
    confused = f"{part({'alg': 'HS256', 'kid': 'r1'})}.{body}"
    mac = (
        base64.urlsafe_b64encode(hmac.digest(public, confused.encode(), hashlib.sha256)).rstrip(b"=").decode()
    )
    good = token(issuer)
    return {
        "alg none": f"{part({'alg': 'none', 'kid': 'r1'})}.{body}.",
        "public key as secret": f"{confused}.{mac}",
        "another key": token(issuer, STRANGER),
        "expired": token(issuer, exp=now - 60),
        "not yet": token(issuer, nbf=now + 600),
        "for somebody else": token(issuer, aud="other"),
        "from somebody else": token(issuer, iss="https://evil.example"),
        "without an end": token(issuer, exp=None),
        "without a subject": token(issuer, sub=None),
        "an unknown key": token(issuer, kid="r2"),
        "the other key's name": token(issuer, kid="e1"),
        "another algorithm": token(issuer, RSA, "RS512"),
        "a changed body": ".".join([good.split(".")[0], body, good.split(".")[2]]),
        "no token": "x.y.z",
        "nothing": "",
    }


def test_what_is_forged_is_nobody(issuer: Double) -> None:
    door = Issuer(settings(issuer))
    for name, text in forged(issuer).items():
        assert door.caller(text) is None, name
    assert door.caller(token(issuer))


def test_a_key_named_by_a_token_is_never_fetched(issuer: Double) -> None:
    door = Issuer(settings(issuer))
    text = jwt.encode(
        {"iss": issuer.url, "aud": AUDIENCE, "sub": "alice", "exp": int(time.time()) + 300},
        STRANGER,
        algorithm="RS256",
        headers={"kid": "new", "jku": f"{issuer.url}/evil", "x5u": f"{issuer.url}/evil"},
    )
    assert door.caller(text) is None
    assert "/evil" not in issuer.asked


def test_keys_are_fetched_again_for_a_new_one_but_not_at_every_forgery(issuer: Double) -> None:
    now = 1000.0
    door = Issuer(settings(issuer), clock=lambda: now)
    assert door.caller(token(issuer))
    for _ in range(20):
        door.caller(token(issuer, STRANGER, kid="r9"))
    assert issuer.asked.count("/keys") == 1
    now += 31
    issuer.keys.append(jwk(STRANGER, "r9", "RS256"))
    assert door.caller(token(issuer, STRANGER, kid="r9"))
    assert issuer.asked.count("/keys") == 2


def test_an_issuer_that_is_away_is_asked_seldom_and_its_keys_are_believed_for_an_hour(
    issuer: Double,
) -> None:
    now, away, asked = 1000.0, False, 0

    def fetch(address: str) -> bytes:
        nonlocal asked
        asked += 1
        if away:
            raise TimeoutError
        with urllib.request.urlopen(address) as response:  # noqa: S310 - the double's own
            found: bytes = response.read()
        return found

    door = Issuer(settings(issuer), clock=lambda: now, fetch=fetch)
    good = token(issuer)
    assert door.caller(good)
    away, asked, now = True, 0, now + 601
    for _ in range(5):
        assert door.caller(good)
        with pytest.raises(IssuerError):  # it may or may not be forged
            door.caller(token(issuer, STRANGER, kid="r9"))
    assert asked == 1
    now += 31
    assert door.caller(good)
    assert asked == 2
    now += 3600
    for _ in range(5):
        with pytest.raises(IssuerError):
            door.caller(good)
    assert asked == 3
    away, now = False, now + 31
    assert door.caller(good)


def test_an_issuer_that_was_never_there_is_not_asked_for_every_token(issuer: Double) -> None:
    asked: list[str] = []

    def fetch(address: str) -> bytes:
        asked.append(address)
        raise httpx2.RemoteProtocolError("cut off")

    door = Issuer(settings(issuer), fetch=fetch)
    for _ in range(5):
        with pytest.raises(IssuerError):
            door.caller(token(issuer))
    assert len(asked) == 1


def test_keys_at_another_host_take_a_word_of_the_configuration(issuer: Double) -> None:
    issuer.jwks_uri = "https://keys.example/keys"
    with pytest.raises(IssuerError, match=r"server\.oidc_jwks"):
        Issuer(settings(issuer)).caller(token(issuer))
    door = Issuer(settings(issuer, oidc_jwks=f"{issuer.url}/keys"))
    assert door.caller(token(issuer))


def test_a_redirect_is_not_followed(issuer: Double) -> None:
    issuer.moved = "http://127.0.0.1:1/keys"
    with pytest.raises(IssuerError):
        Issuer(settings(issuer)).caller(token(issuer))


@pytest.mark.parametrize(
    "wrong",
    [
        {"oidc_issuer": "http://login.example.com", "oidc_audience": "x"},
        {"oidc_issuer": "https://login.example.com"},
        {"oidc_issuer": "https://login.example.com", "oidc_audience": "x", "oidc_jwks": "http://k.example"},
    ],
)
def test_a_configuration_that_is_not_safe_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        Issuer(Server(**wrong))


def test_over_http_a_token_opens_and_an_issuer_that_is_away_is_said(issuer: Double, home: Path) -> None:
    with open(home, config=Config(server=settings(issuer))) as kb:
        client = TestClient(create_app(kb), base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
        bearer = {"Authorization": f"Bearer {token(issuer)}"}
        assert client.get("/v1/models").status_code == 401
        assert client.get("/v1/models", headers=bearer).status_code == 200
        bad = {"Authorization": f"Bearer {token(issuer, STRANGER)}"}
        assert client.get("/v1/models", headers=bad).status_code == 401
    with open(home, config=Config(server=settings(issuer, oidc_jwks=f"{issuer.url}1/none"))) as kb:
        client = TestClient(create_app(kb), base_url="http://127.0.0.1:8000", raise_server_exceptions=False)
        away = client.get("/v1/models", headers=bearer)
        assert (away.status_code, away.json()["retryable"]) == (503, True)
        codes = [client.get("/v1/models", headers=bearer).status_code for _ in range(40)]
        assert set(codes) == {503, 429}
