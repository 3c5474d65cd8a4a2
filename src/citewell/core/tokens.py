"""The embedded tokenizer, which defines what a token is in this project.

In: text. Out: counts and offsets. Loaded once, on first use, and checked against the embedder's card.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.weights import WEIGHTS, checked_bytes, read_card

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    folder = WEIGHTS / "embedder"
    vocabulary = checked_bytes(folder / "tokenizer.json", read_card(folder))
    tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def token_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of each token of ``text``, in code points."""
    return list(_tokenizer().encode(text, add_special_tokens=False).offsets)


def count_tokens_each(texts: list[str]) -> list[int]:
    """The number of tokens of each text."""
    encode = _tokenizer().encode_batch_fast
    # Some at a time: an encoding takes far more memory than its text.
    some = (texts[at : at + 1_000] for at in range(0, len(texts), 1_000))
    return [len(found.ids) for part in some for found in encode(part, add_special_tokens=False)]
