"""Files at an address are kept up to date like those of a folder, within the limits of a file; only the owner
of the home can name an address."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import fsspec
import msgspec
import pytest

from citewell.core.access import Caller, Role
from citewell.core.addresses import source_of
from citewell.core.config import Config, Documents
from citewell.core.errors import AbandonedError, AccessError, MissingExtraError, UsageError
from citewell.documents.outcomes import IngestReport
from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open
from citewell.models.fake import HashEmbedder

ROOT = "memory://bucket/papers"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    limits = Documents(max_file_mb=1, timeout_s=20)
    with open(tmp_path / "home", config=msgspec.structs.replace(Config(), documents=limits)) as found:
        found._parts.__dict__["embedder"] = HashEmbedder()
        yield found


class Bucket:
    """The file system ``memory://``; :meth:`put` writes a file under ROOT."""

    def __init__(self) -> None:
        self.system = fsspec.filesystem("memory")

    def put(self, name: str, text: str) -> None:
        self.system.pipe(f"{ROOT}/{name}", text.encode())

    def remove(self, name: str) -> None:
        self.system.rm(f"{ROOT}/{name}")


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    made = Bucket()
    for name in ("apples.md", "more/C# 100%.md", ".hidden.md"):
        made.put(name, f"# On {name}\n\nThere is a harvest every year.\n")
    yield made
    made.system.store.clear()
    made.system.pseudo_dirs[:] = [""]


def statuses(report: IngestReport) -> dict[str, str]:
    return {(one.document_id or one.path).removeprefix(f"{ROOT}/"): one.status for one in report.files}


def test_an_address_is_kept_up_to_date_like_a_folder(kb: KnowledgeBase, bucket: Bucket) -> None:
    assert statuses(kb.ingest(ROOT)) == {"apples.md": "added", "more/C# 100%.md": "added"}
    assert statuses(kb.ingest(f"{ROOT}/")) == {"apples.md": "unchanged", "more/C# 100%.md": "unchanged"}
    bucket.put("apples.md", "# On apples\n\nThe harvest failed.\n")
    bucket.remove("more/C# 100%.md")
    bucket.put("pears.zip", "PK")
    assert statuses(kb.ingest(ROOT)) == {
        "apples.md": "updated",
        "more/C# 100%.md": "withdrawn",
        "pears.zip": "failed",
    }
    assert kb.document(f"{ROOT}/apples.md").uri == f"{ROOT}/apples.md"
    assert "failed" in kb.document(f"{ROOT}/apples.md").text
    assert kb.log.check().ok


def test_a_named_address_that_is_gone_is_withdrawn_and_one_that_cannot_be_read_is_not(
    kb: KnowledgeBase, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb.ingest(f"{ROOT}/apples.md", document_id="apples")
    with monkeypatch.context() as patched:
        for error in (PermissionError("no"), FileNotFoundError(2, "No such file", "/root/credentials.json")):

            def fail(*_: Any, error: Exception = error, **__: Any) -> None:
                raise error

            patched.setattr(type(bucket.system), "info", fail)
            assert set(statuses(kb.ingest(f"{ROOT}/apples.md")).values()) == {"failed"}
    with monkeypatch.context() as patched:
        patched.setattr(type(bucket.system), "ls", fail)
        assert set(statuses(kb.ingest(ROOT)).values()) == {"failed"}
    assert set(statuses(kb.ingest("memory://bucket/mistyped")).values()) == {"failed"}
    bucket.remove("apples.md")
    assert statuses(kb.ingest(f"{ROOT}/apples.md")) == {"apples": "withdrawn"}


def test_no_more_than_a_file_may_have_is_fetched(kb: KnowledgeBase, bucket: Bucket) -> None:
    bucket.put("huge.txt", "a" * (3 << 20))
    (failure,) = kb.ingest(ROOT).failed
    assert (failure.document_id, "1 MiB" in failure.message) == (f"{ROOT}/huge.txt", True)
    assert len(kb.documents()) == 2


def test_a_fetch_ends_when_nobody_waits_for_it(
    kb: KnowledgeBase, bucket: Bucket, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Dripping(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            time.sleep(0.01)
            return b"a"

    monkeypatch.setattr(type(bucket.system), "open", lambda *_: Dripping())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    began = time.monotonic()
    with pytest.raises(AbandonedError):
        kb.ingest(ROOT, gone=lambda: "the client left")
    assert time.monotonic() - began < 10
    assert list(tmp_path.glob("citewell-*")) == []


def test_files_inside_a_fetched_file_are_found_again(kb: KnowledgeBase, bucket: Bucket) -> None:
    mail = (
        "From: a@example.org\nSubject: Offer\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nSee the offer.\n--b\nContent-Type: text/plain\n"
        "Content-Disposition: attachment; filename=offer.txt\n\nThe price is 40 EUR.\n--b--\n"
    )
    bucket.put("mail.eml", mail)
    kb.ingest(ROOT)
    assert kb.document(f"{ROOT}/mail.eml/offer.txt").uri == f"{ROOT}/mail.eml#offer.txt"
    assert set(statuses(kb.ingest(ROOT)).values()) == {"unchanged"}
    bucket.remove("mail.eml")
    gone = {name for name, status in statuses(kb.ingest(ROOT)).items() if status == "withdrawn"}
    assert gone == {"mail.eml", "mail.eml/offer.txt"}


@pytest.mark.usefixtures("bucket")
def test_only_the_owner_names_an_address_and_a_path_never_is_one(kb: KnowledgeBase) -> None:
    admin = kb.as_(Caller(user="ann", roles=(Role.ADMIN,)))
    with pytest.raises(AccessError, match="only the owner"):
        admin.ingest(ROOT)
    assert "no such file" in kb.ingest(Path(ROOT)).failed[0].message
    assert kb.documents() == []


@pytest.mark.parametrize(
    ("address", "error", "says"),
    [
        ("smb://host/share", MissingExtraError, "smbprotocol"),
        ("s3://bucket/x", MissingExtraError, "pip install s3fs"),
        ("unheard://x", UsageError, "such as s3://"),
        ("file:///etc", UsageError, "the path of the file"),
        ("memory://a::simplecache://b", UsageError, "the path of the file"),
        ("sftp://ann:secret@host/x", UsageError, "password"),
    ],
)
def test_an_address_that_cannot_be_used_says_what_to_do(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, address: str, error: type[Exception], says: str
) -> None:
    for package in ("s3fs", "smbprotocol"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(error, match=says) as raised:
        kb.ingest(address)
    assert "secret" not in str(raised.value)


@pytest.mark.usefixtures("bucket")
def test_an_id_is_given_to_one_file_at_an_address(kb: KnowledgeBase) -> None:
    with pytest.raises(UsageError, match="single document"):
        kb.ingest(ROOT, document_id="all")


@pytest.mark.parametrize(
    ("document_id", "source"),
    [
        ("s3://ours/policies/rent.md", "s3://ours"),
        ("https://example.org", "https://example.org"),
        ("uploads/https://example.org/x", "uploads"),
    ],
)
def test_one_bucket_or_host_does_not_speak_for_another(document_id: str, source: str) -> None:
    assert source_of(document_id) == source


class Web(BaseHTTPRequestHandler):
    pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        status, headers, body = self.pages.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web() -> Iterator[str]:
    Web.pages, Web.asked = {}, []
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


PAGE = b"<html><h1>Pears</h1><p>Pears are picked in October. <a href='/other.html'>More</a></p></html>"


@pytest.mark.enable_socket
def test_a_web_page_is_fetched_once_and_nothing_that_it_names(
    kb: KnowledgeBase, web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Web.pages |= {"/pears?year=2": (200, {}, PAGE), "/old": (302, {"Location": "/pears?year=2"}, b"")}
    address = f"{web}/pears?year=2"
    assert statuses(kb.ingest(f"{address}#picking")) == {address: "added"}
    assert Web.asked == ["/pears?year=2"]
    assert statuses(kb.ingest(address)) == {address: "unchanged"}
    assert statuses(kb.ingest(f"{web}/old")) == {f"{web}/old": "added"}
    with monkeypatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", "/nowhere.pem")
        assert "SSL_CERT_FILE" in kb.ingest(address).failed[0].hint
    Web.pages["/pears?year=2"] = (503, {}, b"busy")
    assert "503" in kb.ingest(address).failed[0].message
    del Web.pages["/pears?year=2"]
    assert statuses(kb.ingest(address)) == {address: "withdrawn"}
    assert kb.document(address).uri == address


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("page", "says"),
    [
        ((200, {}, b"a" * (3 << 20)), "larger than 1 MiB"),
        ((302, {"Location": "file:///etc/passwd"}, b""), "cannot be fetched"),
        ((302, {"Location": "/"}, b""), "cannot be fetched"),
        ((302, {"Location": "http://localhost/"}, b""), "another host, localhost"),
        ((200, {"Content-Encoding": "gzip"}, b"\x1f\x8b"), "compressed with gzip"),
    ],
    ids=["too large", "a redirect to a file", "a loop", "another host", "compressed"],
)
def test_a_web_server_that_misbehaves_is_a_failure(kb: KnowledgeBase, web: str, page: Any, says: str) -> None:
    Web.pages["/"] = page
    (failure,) = kb.ingest(f"{web}/").failed
    assert says in failure.message
    assert failure.hint
