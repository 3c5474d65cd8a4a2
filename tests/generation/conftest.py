"""The default writer, asked with the reader alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citewell.core.ports import GenerationRequest
from citewell.core.records import Draft, Passage
from citewell.generation import ExtractiveGenerator
from citewell.models.onnx.reading import OnnxReader
from citewell.questions.aspects import split_aspects


@pytest.fixture(scope="package")
def ask() -> Callable[..., Draft]:
    """A question and passages -> the draft."""
    writer = ExtractiveGenerator(OnnxReader())

    def asked(question: str, *passages: Passage) -> Draft:
        request = GenerationRequest(question=question, aspects=split_aspects(question), passages=passages)
        return writer.generate(request)

    return asked
