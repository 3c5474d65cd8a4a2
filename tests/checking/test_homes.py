"""A quote is cited where it stands: in the passage that holds it, under that passage's section."""

from __future__ import annotations

import msgspec

from citewell.core.config import Verification
from citewell.core.records import Chunk, DraftClaim, Passage, Quote, Section, Status, Verdict
from citewell.documents.evidence.catalogue import MemoryEvidence
from citewell.documents.text import caller_document
from citewell.verification.checking.citations import MAKER, Library

TEXT = "Ferries\nThe ferry sails at nine.\nPiers\nThe pier was built in 1902.\nShops\nThe shop sells tea."
VERDICT = Verdict(status=Status.VERIFIED, reason="", maker=MAKER)


def library(*ranges: tuple[int, int]) -> tuple[Library, list[Passage]]:
    """A document of three sections, and one passage per range of it."""
    starts = [TEXT.index(name) for name in ("Ferries", "Piers", "Shops")]
    document = msgspec.structs.replace(
        caller_document("town", TEXT),
        sections=tuple(
            Section(path=(name,), start=start, end=end)
            for name, start, end in zip(
                ("Ferries", "Piers", "Shops"), starts, [*starts[1:], len(TEXT)], strict=True
            )
        ),
    )
    store = MemoryEvidence()
    store.put(document)
    passages = [
        Passage(
            chunk=Chunk(
                chunk_id=f"c{number}",
                document_id="town",
                document_version=document.version,
                start_offset=start,
                end_offset=end,
                content=TEXT[start:end],
                section_path=(TEXT[start:end].split("\n")[0],),
            ),
            relevant=True,
        )
        for number, (start, end) in enumerate(ranges)
    ]
    return Library(passages, store), passages


def cited(found: Library, source: str, words: str) -> tuple[str, tuple[str, ...], str]:
    claim = DraftClaim(text="x", start=0, end=1)
    located = found.locate(Quote(source=source, text=words))
    (citation,) = found.citations(located, claim, VERDICT, Verification(), mode="generated")
    return citation.chunk_id, citation.section_path, citation.quote


def test_words_of_another_passage_of_the_document_are_cited_there() -> None:
    border = TEXT.index("Piers")
    found, _ = library((0, border), (border, TEXT.index("Shops")))
    assert cited(found, "c0", "The pier was built in 1902.") == (
        "c1",
        ("Piers",),
        "The pier was built in 1902.",
    )


def test_words_outside_every_passage_have_the_section_they_stand_in() -> None:
    found, _ = library((0, TEXT.index("Piers")))
    assert cited(found, "c0", "The shop sells tea.")[1:] == (("Shops",), "The shop sells tea.")
