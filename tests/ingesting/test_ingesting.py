"""A folder is ingested once, kept up to date, and survives any interruption."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from citewell.core.config import Chunking, Documents
from citewell.core.errors import AbandonedError, UsageError
from citewell.documents import ingesting, ocr
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.files import walk
from citewell.documents.index import BM25, LanceIndex
from citewell.documents.ingesting import ingest, withdraw
from citewell.documents.outcomes import IngestProgress, IngestReport
from citewell.documents.worker import ParsingWorker
from citewell.models.fake import HashEmbedder

SETTINGS = Chunking(min_tokens=5, target_tokens=20, max_tokens=60)


class Home:
    """A knowledge base with a fake embedder; reopened for each ingest, as in a new process."""

    def __init__(self, path: Path, worker: ParsingWorker) -> None:
        self.path, self.worker = path, worker
        self.embedded: list[str] = []

    @property
    def evidence(self) -> SqliteEvidence:
        return SqliteEvidence(self.path / "evidence.sqlite")

    @property
    def index(self) -> LanceIndex:
        home = self

        class Counting(HashEmbedder):
            def embed(self, texts: Sequence[str]) -> Any:
                home.embedded += texts
                return super().embed(texts)

        return LanceIndex(self.path / "index", Counting(), "settings")

    def ingest(self, *paths: Path, **options: Any) -> IngestReport:
        with self.evidence as evidence:
            return ingest(
                paths, worker=self.worker, evidence=evidence, index=self.index, chunking=SETTINGS, **options
            )

    def find(self, query: str, groups: Sequence[str] | None = None) -> list[str]:
        hits = self.index.snapshot().search(BM25, query, None, 5000, {"groups": groups})
        return sorted({hit.chunk.document_id for hit in hits})


@pytest.fixture(scope="module")
def worker() -> Iterator[ParsingWorker]:
    with ParsingWorker(Documents()) as worker:
        yield worker


@pytest.fixture
def home(tmp_path: Path, worker: ParsingWorker) -> Home:
    return Home(tmp_path / "home", worker)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("apples", "pears", "plums"):
        (folder / f"{name}.md").write_text(f"# On {name}\n\nThere is a harvest of {name} every year.\n")
    return folder


def statuses(report: IngestReport) -> dict[str, str]:
    return {outcome.document_id or outcome.path: outcome.status for outcome in report.files}


def test_a_folder_is_added_then_left_alone(home: Home, folder: Path) -> None:
    seen: list[IngestProgress] = []
    report = home.ingest(folder, progress=seen.append)
    assert set(statuses(report).values()) == {"added"}
    assert (seen[0].files, seen[0].of, seen[0].chunks) == (0, 3, 0)
    assert (seen[0].path, seen[0].left_s) == (str(folder / "apples.md"), None)  # before it is read
    assert (seen[-1].files, seen[-1].of, seen[-1].left_s) == (3, 3, 0)
    assert seen[-1].chunks == sum(outcome.chunks for outcome in report.files) > 0
    assert any(step.left_s for step in seen if step.path.endswith("pears.md"))
    assert home.find("harvest pears") == ["papers/apples.md", "papers/pears.md", "papers/plums.md"]
    home.embedded.clear()
    again = home.ingest(folder)
    assert set(statuses(again).values()) == {"unchanged"}
    assert again.index_version == report.index_version
    assert home.embedded == []


def test_every_chunk_is_its_evidence(home: Home, folder: Path) -> None:
    home.ingest(folder)
    hits = home.index.snapshot().search(BM25, "harvest", None, 50, {})
    assert hits
    with home.evidence as evidence:
        for hit in hits:
            document = evidence.get(hit.chunk.document_version, hit.chunk.document_id)
            assert document.text[hit.chunk.start_offset : hit.chunk.end_offset] == hit.chunk.content
            assert hit.chunk.ingested_at == document.ingested_at != ""


def test_a_changed_file_supersedes_and_the_old_text_stays_readable(home: Home, folder: Path) -> None:
    home.ingest(folder)
    (folder / "pears.md").write_text("# On pears\n\nAll quinces now.\n")
    report = home.ingest(folder)
    assert statuses(report)["papers/pears.md"] == "updated"
    assert home.find("quinces") == ["papers/pears.md"]
    assert home.find("harvest") == ["papers/apples.md", "papers/plums.md"]
    with home.evidence as evidence:
        old, new = evidence.versions("papers/pears.md")
        assert "harvest of pears" in evidence.get(old, "papers/pears.md").text
        assert evidence.get(new, "papers/pears.md").supersedes == old


def test_a_file_that_goes_back_is_not_read_again_as_another_text(home: Home, folder: Path) -> None:
    before = (folder / "pears.md").read_text()
    home.ingest(folder)
    (folder / "pears.md").write_text("# On pears\n\nAll quinces now.\n")
    home.ingest(folder)
    (folder / "pears.md").write_text(before)
    assert statuses(home.ingest(folder))["papers/pears.md"] == "updated"
    assert home.find("quinces") == []
    assert "papers/pears.md" in home.find("harvest")


def test_a_deleted_file_is_withdrawn_and_comes_back_when_it_does(home: Home, folder: Path) -> None:
    home.ingest(folder)
    text = (folder / "plums.md").read_text()
    (folder / "plums.md").unlink()
    assert statuses(home.ingest(folder))["papers/plums.md"] == "withdrawn"
    assert home.find("harvest") == ["papers/apples.md", "papers/pears.md"]
    with home.evidence as evidence:
        latest = evidence.latest("papers/plums.md")
    assert latest is not None
    assert "plums" in latest.text
    (folder / "plums.md").write_text(text)
    assert statuses(home.ingest(folder))["papers/plums.md"] == "added"
    assert "papers/plums.md" in home.find("harvest")


def test_a_file_of_another_folder_is_not_withdrawn(home: Home, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "figs.md").write_text("# On figs\n\nFigs of the harvest.\n")
    home.ingest(folder, other)
    (other / "figs.md").unlink()
    home.ingest(folder)
    assert "other/figs.md" in home.find("harvest")


@pytest.mark.parametrize("reason", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_a_folder_that_cannot_be_read_withdraws_nothing(
    home: Home, folder: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "figs.md").write_text("# On figs\n\nFigs of the harvest.\n")
    home.ingest(folder)
    (folder / "plums.md").unlink()
    with monkeypatch.context() as patched:
        for name in ("stat", "lstat", "listdir"):  # injected: the tests may run as root, who reads everything
            patched.setattr(os, name, _failing(getattr(os, name), folder / "more", name, reason))
        found = statuses(home.ingest(folder, folder / "more" / "figs.md"))
    assert found == {
        "papers/apples.md": "unchanged",
        "papers/pears.md": "unchanged",
        "papers/plums.md": "withdrawn",
        str(folder / "more"): "failed",
        str(folder / "more" / "figs.md"): "failed",
    }
    assert "papers/more/figs.md" in home.find("harvest")


def _failing(known: Any, folder: Path, name: str, reason: int) -> Any:
    """``known``, except that everything in ``folder`` raises ``OSError(reason)``."""

    def wrapped(path: Any = ".", *args: Any, **options: Any) -> Any:
        if isinstance(path, str | Path) and (
            folder in Path(path).parents or (name == "listdir" and Path(path) == folder)
        ):
            raise OSError(reason, os.strerror(reason), str(path))
        return known(path, *args, **options)

    return wrapped


def test_a_link_that_is_deleted_is_withdrawn_and_one_that_is_broken_is_not(
    home: Home, folder: Path, tmp_path: Path
) -> None:
    far = folder / ".far"
    far.mkdir()
    for name in ("figs", "nuts"):
        (far / f"{name}.md").write_text(f"# On {name}\n\nThe harvest of {name}.\n")
    (folder / "figs.md").symlink_to(far / "figs.md")
    (folder / "more").symlink_to(far)
    home.ingest(folder)
    far.rename(tmp_path / "unplugged")
    assert set(statuses(home.ingest(folder)).values()) == {"unchanged", "failed"}
    (tmp_path / "unplugged").rename(far)
    (folder / "figs.md").unlink()
    (folder / "more").unlink()
    found = statuses(home.ingest(folder))
    assert {name for name, status in found.items() if status == "withdrawn"} == {
        "papers/figs.md",
        "papers/more/figs.md",
        "papers/more/nuts.md",
    }
    assert home.find("harvest") == ["papers/apples.md", "papers/pears.md", "papers/plums.md"]


def test_a_file_whose_name_is_no_text_is_not_taken_for_deleted(home: Home, folder: Path) -> None:
    odd = os.fsencode(folder) + b"/caf\xe9.md"
    with open(odd, "w") as stream:
        stream.write("# On coffee\n\nThe harvest of coffee.\n")
    home.ingest(folder)
    os.unlink(odd)
    os.symlink("nowhere", odd)
    assert "withdrawn" not in statuses(home.ingest(folder)).values()
    os.unlink(odd)
    assert "withdrawn" in statuses(home.ingest(folder)).values()


def test_naming_a_known_file_that_is_gone_withdraws_it(home: Home, folder: Path) -> None:
    home.ingest(folder / "pears.md", folder / "plums.md")
    (folder / "pears.md").unlink()
    report = home.ingest(folder / "pears.md", folder / "plums.md")
    assert statuses(report) == {"plums.md": "unchanged", "pears.md": "withdrawn"}
    assert home.find("harvest") == ["plums.md"]
    (again,) = home.ingest(folder / "pears.md").failed
    assert "no such file" in again.message


def test_a_folder_that_is_named_and_not_there_withdraws_nothing(home: Home, folder: Path) -> None:
    home.ingest(folder)
    folder.rename(folder.parent / "unplugged")
    assert statuses(home.ingest(folder)) == {str(folder): "failed"}
    assert len(home.find("harvest")) == 3


def test_a_path_that_cannot_be_looked_at_is_one_failure(home: Home, folder: Path) -> None:
    report = home.ingest(folder / ("n" * 300), folder)
    assert [bool(failure.hint) for failure in report.failed] == [True]
    assert len(home.find("harvest")) == 3


def test_what_a_person_withdrew_stays_withdrawn_until_it_is_named(home: Home, folder: Path) -> None:
    home.ingest(folder)
    with home.evidence as evidence:
        withdraw("papers/pears.md", evidence=evidence, index=home.index, reason="retracted")
    assert "papers/pears.md" not in home.find("harvest")
    report = home.ingest(folder)
    assert "papers/pears.md" not in home.find("harvest")
    assert any("retracted" in outcome.message for outcome in report.files)
    home.ingest(folder / "pears.md", document_id="papers/pears.md")
    assert "papers/pears.md" in home.find("harvest")


def test_a_bad_file_is_reported_with_what_to_do_and_the_rest_goes_on(home: Home, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing more")
    (folder / "empty.md").write_text("")
    report = home.ingest(folder)
    failed = {outcome.document_id: outcome for outcome in report.failed}
    assert set(failed) == {"papers/broken.pdf", "papers/empty.md"}
    assert all(outcome.message and outcome.hint for outcome in failed.values())
    assert len(home.find("harvest")) == 3


def test_a_file_exchanged_for_a_link_while_the_folder_is_read_is_a_failure_and_keeps_what_was_known(
    home: Home, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.ingest(folder)
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nThe harvest of secrets is kept from everybody.\n")

    def found_then_exchanged(*given: Any, **options: Any) -> Iterator[Any]:
        found = list(walk(*given, **options))
        (folder / "pears.md").unlink()
        (folder / "pears.md").symlink_to(secret)
        return iter(found)

    monkeypatch.setattr(ingesting, "walk", found_then_exchanged)
    (failure,) = home.ingest(folder).failed
    assert failure.document_id == "papers/pears.md"
    assert "a link out of the folder" in failure.message
    assert home.find("secrets") == []
    assert "papers/pears.md" in home.find("pears")


def test_a_file_over_the_bound_is_not_even_hashed(home: Home, folder: Path) -> None:
    (folder / "huge.txt").touch()
    os.truncate(folder / "huge.txt", 1 << 40)
    (failure,) = home.ingest(folder).failed
    assert (failure.document_id, "max_file_mb" in failure.hint) == ("papers/huge.txt", True)
    assert len(home.find("harvest")) == 3


def test_what_a_folder_holds_beside_documents_is_skipped_and_a_file_that_is_named_is_not(
    home: Home, folder: Path
) -> None:
    picture = "cannot be opened" if ocr.installed() else "citewell[ocr] would read"
    (folder / "plum.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(90))
    (folder / "yields.json").write_text('{"plums": [3, 4], "pears": {"2021": 7}}')
    (folder / "text.pdf").write_text("A text that was given a wrong name.")
    report = home.ingest(folder)
    skipped = {outcome.document_id: outcome.message for outcome in report.skipped}
    assert skipped == {
        "papers/plum.png": f"it is a PNG image that {picture}",
        "papers/yields.json": "it is a data file",
    }
    assert [outcome.document_id for outcome in report.failed] == ["papers/text.pdf"]
    assert statuses(home.ingest(folder / "plum.png")) == {"plum.png": "failed"}
    assert statuses(home.ingest(folder / "yields.json", document_id="papers/yields.json")) == {
        "papers/yields.json": "added"
    }
    # Once a document, it remains one.
    (folder / "yields.json").write_text('{"plums": [5]}')
    assert statuses(home.ingest(folder))["papers/yields.json"] == "updated"
    (folder / "pears.md").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(90))
    assert statuses(home.ingest(folder))["papers/pears.md"] == "failed"


@pytest.fixture
def picky(monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedder refuses one text."""
    known = HashEmbedder.embed

    def embed(self: HashEmbedder, texts: Sequence[str]) -> Any:
        if any("an embedder knows" in text for text in texts):
            raise UsageError("no word to embed", hint="leave it out")
        return known(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed", embed)


@pytest.mark.usefixtures("picky")
def test_a_text_that_cannot_be_embedded_is_one_file_s_failure(home: Home, folder: Path) -> None:
    (folder / "strange.md").write_text("# Strange\n\nNothing that an embedder knows.\n")
    report = home.ingest(folder)
    assert [outcome.document_id for outcome in report.failed] == ["papers/strange.md"]
    assert len(home.find("harvest")) == 3


@pytest.mark.usefixtures("picky")
def test_a_new_version_that_cannot_be_embedded_leaves_the_old_one_in_both_stores(
    home: Home, folder: Path
) -> None:
    home.ingest(folder)
    (folder / "pears.md").write_text("# On pears\n\nNothing that an embedder knows.\n")
    (failure,) = home.ingest(folder).failed
    assert "previous version stays searchable" in failure.message
    assert "papers/pears.md" in home.find("harvest")
    with home.evidence as evidence:
        latest = evidence.latest("papers/pears.md")
    assert latest is not None
    assert home.index.stored()["papers/pears.md"].version == latest.version
    assert "harvest of pears" in latest.text


def test_a_version_that_was_erased_is_one_file_s_failure(home: Home, folder: Path) -> None:
    before = (folder / "pears.md").read_text()
    home.ingest(folder)
    (folder / "pears.md").write_text("# On pears\n\nAll quinces now.\n")
    home.ingest(folder)
    with home.evidence as evidence:
        evidence.erase("papers/pears.md", evidence.versions("papers/pears.md")[0])
    (folder / "pears.md").write_text(before)
    (folder / "plums.md").write_text("# On plums\n\nThe harvest was lost to wasps.\n")
    report = home.ingest(folder)
    (failure,) = report.failed
    assert (failure.document_id, "erased" in failure.message) == ("papers/pears.md", True)
    assert statuses(report)["papers/plums.md"] == "updated"
    assert home.find("wasps") == ["papers/plums.md"]


def test_what_a_failed_run_only_stored_is_added_by_the_next(
    home: Home, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: LanceIndex, table: Any) -> None:
        raise RuntimeError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(LanceIndex, "write", full)
        with pytest.raises(RuntimeError, match="No space"):
            home.ingest(folder)
    assert set(statuses(home.ingest(folder)).values()) == {"added"}
    assert len(home.find("harvest")) == 3


def test_a_file_that_can_no_longer_be_read_keeps_what_was_known(home: Home, folder: Path) -> None:
    home.ingest(folder)
    (folder / "pears.md").write_bytes(b"")
    assert statuses(home.ingest(folder))["papers/pears.md"] == "failed"
    assert "papers/pears.md" in home.find("harvest")


def test_access_lists_hold_and_are_not_lost_by_ingesting_again(home: Home, folder: Path) -> None:
    home.ingest(folder, acl=["hr"])
    assert home.find("harvest", ()) == []
    assert len(home.find("harvest", ["hr"])) == 3
    home.ingest(folder)
    (folder / "pears.md").write_text("# On pears\n\nA new harvest.\n")
    home.ingest(folder)
    assert home.find("harvest", ()) == []
    report = home.ingest(folder, acl=["ops"])
    assert set(statuses(report).values()) == {"updated"}
    assert home.find("harvest", ["hr"]) == []
    assert len(home.find("harvest", ["ops"])) == 3


CHILD = """
import os, signal, sys
from pathlib import Path
from citewell.core.config import Chunking, Documents
from citewell.documents.worker import ParsingWorker
from citewell.documents.evidence.sqlite import SqliteEvidence
from citewell.documents.index import LanceIndex
from citewell.documents.ingesting import ingest
from citewell.models.fake import HashEmbedder
import citewell.documents.ingesting as module

module._COMMIT_CHUNKS = 1
home, folder, victim, calls = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def dying(method):
    left = [calls]
    def wrapped(*args, **kwargs):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*args, **kwargs)
    return wrapped

if __name__ == "__main__":
    owner = SqliteEvidence if victim in ("put", "mark_indexed") else LanceIndex
    setattr(owner, victim, dying(getattr(owner, victim)))
    evidence = SqliteEvidence(home / "evidence.sqlite")
    index = LanceIndex(home / "index", HashEmbedder(), "settings")
    with ParsingWorker(Documents()) as worker:
        ingest([folder], worker=worker, evidence=evidence, index=index,
               chunking=Chunking(min_tokens=5, target_tokens=20, max_tokens=60))
"""


def test_stopped_by_the_keyboard_what_was_read_can_be_asked_and_the_next_run_goes_on(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(f"Report {number} is about whales and their songs.\n" * 4)

    def stop(step: IngestProgress) -> None:
        if step.files == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        home.ingest(folder, progress=stop)
    found = home.find("whales")
    assert 3 <= len(found) < 6

    before = len(home.embedded)
    home.ingest(folder)
    assert len(home.find("whales")) == 6
    assert not any(f"Report {name[-5]} " in text for text in home.embedded[before:] for name in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "calls"),
    [
        ("put", 1),
        ("encode", 1),
        ("write", 1),
        ("mark_indexed", 0),
        ("mark_indexed", 2),
        ("publish", 0),
        ("_index_text", 1),
        ("_tag", 0),
        ("_let_go", 0),
    ],
)
def test_killed_anywhere_the_index_opens_and_the_next_run_finishes(
    home: Home, folder: Path, tmp_path: Path, victim: str, calls: int
) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    died = subprocess.run(
        [sys.executable, str(tmp_path / "child.py"), str(home.path), str(folder), victim, str(calls)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert home.find("harvest") in ([], ["papers/apples.md", "papers/pears.md", "papers/plums.md"])
    home.ingest(folder)
    assert home.find("harvest") == ["papers/apples.md", "papers/pears.md", "papers/plums.md"]
    with home.evidence as evidence:
        assert {entry.state for entry in evidence.catalogue()} == {"indexed"}
    assert home.index.snapshot().count() == 3, "no chunk is there twice"


@pytest.mark.slow
def test_killed_at_random_moments_it_still_opens_and_loses_nothing(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(30):
        lines = "\n\n".join(f"Paragraph {part} tells of harvest {number}." for part in range(20))
        (folder / f"{number:02}.md").write_text(f"# Number {number}\n\n{lines}\n")
    (tmp_path / "child.py").write_text(CHILD)
    for delay in (0.9, 1.3, 1.7):
        child = subprocess.Popen(
            [sys.executable, str(tmp_path / "child.py"), str(home.path), str(folder), "put", "1000"],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(delay)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        home.index.snapshot().count()
    home.ingest(folder)
    assert len(home.find("harvest")) == 30
    assert len(home.index.stored()) == 30


def test_a_link_out_of_the_folder_is_left_alone_and_told(home: Home, folder: Path, tmp_path: Path) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (far / "figs.md").write_text("# On figs\n\nThe harvest of figs.\n")
    (folder / "figs.md").symlink_to(far / "figs.md")
    (folder / "more").symlink_to(far)
    report = home.ingest(folder)
    told = {Path(outcome.path).name: outcome.message for outcome in report.skipped}
    assert told == dict.fromkeys(("figs.md", "more"), "it is a link out of the folder")
    assert report.failed == ()
    assert home.find("harvest") == ["papers/apples.md", "papers/pears.md", "papers/plums.md"]


def test_a_file_that_is_embedded_too_long_fails_alone_and_says_what_to_do(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pears.md").write_text(
        "# On pears\n\n" + " ".join(f"Harvest {n} of pears." for n in range(900))
    )
    with ParsingWorker(Documents(timeout_s=5.0)) as worker:
        home = Home(tmp_path / "home", worker)
        embed = HashEmbedder.embed

        def slowly(self: HashEmbedder, texts: Sequence[str]) -> Any:
            time.sleep(2 if len(texts) > 20 else 0)
            return embed(self, texts)

        monkeypatch.setattr(HashEmbedder, "embed", slowly)
        report = home.ingest(folder)
    assert statuses(report)["papers/pears.md"] == "failed"
    assert sorted(statuses(report).values()) == ["added", "added", "failed"]
    (failed,) = report.failed
    assert "longer than" in failed.message
    assert "documents.timeout_s" in failed.hint


def test_an_ingest_that_nobody_waits_for_ends_and_keeps_what_is_complete(home: Home, folder: Path) -> None:
    said: list[str] = []

    def progress(step: IngestProgress) -> None:
        if step.files == 1:
            said.append("the client disconnected")

    with pytest.raises(AbandonedError, match="client disconnected"):
        home.ingest(folder, progress=progress, gone=lambda: said[0] if said else "")
    assert len(home.find("harvest")) == 1
    assert sorted(statuses(home.ingest(folder)).values()) == ["added", "added", "unchanged"]


def test_what_is_being_read_ends_with_the_ingest(tmp_path: Path) -> None:
    (tmp_path / "slow.md").write_text("# A\n\n" + "a **b** *c* [d](e)\n" * 300_000)
    began = time.monotonic()
    with ParsingWorker(Documents()) as worker, pytest.raises(AbandonedError):
        Home(tmp_path / "home", worker).ingest(
            tmp_path / "slow.md", gone=lambda: "gone" if time.monotonic() - began > 1 else ""
        )
    assert time.monotonic() - began < 15
