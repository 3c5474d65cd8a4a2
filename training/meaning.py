"""Statements whose words do not give their truth away: the entailer's last stage.

In: the written statements and their contraries (training.written). Out: items: each statement once, under the
windows that run time would cut or under its whole excerpt; and a share of what earlier stages saw.
"""

from __future__ import annotations

import random

from citewell.models.onnx.windows import WindowRule
from training.border import border_items
from training.items import Item
from training.written import judged

AS_RUN = WindowRule(singles=2, groups=1)
WHOLE = 900  # characters of an excerpt that may be read at once
REPLAYED = 0.2  # of the border stage's items


def meaning_items(seed: int) -> list[Item]:
    rng = random.Random(f"meaning/{seed}")
    items = []
    for text, statement, label in judged("train"):
        whole = len(text) <= WHOLE and rng.random() < 0.5
        windows = (text,) if whole else AS_RUN.windows(text, statement)
        items.append(Item(windows, statement, label, "written"))
    again = border_items(seed + 8)
    items += rng.sample(again, round(REPLAYED * len(again)))
    rng.shuffle(items)
    return items
