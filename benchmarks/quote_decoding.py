"""What quote-constrained decoding costs: ``python -m benchmarks.quote_decoding``. Needs ``citewell[local]``.

In: nothing; passages are made of seeded words, the vocabulary is as large as they give (at most 32,000).
Out: docs/measurements/quote_decoding.{md,json}: milliseconds to compile the grammar and microseconds a token
for its mask, by passage length and number of passages. No model is timed: the mask is what is added to one.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from typing import Any

from benchmarks.reporting import table, write
from citewell.core.records import Chunk, Passage
from citewell.generation.prompting import GRAMMARS

SIZES = ((1, 100), (5, 100), (5, 500), (8, 500), (8, 2_000))


def passages(count: int, words: int, chance: random.Random) -> list[Passage]:
    made = []
    for number in range(count):
        text = " ".join(chance.choice(WORDS) + chance.choice(["", "", "", ",", "."]) for _ in range(words))
        chunk = Chunk(
            chunk_id=str(number),
            document_id=f"{number}.txt",
            document_version="",
            start_offset=0,
            end_offset=len(text),
            content=text,
        )
        made.append(Passage(chunk=chunk, relevant=True))
    return made


def _words() -> list[str]:
    chance = random.Random(3)
    return [
        "".join(chance.choice("etaoinshrdlucmfw") for _ in range(chance.randint(2, 9))) for _ in range(4_000)
    ]


WORDS = _words()


def tokenizer() -> Any:
    """Byte-level BPE, trained on the generated words to 32,000 tokens or as many as they yield."""
    import llguidance
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=32_000,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|end|>"],
        show_progress=False,
    )
    made.train_from_iterator([" ".join(WORDS), "[SOURCE_1: ] [inference: ]"], trainer)
    return llguidance.LLTokenizer(made.to_str(), eos_token=made.token_to_id("<|end|>"))


def measure(words: Any, grammar: str, tokens: int, chance: random.Random) -> tuple[float, list[float]]:
    """(milliseconds to compile, microseconds per mask) along a random walk through the allowed tokens."""
    import llguidance
    import llguidance.numpy as masks
    import numpy as np

    began = time.perf_counter()
    matcher = llguidance.LLMatcher(words, llguidance.LLMatcher.grammar_from_lark(grammar))
    compiled = (time.perf_counter() - began) * 1e3
    mask = masks.allocate_token_bitmask(1, words.vocab_size)
    took = []
    for _ in range(tokens):
        began = time.perf_counter()
        masks.fill_next_token_bitmask(matcher, mask, 0)
        took.append((time.perf_counter() - began) * 1e6)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        if matcher.is_error() or not len(allowed):
            break
        matcher.consume_token(int(chance.choice(list(allowed))))
        if matcher.is_stopped():
            break
    return compiled, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--walks", type=int, default=10)
    arguments = parser.parse_args()
    words = tokenizer()
    rows, values = [], {}
    for count, length in SIZES:
        chance = random.Random(5)
        grammar = GRAMMARS["lark"](passages(count, length, chance))
        found = [measure(words, grammar, 100, chance) for _ in range(arguments.walks)]
        compiled = statistics.median(ms for ms, _ in found)
        masks = [us for _, took in found for us in took]
        deciles = statistics.quantiles(masks, n=20)
        values[f"{count} x {length}"] = {"compile_ms": compiled, "p50_us": deciles[9], "p95_us": deciles[18]}
        rows.append(
            [
                str(count),
                str(length),
                f"{compiled:.0f}",
                f"{deciles[9]:.0f}",
                f"{deciles[18]:.0f}",
                str(len(masks)),
            ]
        )
        print(rows[-1], flush=True)
    base = values[f"{SIZES[0][0]} x {SIZES[0][1]}"]["p50_us"]
    last = values[f"{SIZES[-1][0]} x {SIZES[-1][1]}"]["p50_us"]
    heads = ["passages", "words each", "compile ms", "mask us p50", "mask us p95", "tokens"]
    more = SIZES[-1][0] * SIZES[-1][1] // (SIZES[0][0] * SIZES[0][1])
    body = f"""
`python -m benchmarks.quote_decoding --walks {arguments.walks}`, llguidance, {words.vocab_size} tokens, on a
machine that was busy with other work: read the ratios. The median mask of the largest costs
{last / base:.1f} times that of the smallest, for {more} times the words.

{table(heads, rows)}

That every quote is in its source, whatever a model with random weights writes, is a test:
`tests/models/test_local_writer.py`.
"""
    write("quote_decoding", "Cost of quote-constrained decoding", body, values)


if __name__ == "__main__":
    main()
