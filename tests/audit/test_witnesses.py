"""Checkpoints reach their witnesses, and a witness that fails is reported."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from citewell.audit import EntryKind, SqliteLog
from citewell.audit.__main__ import main
from citewell.audit.notes import checkpoints_in, read_checkpoint
from citewell.audit.witnesses import Publisher, witness, witnesses
from citewell.core.errors import ConfigError

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)


class Hand:
    """A clock set by hand."""

    def __init__(self) -> None:
        self.at = NOW

    def now(self) -> datetime:
        return self.at


class Server:
    """Records requests, and objects by path: the parts of S3 and of a webhook that are needed here."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.objects: dict[str, bytes] = {}
        self.status = 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "aws-chunked":
                    body = re.sub(rb"^[0-9a-f]+[^\r]*\r\n", b"", body).split(b"\r\n0")[0]
                self.keep(body)
                if outer.status == 200:
                    outer.objects[self.path.split("?")[0]] = body
                self.reply(b"")

            def do_POST(self) -> None:
                self.keep(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                self.reply(b"ok")

            def do_GET(self) -> None:
                if "list-type=2" in self.path:
                    keys = "".join(
                        f"<Contents><Key>{path.split('/', 2)[2]}</Key></Contents>"
                        for path in sorted(outer.objects)
                    )
                    self.reply(
                        f"<ListBucketResult><IsTruncated>false</IsTruncated>{keys}</ListBucketResult>".encode()
                    )
                else:
                    self.reply(outer.objects[self.path.split("?")[0]])

            def keep(self, body: bytes) -> None:
                outer.requests.append((self.command, self.path, dict(self.headers), body))

            def reply(self, body: bytes) -> None:
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def log(tmp_path: Path) -> SqliteLog:
    log = SqliteLog(tmp_path / "audit.sqlite")
    log.note(EntryKind.NOTICE, {"n": 1})
    return log


def publisher(log: SqliteLog, *urls: str, clock: Hand | None = None) -> Publisher:
    return Publisher(log, witnesses(urls), clock or Hand(), every_s=3600)


def test_a_file_keeps_every_checkpoint(tmp_path: Path, log: SqliteLog) -> None:
    place = witness(f"file:{tmp_path / 'kept'}")
    texts = []
    for number in range(3):
        log.note(EntryKind.NOTICE, {"n": number})
        texts.append(log.checkpoint())
        assert place(texts[-1]) == ""
    assert checkpoints_in((tmp_path / "kept").read_text()) == texts


@pytest.mark.enable_socket
def test_a_webhook_gets_the_text(server: Server, log: SqliteLog) -> None:
    assert witness(f"{server.url}/in")(log.checkpoint()) == ""
    ((method, path, _, body),) = server.requests
    assert (method, path, body.decode()) == ("POST", "/in", log.checkpoint())
    server.status = 503
    assert "503" in witness(f"{server.url}/in")(log.checkpoint())


@pytest.mark.parametrize("url", ["", "kept", "ftp://host/x", "s3://bucket/x", "file:"])
def test_what_names_no_witness_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="witness"):
        witness(url)


def test_each_outcome_is_recorded_and_a_failure_is_an_entry(tmp_path: Path, log: SqliteLog) -> None:
    good, bad = f"file:{tmp_path}/kept", f"file:{tmp_path}/none/kept"
    first, second = publisher(log, good, bad).publish()
    assert (first.size, first.error) == (1, "")
    assert "No such file" in second.error
    with log.database.reading() as rows:
        held = rows.execute("SELECT witness, size, error FROM published ORDER BY witness").fetchall()
    assert held == [(good, 1, ""), (bad, 1, second.error)]
    assert log.body(log.at(2)) == {"witness": bad, "size": 1, "error": second.error}
    assert log.check().ok


@pytest.mark.enable_socket
def test_a_token_in_an_address_gets_into_no_record(server: Server, log: SqliteLog) -> None:
    server.status = 503
    done = publisher(log, f"{server.url}/S3CRET", f"{server.url}/in?token=S3CRET").publish()
    assert [one.witness for one in done] == [server.url, f"{server.url} (2)"]
    with log.database.reading() as rows:
        held = rows.execute("SELECT witness, error FROM published").fetchall()
    entries = [log.body(entry) for entry in log.entries(EntryKind.NOTICE)]
    assert len(held) == 2
    assert len(entries) == 3
    assert "503" in str(entries)
    assert "S3CRET" not in f"{held}{entries}{done}"


@pytest.mark.parametrize("url", ["htps://host/S3CRET", "s3://k:S3CRET@bucket/x"])
def test_a_refusal_repeats_no_token(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        witness(url)
    assert "S3CRET" not in str(refused.value)


def test_checkpoints_go_out_when_they_are_due(tmp_path: Path, log: SqliteLog) -> None:
    kept, clock = tmp_path / "kept", Hand()
    url = f"file:{kept}"
    sender = publisher(log, url, clock=clock)
    sizes = []
    for later in (0, 10, 3700):
        clock.at = NOW + timedelta(seconds=later)
        log.note(EntryKind.NOTICE, {"later": later})
        sender.close()
        sizes.append(len(checkpoints_in(kept.read_text())))
    assert sizes == [1, 1, 2]
    # Another process, a minute later, does not send it again.
    log.after_append = None
    clock.at += timedelta(seconds=60)
    again = publisher(log, url, clock=clock)
    log.note(EntryKind.NOTICE, {})
    again.close()
    assert len(checkpoints_in(kept.read_text())) == 2


def test_a_log_is_checked_against_the_file_of_its_witness(tmp_path: Path, log: SqliteLog) -> None:
    kept = tmp_path / "kept"
    for number in range(3):
        log.note(EntryKind.NOTICE, {"number": number})
        assert witness(f"file:{kept}")(log.checkpoint()) == ""
    found = checkpoints_in(kept.read_text())
    assert [read_checkpoint(one).size for one in found] == [log.size() - 2, log.size() - 1, log.size()]
    assert log.check(outside=[kept.read_text()]).ok
    # As `cat` joins them, without the empty line.
    assert log.check(outside=["".join(found)]).ok
    assert main([str(log.path), "--checkpoint", str(kept)]) == 0


def test_one_bad_checkpoint_among_those_kept_is_a_finding(tmp_path: Path, log: SqliteLog) -> None:
    log.note(EntryKind.NOTICE, {})
    kept = log.checkpoint()
    other = SqliteLog(tmp_path / "other.sqlite", keys=log.keys)
    other.note(EntryKind.NOTICE, {"said": "otherwise"})
    (rewritten,) = log.check(outside=[f"{kept}\n{other.checkpoint()}"]).findings
    assert rewritten.kind == "rewritten"
    for damaged in ("half a line", kept[:-9] + "\n", kept.replace("\n\n", "\n")):
        findings = log.check(outside=[f"{kept}\n{damaged}\n{kept}"]).findings
        assert {finding.kind for finding in findings} == {"checkpoint"}
