"""Documents of the real loaders of LangChain and LlamaIndex: lasting ids, access lists, updates, removals."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import citewell

Facts = dict[str, str]
FIRST: Facts = {"bridge": "The bridge opened in 1932.", "lamp": "The lamp is lit at dusk."}
THEN: Facts = {"bridge": "The bridge opened in 1934."}
GROUP = ["town"]


def texts(folder: Path, facts: Facts) -> None:
    for name, text in facts.items():
        (folder / f"{name}.txt").write_text(text)


def pages(folder: Path, facts: Facts) -> None:
    for name, text in facts.items():
        page = f"<html><head><title>{name}</title></head><body><p>{text}</p></body></html>"
        (folder / f"{name}.html").write_text(page)


def rows(folder: Path, facts: Facts) -> None:
    with (folder / "facts.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["name", "text"], *facts.items()])


def records(folder: Path, facts: Facts) -> None:
    found = [{"name": name, "text": text, "readers": GROUP} for name, text in facts.items()]
    (folder / "facts.json").write_text(json.dumps(found))
    (folder / "facts.jsonl").write_text("\n".join(map(json.dumps, found)))


def langchain_text(folder: Path) -> list[Any]:
    from langchain_community.document_loaders import TextLoader

    return [one for path in sorted(folder.glob("*.txt")) for one in TextLoader(path).load()]


def langchain_directory(folder: Path) -> Iterator[Any]:
    from langchain_community.document_loaders import DirectoryLoader, TextLoader

    found: Iterator[Any] = DirectoryLoader(str(folder), glob="*.txt", loader_cls=TextLoader).lazy_load()
    return found


def langchain_csv(folder: Path) -> Iterator[Any]:
    from langchain_community.document_loaders import CSVLoader

    found: Iterator[Any] = CSVLoader(folder / "facts.csv").lazy_load()
    return found


def langchain_json(folder: Path) -> Iterator[Any]:
    pytest.importorskip("jq")
    from langchain_community.document_loaders import JSONLoader

    def about(record: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        return {**given, "title": record["name"], "acl": record["readers"]}

    file = folder / "facts.json"
    found: Iterator[Any] = JSONLoader(
        file, jq_schema=".[]", content_key="text", metadata_func=about
    ).lazy_load()
    return found


def langchain_beautiful_soup(folder: Path) -> list[Any]:
    from langchain_community.document_loaders import BSHTMLLoader

    return [one for path in sorted(folder.glob("*.html")) for one in BSHTMLLoader(path).load()]


def llamaindex_directory(folder: Path) -> list[Any]:
    from llama_index.core import SimpleDirectoryReader

    found: list[Any] = SimpleDirectoryReader(str(folder)).load_data()
    return found


def llamaindex_directory_with_lists(folder: Path) -> list[Any]:
    """Its own metadata, without the path: the id is the path because the caller asked for that."""
    from llama_index.core import SimpleDirectoryReader

    found: list[Any] = SimpleDirectoryReader(
        str(folder), file_metadata=lambda path: {"acl": GROUP}, filename_as_id=True
    ).load_data()
    return found


def llamaindex_csv(folder: Path) -> list[Any]:
    from llama_index.core import SimpleDirectoryReader
    from llama_index.readers.file import CSVReader

    reader = {".csv": CSVReader(concat_rows=False)}
    found: list[Any] = SimpleDirectoryReader(str(folder), file_extractor=reader).load_data()
    return found


def llamaindex_json(folder: Path) -> list[Any]:
    from llama_index.core import SimpleDirectoryReader
    from llama_index.readers.json import JSONReader

    reader = {".jsonl": JSONReader(is_jsonl=True)}
    found: list[Any] = SimpleDirectoryReader(
        str(folder), required_exts=[".jsonl"], file_extractor=reader
    ).load_data()
    return found


def llamaindex_beautiful_soup(folder: Path) -> list[Any]:
    from llama_index.readers.file import HTMLTagReader

    return [one for path in sorted(folder.glob("*.html")) for one in HTMLTagReader("p").load_data(path)]


@pytest.mark.filterwarnings("ignore")  # the frameworks' own
@pytest.mark.parametrize(
    ("write", "load", "bridge"),
    [
        (texts, langchain_text, "{}/bridge.txt"),
        (texts, langchain_directory, "{}/bridge.txt"),
        (rows, langchain_csv, "{}/facts.csv#row=0"),
        (records, langchain_json, "{}/facts.json#seq_num=1"),
        (pages, langchain_beautiful_soup, "{}/bridge.html"),
        (texts, llamaindex_directory, "{}/bridge.txt"),
        (texts, llamaindex_directory_with_lists, "{}/bridge.txt"),
        (rows, llamaindex_csv, "{}/facts.csv#part=2"),  # its head is a row to this reader
        (records, llamaindex_json, "{}/facts.jsonl"),
        (pages, llamaindex_beautiful_soup, "{}/bridge.html"),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_what_a_loader_returns_is_kept_up_to_date_and_seen_by_its_readers_only(
    tmp_path: Path, write: Callable[[Path, Facts], None], load: Callable[[Path], Any], bridge: str
) -> None:
    pytest.importorskip(
        "llama_index.readers.file" if load.__name__.startswith("llama") else "langchain_community",
        reason="the group loaders is not installed: make extras",
    )
    folder, id = tmp_path / "given", "wiki/" + bridge.format(tmp_path / "given")

    def ingested(facts: Facts) -> dict[str, str]:
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        write(folder, facts)
        documents = list(load(folder))
        for document in documents:
            document.metadata.setdefault("acl", GROUP)
        report = kb.ingest_documents(documents, collection="wiki")
        return {outcome.document_id: outcome.status for outcome in report.files}

    with citewell.open(tmp_path / "home") as kb:
        first = ingested(FIRST)
        assert first[id] == "added"
        assert set(first.values()) == {"added"}
        assert FIRST["bridge"] in kb.document(id).text
        assert kb.document(id).acl == ("town",)
        assert kb.search("When did the bridge open?", groups=["others"]) == ()
        assert kb.search("When did the bridge open?", groups=GROUP)[0].chunk.document_id == id
        assert ingested(FIRST) == dict.fromkeys(first, "unchanged")
        then = ingested(THEN)
        assert then[id] == "updated"
        assert sorted(one for one in then.values() if one != "unchanged") == ["updated", "withdrawn"]
        assert THEN["bridge"] in kb.document(id).text


def test_a_document_that_says_nothing_of_its_source_is_known_by_its_text(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.core")
    from llama_index.core import Document

    with citewell.open(tmp_path / "home") as kb:
        for _ in range(2):  # the reader gives each a random id, anew on every call
            report = kb.ingest_documents([Document(text=text) for text in FIRST.values()], collection="w")
            statuses = [outcome.status for outcome in report.files]
        assert statuses == ["unchanged", "unchanged"]
        changed = kb.ingest_documents([Document(text=FIRST["lamp"])], collection="w")
        assert sorted(outcome.status for outcome in changed.files) == ["unchanged", "withdrawn"]
