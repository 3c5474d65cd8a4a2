"""Real sentences from measured documents, each with one thing changed: is the change noticed?

In: documents of sets that are only measured on. Out: for each kind of change, claims that the text supports
(as written, or shortened) and claims with one number, date, name or negation changed, under the sentence
and its neighbours. Training makes the same changes, on other documents: this measures care, not
generality.
"""

from __future__ import annotations

import random

from training.edits import edits, names_in
from training.sources import load

from benchmarks.judged import SEED, Judged
from citewell.core.sentences import sentence_spans

DOCUMENTS = ("nli/anli_r1.dev", "nli/anli_r3.dev", "nli/covidfact.dev", "nli/scifact_rte.dev")
KINDS = {
    "numbers": ("number", "small-number", "unit"),
    "dates": ("year", "month", "day"),
    "entities": ("entity",),
    "roles": ("role",),
    "negation": ("negation",),
    "opposites": ("antonym",),
    "hedges and quantifiers": ("hedge", "quantifier"),
    "added detail": ("added-end", "added-word"),
}


def swaps(most: int) -> dict[str, list[Judged]]:
    """Up to `most` supported and as many unsupported claims per kind."""
    rng = random.Random(SEED)
    texts = sorted({row["premise"] for name in DOCUMENTS for row in load(name)})
    rng.shuffle(texts)
    made: dict[str, list[Judged]] = {kind: [] for kind in KINDS}
    for text in texts:
        sentences = [text[a:b] for a, b in sentence_spans(text)]
        good = [
            i
            for i, s in enumerate(sentences)
            if 7 <= len(s.split()) <= 40 and s.endswith(".") and s[0].isupper()
        ]
        for i in rng.sample(good, min(4, len(good))):
            premise = " ".join(sentences[max(0, i - 1) : i + 2])
            for kind, editors in KINDS.items():
                found = edits(sentences[i], names_in(text), rng, editors)
                if found and len(made[kind]) < 2 * most:
                    shorter = edits(sentences[i], (), rng, ("compression",))
                    kept = shorter[0][1] if shorter and rng.random() < 0.5 else sentences[i]
                    made[kind] += [Judged(premise, kept, True), Judged(premise, rng.choice(found)[1], False)]
    return made
