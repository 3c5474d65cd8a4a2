"""One embedded model: its folder of weights opened, checked and run.

In: a folder with model.onnx (or its pieces), tokenizer.json and card.json. Out: the arrays of one unpadded
sequence. One sequence a run on one thread inside the graph, so that a result cannot depend on what else is
being computed; throughput comes from several sequences at once, each on a thread of its own. Knows nothing
about what the arrays mean.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.metering import read
from citewell.core.records import Maker
from citewell.core.weights import checked_bytes, model_bytes, model_hash, read_card

Arrays = list[NDArray[np.float32]]


class Tokens(NamedTuple):
    """One sequence as the graph takes it, special tokens included."""

    ids: list[int]
    types: list[int]


class Session:
    """Raises ModelError when a file is missing, ModelChangedError when its hash differs from the card's."""

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
        # "[SEP]" in somebody's words is three marks, and no end of their text.
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
        read(sum(len(sequence.ids) for sequence in sequences), self._cost)
        return list(self._pool.map(self._one, sequences))

    def _one(self, sequence: Tokens) -> Arrays:
        feed = {
            "input_ids": np.array([sequence.ids], dtype=np.int64),
            "attention_mask": np.ones((1, len(sequence.ids)), dtype=np.int64),
            "token_type_ids": np.array([sequence.types], dtype=np.int64),
        }
        return [output[0] for output in self._onnx.run(None, feed)]
