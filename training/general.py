"""General entailment pairs with short premises and many phenomena: the entailer's first stage, replayed in
the second.

In: the sets of SETS (row caps keep the templated ones from dominating). Out: items of one window each.
"""

from __future__ import annotations

import random

from training.items import Item
from training.sources import load_for_training

# name -> most rows taken (None: all). Human-written pairs get large caps, templates a share.
SETS: dict[str, int | None] = {
    "nli/snli.dev": None,
    "nli/snli.test": None,
    "nli/mnli.dev": None,
    "nli/mnli.train_sample": None,
    "nli/taxinli_mnli.train": None,
    "nli/ling_in_loop.train": None,
    "nli/counterfactual_nli.train": None,
    "nli/counterfactual_nli.dev": None,
    "nli/fever_rte.dev": None,
    "nli/sufficient_facts_fever.test": None,
    "nli/healthver.dev": None,
    "nli/rte.train": None,
    "nli/rte.dev": None,
    "nli/scitail.dev": None,
    "nli/entailmentbank.train": 6000,
    "nli/entailmentbank.dev": None,
    "nli/mpe.train": 3000,
    "nli/pawsx_en.dev": None,
    "nli/addonerte.train": None,
    "nli/addonerte.dev": None,
    "nli/breaking_nli.test": 2500,
    "nli/conjnli.adversarial_train": 4000,
    "nli/conjnli.dev": None,
    "nli/help.train": 2000,
    "nli/med.test": 2500,
    "nli/scone.train": 2500,
    "nli/monli_negated.train": None,
    "nli/monli_positive.train": None,
    "nli/dnc_megaveridicality.train": 2000,
    "nli/dnc_factuality.dev": 1500,
    "nli/folio.train": None,
    "nli/folio.dev": None,
    "nli/fracas.train": None,
    "nli/ambient_readings.dev": None,
    "nli/ambient_unambiguous.dev": None,
}


def general_items(seed: int) -> list[Item]:
    rng = random.Random(seed)
    items = []
    for name, most in SETS.items():
        rows = load_for_training(name)
        rng.shuffle(rows)
        items += [
            Item((row["premise"],), row["hypothesis"], row["label"], name)
            for row in rows[:most]
            if row["premise"].strip() and row["hypothesis"].strip()
        ]
    rng.shuffle(items)
    return items
