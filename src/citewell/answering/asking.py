"""A question with its circumstances, and what is no question.

In: words and options from whoever asks. Out: an :class:`Ask`, or UsageError before anything else happens.
Knows nothing about how it will be answered.
"""

from __future__ import annotations

from typing import Any

from citewell.core.errors import UsageError
from citewell.core.identity import plain
from citewell.core.records import Record
from citewell.questions.asking import MAX_QUESTION
from citewell.retrieval.filters import Filters
from citewell.retrieval.retriever import MAX_TOP_K

_MOST = {"top_k": MAX_TOP_K, "pool": 1000, "runs": 20}


class Ask(Record, frozen=True, kw_only=True):
    """A question and its circumstances. ``runs`` > 1 measures consistency over so many drafts;
    ``request_id`` is for one who must know it before the answer is there, "" draws one."""

    question: str
    user: str = ""
    session_id: str = ""
    filters: Filters = Filters()
    top_k: int | None = None
    pool: int | None = None
    runs: int = 1
    request_id: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        """What a replay needs beside the question."""
        return {
            "filters": plain(self.filters),
            "top_k": self.top_k,
            "pool": self.pool,
            "runs": self.runs,
        }


def refuse(ask: Ask) -> None:
    """What is no question yet is refused before anything is recorded. Raises UsageError."""
    for name in ("question", "user", "session_id"):
        if not isinstance(given := getattr(ask, name), str):
            raise UsageError(f"{name} must not be {given!r}", hint="give text")
    for name, most in _MOST.items():
        given = getattr(ask, name)
        if given is None and name != "runs":
            continue
        if type(given) is not int or not 1 <= given <= most:
            raise UsageError(f"{name} must not be {given!r}", hint=f"choose 1 to {most}")
    question = ask.question
    if len(question) > MAX_QUESTION:
        raise UsageError(f"the question has {len(question)} characters", hint=f"use at most {MAX_QUESTION}")
    if not any(character.isalnum() for character in question):
        raise UsageError("the question is empty", hint="write the question in words")
    try:
        (question + ask.user + ask.session_id).encode()
    except UnicodeEncodeError as error:
        raise UsageError("the question is not valid Unicode", hint="check the terminal's encoding") from error
