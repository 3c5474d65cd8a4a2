"""Opens, checks and runs one embedded model.

In: a folder with model.onnx (or its pieces), tokenizer.json and card.json. Out: the arrays of one unpadded
sequence. Each run takes one sequence on one thread, so that a result cannot depend on what else is being
computed; throughput comes from several sequences in parallel, each on its own thread. Independent of what the
arrays mean.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.metering import count_read
from citewell.core.records import Maker
from citewell.core.weights import checked_bytes, model_bytes, model_hash, read_card

Arrays = list[NDArray[np.float32]]
MOST_HELD = 2_048
"""Tokens of texts whose keys and values are held at once: about 75 kB per token for the judge."""


class Tokens(NamedTuple):
    """One input sequence of the graph, including special tokens."""

    ids: list[int]
    types: list[int]


class Session:
    """Raises ModelError if a file is missing, ModelChangedError if its hash differs from the card's."""

    def __init__(self, folder: Path, *, threads: int = 0) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.card = read_card(folder)
        model = model_bytes(folder, self.card)
        vocabulary = checked_bytes(folder / "tokenizer.json", self.card)
        self.maker = Maker(name=self.card["id"], hash=model_hash(self.card), card=self.card["id"])
        self.tokenizer = Tokenizer.from_str(vocabulary.decode("utf-8"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        # "[SEP]" in a text is ordinary characters, not the end of the text.
        self.tokenizer.encode_special_tokens = True
        self._cost = float(self.card.get("read_cost", 1.0))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._onnx = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix=self.card["id"])

    def run(self, sequences: Sequence[Tokens]) -> list[Arrays]:
        """The graph's outputs for each sequence, in order; each output without its batch axis."""
        count_read(sum(len(sequence.ids) for sequence in sequences), self._cost)
        return list(self._pool.map(self._one, sequences))

    def _one(self, sequence: Tokens) -> Arrays:
        feed = {
            "input_ids": np.array([sequence.ids], dtype=np.int64),
            "attention_mask": np.ones((1, len(sequence.ids)), dtype=np.int64),
            "token_type_ids": np.array([sequence.types], dtype=np.int64),
        }
        return [output[0] for output in self._onnx.run(None, feed)]


class TextOnceSession(Session):
    """For a model whose text attends only to itself: each text is encoded once for all queries on it, and the
    output of a sequence does not depend on the others."""

    def run(self, sequences: Sequence[Tokens]) -> list[Arrays]:
        """Logits and "it answers" for each sequence, in order, without their batch axis."""
        by_text: dict[tuple[int, ...], list[int]] = {}
        for number, sequence in enumerate(sequences):
            by_text.setdefault(tuple(sequence.ids[: sequence.types.index(1)]), []).append(number)
        found: dict[int, Arrays] = {}
        held: list[tuple[int, ...]] = []
        for text in by_text:
            if held and sum(map(len, (*held, text))) > MOST_HELD:
                found |= self._of(held, by_text, sequences)
                held = []
            held.append(text)
        found |= self._of(held, by_text, sequences)
        return [found[number] for number in range(len(sequences))]

    def _of(
        self,
        texts: Sequence[tuple[int, ...]],
        by_text: Mapping[tuple[int, ...], Sequence[int]],
        sequences: Sequence[Tokens],
    ) -> dict[int, Arrays]:
        asked = [(number, text) for text in texts for number in by_text[text]]
        rest = {number: sequences[number].ids[len(text) :] for number, text in asked}
        count_read(sum(map(len, (*texts, *rest.values()))), self._cost)
        past = dict(zip(texts, self._pool.map(self._text, texts), strict=True))
        outputs = self._pool.map(lambda one: self._asked(rest[one[0]], past[one[1]]), asked)
        return {number: output for (number, _), output in zip(asked, outputs, strict=True)}

    @cached_property
    def _nothing(self) -> NDArray[np.float32]:
        """The empty past of a text."""
        (shape,) = (each.shape for each in self._onnx.get_inputs() if each.name == "past")
        return np.zeros([size if isinstance(size, int) else 0 for size in shape], dtype=np.float32)

    def _text(self, ids: Sequence[int]) -> NDArray[np.float32]:
        feed = {"input_ids": np.array([ids], dtype=np.int64), "past": self._nothing}
        present: NDArray[np.float32] = self._onnx.run(["present"], feed)[0]
        return present

    def _asked(self, ids: Sequence[int], past: NDArray[np.float32]) -> Arrays:
        feed = {"input_ids": np.array([ids], dtype=np.int64), "past": past}
        return [output[0] for output in self._onnx.run(["logits", "answered"], feed)]


SESSIONS: dict[str, type[Session]] = {"pair": Session, "text once": TextOnceSession}
"""By the card's ``graph``, "pair" by default."""


def open_session(folder: Path, *, threads: int = 0) -> Session:
    """The model in ``folder``; raises like :class:`Session`."""
    return SESSIONS[read_card(folder).get("graph", "pair")](folder, threads=threads)
