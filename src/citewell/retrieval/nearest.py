"""What came nearest to a question that was not answered.

In: a question and the passages found for it, best first. Out: at most three places, each the sentence or
row of a passage that shares most words with the question. Nobody verified that they answer: whoever is
refused may look there. A passage that would be quarantined is not shown. Knows nothing about answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.records import Citation, Passage
from citewell.core.sentences import sentence_spans
from citewell.questions.parsing import read_question
from citewell.questions.rows import asked_words, words_of
from citewell.retrieval.quarantine import set_poison_aside

MOST, LONGEST = 3, 300


def nearest(question: str, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Places in documents, without a verdict; a quote is cut at a word to at most LONGEST characters."""
    asked = asked_words(read_question(question))
    kept = [passage for passage in set_poison_aside(question, passages) if not passage.set_aside]
    return tuple(_place(passage, asked) for passage in kept[:MOST])


def _place(passage: Passage, asked: frozenset[str]) -> Citation:
    chunk = passage.chunk
    spans = sentence_spans(chunk.content) or ((0, len(chunk.content)),)

    def promise(span: tuple[int, int]) -> tuple[int, int]:
        shared = asked.intersection(words_of(chunk.content[slice(*span)]))
        return len(shared), min(span[1] - span[0], LONGEST)  # rather a sentence than its heading

    start, end = max(spans, key=promise)
    if end - start > LONGEST:
        end = start + max(chunk.content[start : start + LONGEST].rfind(" "), LONGEST // 2)
    return Citation(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        document_version=chunk.document_version,
        start=chunk.start_offset + start,
        end=chunk.start_offset + end,
        quote=chunk.content[start:end],
        answer_start=-1,
        answer_end=-1,
        mode="nearest",
        section_path=chunk.section_path,
        page=chunk.page,
    )
