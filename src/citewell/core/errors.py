"""Every error that Citewell raises on purpose.

CitewellError                     .hint says what to do, .retryable whether trying again can help
├── UsageError                    the call itself is wrong (exit code 2)
├── AccessError                   the caller lacks the required role
├── ConfigError                   a key or value of citewell.toml / CITEWELL_*
│   └── SameModelError            the writer would judge its own work
├── MissingExtraError             an optional dependency; the hint is the command to install it
├── DocumentError                 one file that could not become a Document
│   ├── UnreadableError           cannot be opened, not a regular file, a link loop
│   ├── EncryptedError            needs a password
│   ├── DamagedError              truncated or malformed
│   ├── EmptyDocumentError        no text at all (scanned pages are reported here)
│   ├── UnsupportedError          no reader for this content
│   │   └── OtherKindError        a known kind that is not a document: skipped in a folder
│   └── LimitError                exceeds the time, memory, size or nesting limit
├── EvidenceError                 a version, quote or hash that does not resolve
├── IndexMismatchError            the index was built with other models or settings
├── ModelError                    weights missing, changed, or output that cannot be parsed
│   └── ModelChangedError         a file's hash differs from its card
├── GeneratorError                the writer failed
│   └── FormRefusedError          the server rejects the schema or grammar it was sent
├── AbandonedError                the caller has gone or the time is up: the work was stopped
└── LogError                      the audit record could not be stored durably: no answer is given
    └── LogIntegrityError         recomputing the log gives different hashes
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CitewellError(Exception):
    """Base class; ``hint`` is one sentence that says what to do."""

    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}: {self.hint}" if self.hint else message


class UsageError(CitewellError):
    """The call itself is wrong: an argument, an option or their combination."""


class AccessError(CitewellError):
    """The caller lacks the required role. A document that the caller may not see is reported as missing."""


class ConfigError(CitewellError):
    """A configuration key or value that cannot be used."""


class SameModelError(ConfigError):
    """Generator and verifier are the same model: the writer never judges its own work."""


class MissingExtraError(CitewellError):
    """An optional dependency is not installed."""


class DocumentError(CitewellError):
    """One file that could not become a Document; the other files are not affected."""


class UnreadableError(DocumentError):
    """Cannot be opened, is not a regular file, or links back to itself."""


class EncryptedError(DocumentError):
    """Needs a password."""


class DamagedError(DocumentError):
    """Truncated or malformed."""


class EmptyDocumentError(DocumentError):
    """Holds no text."""


class UnsupportedError(DocumentError):
    """No reader supports this content."""


class OtherKindError(UnsupportedError):
    """A kind that is recognised but never read (an image, an archive): an error if the file was named,
    skipped if a folder merely contains it."""


class LimitError(DocumentError):
    """Exceeds the time, memory, size or nesting limit."""


class EvidenceError(CitewellError):
    """A version, quote or hash that does not resolve in the evidence store."""


class IndexMismatchError(CitewellError):
    """The index was built with models or settings other than those configured."""


class ModelError(CitewellError):
    """A model that cannot be used, or whose output cannot be parsed."""


class ModelChangedError(ModelError):
    """A model file whose hash differs from its card."""


class GeneratorError(CitewellError):
    """The writer failed."""


class FormRefusedError(GeneratorError):
    """The server rejects the schema or grammar it was sent; simpler forms may work."""


class AbandonedError(CitewellError):
    """The caller has gone or the time is up, so the work was stopped before it was done."""


class LogError(CitewellError):
    """The audit record could not be stored durably; the caller gets this instead of an answer."""

    retryable = True


class LogIntegrityError(LogError):
    """Recomputing the log gives different hashes."""

    retryable = False


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """A hint for an unknown word: the nearest known one, else ``otherwise``, else all of them."""
    known = list(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else otherwise or f"use one of: {', '.join(known)}"
