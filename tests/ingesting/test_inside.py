"""Mail attachments and archive members come and go with their container."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.ingesting.test_ingesting import Home, statuses

from citewell.core.config import Documents
from citewell.documents.outcomes import IngestProgress
from citewell.documents.worker import ParsingWorker


@pytest.fixture(scope="module")
def worker() -> Iterator[ParsingWorker]:
    with ParsingWorker(Documents()) as worker:
        yield worker


@pytest.fixture
def home(tmp_path: Path, worker: ParsingWorker) -> Home:
    return Home(tmp_path / "home", worker)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "post").mkdir()
    write(tmp_path / "post", "offer.txt", "plan.md")
    return tmp_path / "post"


def write(folder: Path, *names: str) -> None:
    message = EmailMessage()
    message["From"], message["Message-ID"] = "Ann <ann@a.example>", "<1@a.example>"
    message["Subject"] = "Two papers"
    message.set_content("See what is attached.")
    for name in names:
        message.add_attachment(f"The harvest of {name} is large.\n", filename=name)
    message.add_attachment(b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "image", "png", filename="logo.png")
    (folder / "a.eml").write_bytes(bytes(message))


def test_attachments_are_found_and_left_alone_and_withdrawn_with_their_mail(home: Home, folder: Path) -> None:
    seen: list[IngestProgress] = []
    added = statuses(home.ingest(folder, tags=["post"], progress=seen.append))
    assert added == {
        "post/a.eml/offer.txt": "added",
        "post/a.eml/plan.md": "added",
        "post/a.eml/logo.png": "skipped",
        "post/a.eml": "added",
    }
    assert list(added)[-1] == "post/a.eml"
    assert seen[-1].files == seen[-1].of == 1
    assert home.find("harvest") == ["post/a.eml/offer.txt", "post/a.eml/plan.md"]
    with home.evidence as evidence:
        tags = {entry.document_id: entry.tags for entry in evidence.catalogue()}
        uris = [entry.uri for entry in evidence.catalogue()]
    assert tags["post/a.eml"] == ("post", "thread:1@a.example")
    assert (folder / "a.eml").as_uri() + "#plan.md" in uris
    assert set(statuses(home.ingest(folder, tags=["post"])).values()) == {"unchanged"}

    write(folder, "plan.md")
    changed = statuses(home.ingest(folder))
    assert changed["post/a.eml/offer.txt"] == "withdrawn"
    assert changed["post/a.eml/plan.md"] == "unchanged"
    assert home.find("harvest") == ["post/a.eml/plan.md"]

    (folder / "a.eml").unlink()
    (folder / "b.txt").write_text("Other words.\n")
    gone = statuses(home.ingest(folder))
    assert gone == {"post/a.eml": "withdrawn", "post/a.eml/plan.md": "withdrawn", "post/b.txt": "added"}
    assert home.find("harvest") == []


def test_data_in_a_container_is_read_if_the_container_was_named(home: Home, folder: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("yields.json", '{"plums": [3, 4]}')
    with zipfile.ZipFile(folder / "x.zip", "w") as archive:
        archive.writestr("rates.jsonl", '{"rate": 7}\n')
        archive.writestr("logo.png", b"\x89PNG\r\n\x1a\n" + bytes(90))
        archive.writestr("y.zip", inner.getvalue())
    (skipped,) = (one for one in home.ingest(folder).skipped if one.document_id == "post/x.zip/rates.jsonl")
    assert skipped.message == "it is a data file"
    assert skipped.hint == "name the file that contains it to ingest it"
    assert statuses(home.ingest(folder / "x.zip")) == {
        "x.zip/rates.jsonl": "added",
        "x.zip/logo.png": "skipped",
        "x.zip/y.zip/yields.json": "added",
    }


def test_an_ingest_that_stops_inside_a_mail_goes_on_there(home: Home, folder: Path) -> None:
    def stop(step: IngestProgress) -> None:
        if step.path.endswith("plan.md") and step.chunks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        home.ingest(folder, progress=stop)
    assert home.find("harvest") == ["post/a.eml/offer.txt"]
    again = statuses(home.ingest(folder))
    assert again["post/a.eml/offer.txt"] == "unchanged"
    assert again["post/a.eml/plan.md"] == again["post/a.eml"] == "added"


def test_a_file_holds_a_thousand_files_counted_through_all_levels(home: Home, tmp_path: Path) -> None:
    def packed(files: dict[str, bytes]) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        return stream.getvalue()

    inner = packed({f"{number}.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 50 for number in range(400)})
    (tmp_path / "all.zip").write_bytes(packed({f"{name}.zip": inner for name in "abc"}))
    found = statuses(home.ingest(tmp_path / "all.zip"))
    assert found["all.zip/c.zip"] == "failed"
    assert sum(name.startswith("all.zip/b.zip/") for name in found) == 400
    assert not any(name.startswith("all.zip/c.zip/") for name in found)
