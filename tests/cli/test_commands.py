"""The commands as a user types them, with two short documents and the embedded models."""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pytest

import citewell
from citewell.cli.ingest import progress_line
from citewell.core.errors import UsageError
from citewell.core.identity import hash_file
from citewell.core.weights import read_card
from citewell.documents.outcomes import IngestProgress
from citewell.knowledge.home import KnowledgeBase


def test_home_before_and_after_the_command_and_from_the_environment(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    before = run("--home", home, "documents", "list")
    after = run("documents", "list", "--home", home)
    monkeypatch.setenv("CITEWELL_HOME", str(home))
    neither = run("documents", "list")
    assert before.exit_code == 0
    assert before.output == after.output == neither.output
    assert "reports/nike.md" in before.output
    assert "does not exist yet" in run("--home", "elsewhere", "doctor").output


def test_no_home_is_an_error_with_its_remedy_and_makes_nothing(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    for words in (["ask", "Why?"], ["documents", "list"], ["audit", "check"], ["search", "x"]):
        result = run(*words)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.startswith("error: no knowledge base at .citewell")
        assert "citewell ingest" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["ask"],
        ["nonsense"],
        ["ask", "Why?", "--top-k", "11"],
        ["ask", "Why?", "--runs", "0"],
        ["audit", "query", "--status", "odd"],
        ["audit", "query", "--since", "soon"],
        ["ingest"],
        ["documents"],
    ],
)
def test_wrong_words_are_usage_errors(run, home, words) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, *words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.parametrize("words", [["ask", "Why?"], ["ingest", "in"]])
def test_a_home_that_is_a_file_is_no_home(run, tmp_path, words) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "notes.txt").write_text("The harbour was dredged in 1911.")
    result = run("--home", "notes.txt", *words)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "notes.txt is a file" in result.stderr


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "kb/x"),
            "no space left on device (kb/x): free disk",
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "kb"),
            "read-only file system (kb): choose a writable place",
        ),
        (
            RuntimeError("lance error: LanceError(IO): No space left on device (os error 28)"),
            "the index: no sp",
        ),
    ],
)
def test_what_the_machine_refuses_is_no_bug_of_ours(run, tmp_path, monkeypatch, error, says) -> None:  # type: ignore[no-untyped-def]
    def refused(*_: object, **__: object) -> None:
        raise error

    (tmp_path / "in.txt").write_text("The harbour was dredged in 1911.")
    monkeypatch.setattr(KnowledgeBase, "ingest", refused)
    result = run("ingest", "in.txt")
    assert (result.exit_code, "a bug" in result.stderr) == (1, False)
    assert says in result.stderr


def test_an_unknown_key_is_one_line(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("CITEWELL_RETRIEVAL_POOLS", "3")
    result = run("--home", home, "search", "lamp")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "CITEWELL_RETRIEVAL_POOL?" in result.stderr


def test_ingest_tells_each_bad_file_and_goes_on(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.txt").write_text("The harbour was dredged in 1911.")
    (tmp_path / "in" / "empty.txt").write_text("")
    (tmp_path / "in" / "not.pdf").write_text("only text")
    result = run("ingest", "in")
    assert result.exit_code == 1
    failures = [line for line in result.stderr.splitlines() if line.startswith("failed: ")]
    assert len(failures) == 2
    assert all(";" in line for line in failures)
    assert "1 added" in result.stdout
    assert run("documents", "list", "--json").exit_code == 0


def test_ingest_counts_what_is_no_document_in_one_line(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.txt").write_text("The harbour was dredged in 1911.")
    for name in ("one.png", "two.png"):
        (tmp_path / "in" / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(90))
    result = run("ingest", "in")
    assert (result.exit_code, "1 added" in result.stdout) == (0, True)
    assert [line for line in result.stderr.splitlines() if "2 PNG images" in line]
    assert "one.png" not in result.output
    assert "skipped: in/one.png: it is a PNG image" in run("ingest", "in", "--skipped").stderr
    assert run("ingest", "in/one.png").exit_code == 1


def test_ingest_shows_how_many_files_of_all_are_done_to_who_looks(run, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "in").mkdir()
    for name in ("one", "two", "three"):
        (tmp_path / "in" / f"{name}.txt").write_text("The harbour was dredged in 1911.")
    assert run("ingest", "in").stderr == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # this is a terminal, to any rich
    monkeypatch.setenv("TERM", "xterm")
    shown = run("ingest", "in").stderr
    assert "3/3 files" in shown
    assert "\n" not in shown.split("\x1b[2K")[-1], "nothing stays of it"


def test_ingest_tells_what_readers_left_out_and_guessed(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "in").mkdir()
    for number in range(25):
        (tmp_path / "in" / f"{number:02}.html").write_text(
            f"<p>The harbour was dredged in 19{number:02}.</p><p hidden>Not so.</p>"
        )
    noted = "hidden elements left out: 1"
    assert run("ingest", "in/00.html", "in/01.html").stderr.splitlines() == [
        f"note: in/00.html: {noted}",
        f"note: in/01.html: {noted}",
    ]
    lines = run("ingest", "in").stderr.splitlines()
    assert len(lines) == 21
    assert lines[0] == f"note: in/00.html: {noted}"
    assert lines[-1].startswith("5 more files have notes")
    assert run("ingest", "in").stderr == ""


def test_an_ingest_that_is_stopped_says_that_it_can_go_on(run, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "in.txt").write_text("The harbour was dredged in 1911.")
    monkeypatch.setattr(KnowledgeBase, "ingest", stopped)
    result = run("ingest", "in.txt")
    assert (result.exit_code, "Run the same command again" in result.stderr) == (130, True)


def test_ingest_again_changes_nothing(run, home) -> None:  # type: ignore[no-untyped-def]
    run("--home", home, "ingest", home.parent / "reports")  # an earlier test recorded other settings
    size = json.loads(run("--home", home, "audit", "check", "--json").stdout)["size"]
    result = run("--home", home, "ingest", home.parent / "reports", "--json")
    assert result.exit_code == 0
    assert {outcome["status"] for outcome in json.loads(result.stdout)["files"]} == {"unchanged"}
    assert json.loads(run("--home", home, "audit", "check", "--json").stdout)["size"] == size


def test_search_marks_what_is_relevant(run, home) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "search", "When was Nike founded and by whom?", "--json")
    passages = json.loads(result.stdout)["passages"]
    assert passages[0]["chunk"]["document_id"] == "reports/nike.md"
    assert all(isinstance(passage["relevant"], bool) for passage in passages)


def test_documents_show_prints_the_text_that_is_cited(run, home) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "documents", "show", "reports/light.md")
    assert "Cape Meares is lit at dusk" in result.stdout
    missing = run("--home", home, "documents", "show", "none.md")
    assert (missing.exit_code, missing.stdout) == (1, "")


def test_documents_show_says_of_which_pages_words_are_missing(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    whole = KnowledgeBase.document
    monkeypatch.setattr(
        KnowledgeBase, "document", lambda *a: msgspec.structs.replace(whole(*a), incomplete=(3,))
    )
    shown = " ".join(run("--home", home, "documents", "show", "reports/light.md").stdout.split())
    assert "Some of what is printed on page 3 is missing from the text." in shown


def test_escape_sequences_in_a_document_do_not_reach_the_terminal(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "in").mkdir()
    text = "# A \x1b]0;owned\x07 title\n\nThe [bold]gate[/bold] opens at \x9b9."
    (tmp_path / "in" / "evil.md").write_text(text)
    (tmp_path / "evil\x1b[31m.md").write_text(text)
    refused = run("ingest", "evil\x1b[31m.md")
    assert refused.exit_code == 1
    assert "\x1b" not in refused.output
    for words in (["ingest", "in"], ["documents", "list"], ["search", "When does the gate open?"]):
        result = run(*words)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
        assert "\x9b" not in result.output
    assert "[bold]gate[/bold]" in result.stdout


def test_withdrawing_is_recorded_and_takes_effect(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.txt").write_text("The harbour was dredged in 1911.")
    assert run("ingest", "a.txt").exit_code == 0
    assert run("documents", "withdraw", "a.txt", "--reason", "wrong year").exit_code == 0
    assert json.loads(run("search", "harbour", "--json").stdout)["passages"] == []
    assert "withdrawn" in run("documents", "list").stdout
    assert json.loads(run("audit", "check", "--json").stdout)["ok"]
    bodies = Path(".citewell/audit.sqlite")
    with sqlite3.connect(bodies) as log:
        found = log.execute("SELECT body FROM entries WHERE kind = 'withdrawal'").fetchall()
    assert "wrong year" in found[0][0]
    assert run("documents", "withdraw", "none.txt").exit_code == 1


def test_an_empty_path_or_id_is_not_the_working_folder_or_a_name(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "private.txt").write_text("The harbour was dredged in 1911.")
    for words in ([""], ["private.txt", ""], ["private.txt", "--id", ""]):
        assert run("ingest", *words).exit_code == 2
    assert run("ingest", "private.txt").stdout.startswith("1 added")
    with citewell.open(tmp_path / ".citewell") as kb:
        for careless in ((5,), (None,), ([tmp_path],)):
            with pytest.raises(UsageError, match="is not a path"):
                kb.ingest(*careless)  # type: ignore[arg-type]


def test_an_ingest_says_what_stays_withdrawn_and_how_to_restore_it(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "papers").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "papers" / f"{name}.txt").write_text(f"The harbour {name} was dredged in 1911.")
    run("ingest", "papers")
    told = run("documents", "withdraw", "papers/a.txt", "--reason", "wrong year").stdout
    assert "run `citewell ingest FILE --id papers/a.txt`" in told
    result = run("ingest", "papers")
    assert (result.exit_code, result.stdout) == (0, "1 still withdrawn, 2 unchanged\n")
    assert run("ingest", "papers/a.txt", "--id", "papers/a.txt").exit_code == 0
    assert run("ingest", "papers").stdout == "3 unchanged\n"


def test_sharing_is_recorded_and_takes_effect(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.txt").write_text("The harbour was dredged in 1911.")
    assert run("ingest", "a.txt").exit_code == 0
    assert "port, ops" in run("documents", "share", "a.txt", "--acl", "port", "--acl", "ops").stdout
    assert json.loads(run("search", "harbour", "--json").stdout)["passages"] == []
    assert json.loads(run("search", "harbour", "--group", "ops", "--json").stdout)["passages"]
    assert json.loads(run("documents", "list", "--json").stdout)["documents"][0]["acl"] == ["port", "ops"]
    assert json.loads(run("audit", "check", "--json").stdout)["ok"]
    for words in (["a.txt"], ["a.txt", "--acl", "x", "--everybody"]):
        assert run("documents", "share", *words).exit_code == 2
    assert run("documents", "share", "a.txt", "--everybody").exit_code == 0
    assert json.loads(run("search", "harbour", "--json").stdout)["passages"]
    assert run("documents", "share", "none.txt", "--everybody").exit_code == 1


def test_init_makes_a_home_that_loads(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert run("init", "--home", "new").exit_code == 0
    assert (tmp_path / "new" / "citewell.toml").is_file()
    assert run("init", "--home", "new").exit_code == 2
    assert run("--home", "new", "documents", "list").stdout.startswith("No documents yet")


def test_doctor_and_models_name_every_maker(run, home) -> None:  # type: ignore[no-untyped-def]
    result = run("--home", home, "doctor", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["ok"]
    makers = json.loads(run("--home", home, "models", "--json").stdout)
    both = {"entailer", "entailer 1", "entailer 2"}
    assert set(makers) == {"embedder", "ranker", "extractor", "generator", "support"} | both
    assert all(maker["name"] and maker["hash"].startswith("sha256:") for maker in makers.values())


def test_doctor_ends_with_one_when_a_part_fails(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("CITEWELL_EXTRACTOR", "nonsense")
    result = run("--home", home, "doctor")
    assert result.exit_code == 1
    assert "FAILS" in result.stdout


FOUNDED = "When was Nike founded?"


@contextmanager
def models_at(names: list[str], seen: list[str]) -> Iterator[str]:
    """A server that only lists models; ``seen`` collects the paths and keys it received."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('authorization', '')}")
            wrong = "wrong" in self.headers.get("authorization", "")
            body = json.dumps({"data": [{"id": name} for name in names]}).encode()
            self.send_response(401 if wrong else 200)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            seen.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.enable_socket
def test_doctor_tries_keys_and_servers_and_says_what_to_do(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    seen: list[str] = []
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with models_at(["llama3.2", "qwen"], seen) as address:
        monkeypatch.setenv("OLLAMA_HOST", address.removeprefix("http://"))
        monkeypatch.setenv("OPENAI_BASE_URL", address + "/v1")
        told = json.loads(run("--home", home, "doctor", "--json").stdout)["optional"]
        first = {one["part"]: one for one in told}
        assert first["ollama"]["ok"]
        assert "citewell ask --model ollama/llama3.2" in first["ollama"]["says"]
        assert "set OPENAI_API_KEY" in first["openai"]["says"]
        assert not any("Bearer" in one for one in seen)
        for key, ok in (("sk-good", True), ("sk-wrong", False)):
            monkeypatch.setenv("OPENAI_API_KEY", key)
            result = run("--home", home, "doctor", "--json")
            assert result.exit_code == 0  # missing optional parts are not a failure
            found = {one["part"]: one for one in json.loads(result.stdout)["optional"]}
            assert found["openai"]["ok"] is ok
            assert key not in result.output
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    assert "not reached" in run("--home", home, "doctor").stdout


@pytest.mark.enable_socket
def test_ask_takes_a_model_of_ollama_in_one_word(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    seen: list[str] = []
    with models_at([], seen) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        monkeypatch.setenv("CITEWELL_WRITER_RETRIES", "0")
        result = run("--home", home, "ask", "--model", "ollama/llama3.2", FOUNDED)
    assert "/v1/chat/completions" in seen
    assert result.exit_code == 1
    assert "ollama:llama3.2" in result.stderr
    unknown = run("--home", home, "ask", "--model", "nobody/x", FOUNDED)
    assert "ollama" in unknown.stderr


def test_models_says_where_each_packaged_models_card_lies(run, home) -> None:  # type: ignore[no-untyped-def]
    shown = run("--home", home, "models").stdout
    cards = [word for word in shown.split() if word.endswith("CARD.md")]
    assert len(set(cards)) == 4  # embedder, both entailers, and one shared by ranker and reader
    makers = json.loads(run("--home", home, "models", "--json").stdout)
    assert {maker["model_card"] for maker in makers.values() if "model_card" in maker} == set(cards)
    assert all("Trained on" in Path(card).read_text(encoding="utf-8") for card in cards if "entailer" in card)


def test_models_gives_the_hash_of_every_packaged_file(run, home) -> None:  # type: ignore[no-untyped-def]
    shown = run("--home", home, "models").stdout
    for card in {word for word in shown.split() if word.endswith("CARD.md")}:
        files = read_card(Path(card).parent)["files"]
        assert files
        assert all(hash_file(Path(card).with_name(name)) == told for name, told in files.items())
        assert all(told in shown for told in files.values())


def test_models_shows_each_member_of_a_panel(run, home, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("CITEWELL_ENTAILER", "embedded + openai:judge")
    listed = json.loads(run("--home", home, "models", "--json").stdout)
    assert listed["entailer"]["name"].endswith(" + openai:judge")
    assert "tokenizer.json" in listed["entailer 1"]["files"]
    assert "model.onnx.1" in listed["entailer 2"]["files"]
    assert listed["entailer 3"]["name"] == "openai:judge"


def test_models_names_the_judges_and_hides_no_model_behind_one_that_fails(  # type: ignore[no-untyped-def]
    run, home, monkeypatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    for name in ("JUDGES_GATE", "JUDGES_ANSWER", "QUESTIONS_MODEL"):
        monkeypatch.setenv(f"CITEWELL_{name}", "openai:asked")
    monkeypatch.setenv("CITEWELL_QUESTIONS_REFORMULATE", "true")
    monkeypatch.setenv("CITEWELL_EXTRACTOR", "nonsense")
    result = run("--home", home, "models", "--json")
    assert result.exit_code == 1
    listed = json.loads(result.stdout)
    assert {listed[name]["name"] for name in ("gate_judge", "answer_judge", "questioner")} == {"openai:asked"}
    assert "nonsense" in listed["extractor"]["error"]
    assert listed["entailer"]["hash"].startswith("sha256:")


def test_documents_shows_of_a_mail_its_fields_its_thread_and_what_was_left_out(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "post").mkdir()
    for number, refers in ((1, ""), (2, "In-Reply-To: <1@a.example>\n")):
        (tmp_path / "post" / f"{number}.eml").write_text(
            f"From: Ann <ann@a.example>\nMessage-ID: <{number}@a.example>\n{refers}Subject: Harbour\n"
            "Date: Tue, 3 Mar 2026 09:00:00 +0000\nContent-Type: text/html\n\n"
            "<nav>Home</nav><p>The harbour was dredged in 1911.</p>\n"
        )
    assert run("ingest", "post").stdout.startswith("2 added")
    shown = " ".join(run("documents", "show", "post/2.eml").stdout.split())
    for line in (
        "thread: post/1.eml, post/2.eml",
        "From: Ann <ann@a.example>",
        "published_at: 2026-03-03 (mail header)",
        "note: navigation left out: 4 characters",
        "The harbour was dredged in 1911.",
    ):
        assert line in shown


def test_the_progress_of_an_ingest_names_the_file_the_rate_and_what_is_left() -> None:
    step = IngestProgress(
        path="in/handbook.pdf", files=2, of=8, pages=120, chunks=900, elapsed_s=80.0, left_s=180.0
    )
    assert progress_line(step) == "2/8 files, 120 pages (1.5 a second), about 3 min left: handbook.pdf"
    first = IngestProgress(path="in/a.md", files=0, of=8, pages=0, chunks=0, elapsed_s=0.1, left_s=None)
    assert progress_line(first) == "0/8 files, 0 chunks: a.md"
