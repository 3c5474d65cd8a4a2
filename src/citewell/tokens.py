"""The embedded tokenizer: what this project means by a token.

In: text. Out: counts and offsets. Loaded once, on first use.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS = Path(__file__).parent / "models" / "weights"


@lru_cache(maxsize=1)
def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    path = WEIGHTS / "embedder" / "tokenizer.json"
    if not path.is_file():
        raise ModelError(f"the embedded tokenizer is missing at {path}", hint="reinstall citewell")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def token_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of each token of ``text``, in code points."""
    return list(_tokenizer().encode(text, add_special_tokens=False).offsets)


def count_tokens(text: str) -> int:
    """How many tokens ``text`` has."""
    return len(_tokenizer().encode(text, add_special_tokens=False).ids)
