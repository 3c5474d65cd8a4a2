"""Shared by all tests: the public data, a private PostgreSQL server, and a skip with a reason where either is
missing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from benchmarks.private_postgres import NoPostgresError, private_postgres

from citewell.core.identity import chunk_id
from citewell.core.records import Cell, Chunk, Passage, Row, TableExtent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public data; tests that need it are skipped where ``CITEWELL_DATA`` is unset."""
    folder = os.environ.get("CITEWELL_DATA")
    if not folder:
        pytest.skip("CITEWELL_DATA is not set: this test needs the public data")
    return Path(folder)


class Pages:
    """Makes passages as readers and chunking do: exact offsets, rows with their column heads."""

    def table(
        self,
        rows: Sequence[tuple[str, Sequence[str]]],
        heads: Sequence[str],
        *,
        document_id: str = "reports/ACME_2022_10K.pdf",
        title: str = "Acme Corp. Form 10-K for the fiscal year ended December 31, 2022",
        table: str = "Consolidated Statements of Cash Flows",
        units: str = "In millions",
        base: int = 0,
        version: str = "sha256:acme",
        published_at: str = "2023-02-10",
        relevance: float | None = 0.9,
        relevant: bool = True,
        rows_in_all: int | None = None,
        whole: bool = True,
    ) -> Passage:
        """A passage that is one table, or a part of one with ``rows_in_all``; a row is a label and its cells,
        one cell per head."""
        text, made = "", []
        for label, values in rows:
            start = len(text)
            text += label
            cells = []
            for value, head in zip(values, heads, strict=False):
                text += "\t"
                cells.append(Cell(start=base + len(text), end=base + len(text) + len(value), head=head))
                text += value
            made.append(Row(start=base + start, end=base + len(text), label=label, cells=tuple(cells)))
            text += "\n"
        context = f"{title} › Item 8 › {table}\n{table} ({units}): {' | '.join(heads)}"
        return self._passage(
            text.rstrip("\n"),
            rows=tuple(made),
            tables=(
                TableExtent(
                    start=base, end=base + len(text), rows=rows_in_all or len(rows), title=table, whole=whole
                ),
            ),
            base=base,
            context=context,
            document_id=document_id,
            title=title,
            section_path=("Item 8", table),
            version=version,
            published_at=published_at,
            relevance=relevance,
            relevant=relevant,
        )

    def text(
        self,
        content: str,
        *,
        document_id: str = "docs/manual.md",
        title: str = "Manual",
        base: int = 0,
        version: str = "sha256:manual",
        published_at: str = "",
        relevance: float | None = 0.9,
        relevant: bool = True,
    ) -> Passage:
        """A prose passage."""
        return self._passage(
            content,
            rows=(),
            base=base,
            context=f"{title} › Section",
            document_id=document_id,
            title=title,
            section_path=("Section",),
            version=version,
            published_at=published_at,
            relevance=relevance,
            relevant=relevant,
        )

    def _passage(
        self,
        content: str,
        *,
        rows: tuple[Row, ...],
        base: int,
        context: str,
        document_id: str,
        title: str,
        section_path: tuple[str, ...],
        version: str,
        published_at: str,
        relevance: float | None,
        relevant: bool,
        tables: tuple[TableExtent, ...] = (),
    ) -> Passage:
        chunk = Chunk(
            chunk_id=chunk_id(version, base, base + len(content), content),
            document_id=document_id,
            document_version=version,
            start_offset=base,
            end_offset=base + len(content),
            content=content,
            context=context,
            rows=rows,
            tables=tables,
            title=title,
            section_path=section_path,
            page=7,
            published_at=published_at,
        )
        return Passage(chunk=chunk, relevance=relevance, relevant=relevant)


@pytest.fixture(scope="session")
def pages() -> Pages:
    """A maker of passages."""
    return Pages()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Skips with the reason where there is no PostgreSQL. Not in pytest's folder: every other pytest run
    restricts that folder to its owner, and root's server runs as another user."""
    pytest.importorskip("psycopg")
    try:
        with (
            tempfile.TemporaryDirectory(prefix="citewell-postgres-") as folder,
            private_postgres(Path(folder)) as url,
        ):
            yield url
    except NoPostgresError as error:
        pytest.skip(str(error))


@pytest.fixture
def clean_server(postgres_url: str) -> str:
    """The server without what other homes left on it: a home's schemas have fixed names."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as server:
        for schema in ("citewell", "citewell_index", "citewell_traces", "citewell_feedback"):
            server.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())
    return postgres_url
