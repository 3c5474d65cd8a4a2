"""Documents, tables and made pairs: the entailer's second stage.

In: sets whose premises are long or are tables, the made pairs, and a share of the general ones so that
nothing is forgotten. Out: items of the part "train", or of the part "calibrate" (a tenth of the documents, by
their text), on which rates were chosen and support is calibrated. A supported claim of several sentences is
split; an unsupported one is left out, because it is unknown which sentence fails.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable

from citewell.core.sentences import sentence_spans
from citewell.models.onnx.windows import WindowRule
from training.general import general_items
from training.items import Item
from training.pairs import FEW, made_items
from training.passages import part_of, tidy
from training.sources import Row, load_for_training

WIDE = WindowRule(singles=2, groups=1)
Rows = Callable[[str], list[tuple[str, str, str]]]


def _plain(name: str) -> list[tuple[str, str, str]]:
    return [(r["premise"], r["hypothesis"], r["label"]) for r in load_for_training(name)]


def _faithful(name: str) -> list[tuple[str, str, str]]:
    labels = {"faithful": "entailment"}
    return [
        (r["context"], r["response"], labels.get(r["label"], "not_entailment"))
        for r in load_for_training(name)
    ]


def _partly(name: str) -> list[tuple[str, str, str]]:
    """A claim with an unsupported part, and the same claim without that part if it comes last."""
    made = []
    for row in load_for_training(name):
        text, evidence = row["response"], _evidence(row)
        made.append((evidence, tidy(text), "not_entailment"))
        spans = row["spans"]
        if (
            len(spans) == 1
            and spans[0]["end"] >= len(text.rstrip(" ."))
            and len(text[: spans[0]["start"]].split()) > 5
        ):
            made.append((evidence, tidy(text[: spans[0]["start"]].rstrip(" ,;") + "."), "entailment"))
    return made


def _evidence(row: Row) -> str:
    """The annotated sentences with their neighbours: a chunk that holds all the evidence."""
    lines = [line for line in row["context"].split("\n") if line.strip()]
    wanted = {i for group in row["meta"]["supporting_sentences"][:1] for i in group if i < len(lines)}
    near = sorted({j for i in wanted for j in (i - 1, i, i + 1) if 0 <= j < len(lines)})
    return "\n".join(lines[j] for j in near) or row["context"][:4000]


def _not_begin(name: str) -> list[tuple[str, str, str]]:
    rows = [r for r in load_for_training(name) if r["meta"]["src_dataset"] != "BEGIN"]
    return [(r["premise"], r["hypothesis"], r["label"]) for r in rows]


def _table_answers(name: str) -> list[tuple[str, str, str]]:
    """A sentence about a table, and the same sentence with one cell's value replaced by another's."""
    made = []
    for row in load_for_training(name):
        text = row["answers"][0]["text"]
        made.append((row["context"], text, "entailment"))
        used = [cell for cell in row["meta"]["highlighted"] if cell and cell in text]
        others = [c for line in row["meta"]["table"][1:] for c in line if c and c not in text]
        like = [o for o in others if used and o[:1].isdigit() == used[0][:1].isdigit() and len(o) < 40]
        if like:
            swapped = random.Random(row["id"]).choice(like)
            made.append((row["context"], text.replace(used[0], swapped, 1), "not_entailment"))
    return made


# name -> reader, rule that cuts its premises, most rows per label, times they are seen per pass
DOCUMENTS: dict[str, tuple[Rows, WindowRule, int, int]] = {
    "nli/fib_xsum.all": (_plain, WIDE, 1700, 1),
    "nli/fib_cnndm.all": (_plain, WIDE, 2600, 1),
    "rag/goyal21.all": (_faithful, WIDE, 200, 1),
    "rag/xsum_hallucination.test": (_faithful, WIDE, 200, 1),
    "rag/wice_tokens.train": (_partly, WIDE, 1000, 2),
    "nli/attributionbench.dev": (_not_begin, WIDE, 1000, 1),
    "nli/mpe.train": (_plain, FEW, 300, 1),
    "nli/nli4ct.train": (_plain, WIDE, 1000, 1),
    "nli/infotabs.train": (_plain, WindowRule(singles=0, groups=0), 2200, 1),
    "nli/tabfact.train_part": (_plain, WindowRule(singles=0, groups=1), 1500, 1),
    "nli/semtabfacts.train": (_plain, WindowRule(singles=0, groups=1), 1200, 1),
    "qa/fetaqa.dev": (_table_answers, WindowRule(singles=0, groups=1), 1000, 1),
}
MADE_MOST = {"made/verbatim": 1200, "made/answer": 5000, "made/wrong-answer": 4000}
REPLAYED = 16_000
PADDED = 3_000


def grounding_items(seed: int, part: str = "train") -> list[Item]:
    rng = random.Random(f"{seed}/{part}")
    items = [item for name in DOCUMENTS for item in document_items(name, part, rng)]
    taken: dict[str, int] = defaultdict(int)
    for item in made_items(part, seed):
        taken[item.kind] += 1
        if taken[item.kind] <= made_most(item.kind):
            items.append(item)
    if part == "train":
        general = general_items(seed + 1)
        items += general[:REPLAYED]
        items += _padded(general[REPLAYED : REPLAYED + 6 * PADDED], rng)[:PADDED]
    rng.shuffle(items)
    return items


def made_most(kind: str) -> int:
    """Most made pairs of one kind in a pass."""
    return MADE_MOST.get(kind, 1600)


def document_rows(name: str) -> list[tuple[str, str, str]]:
    """Premise, claim and label of every row of a set of documents."""
    return DOCUMENTS[name][0](name)


def document_items(name: str, part: str, rng: random.Random) -> list[Item]:
    reader, rule, most, times = DOCUMENTS[name]
    rows = [row for row in reader(name) if part_of(row[0]) == part]
    rng.shuffle(rows)
    taken: dict[str, int] = defaultdict(int)
    items: list[Item] = []
    for premise, claim, label in rows:
        taken[label] += 1
        if taken[label] <= most:
            items += _claim_items(premise, claim, label, rule, name)
    return items * times


def _claim_items(premise: str, claim: str, label: str, rule: WindowRule, kind: str) -> list[Item]:
    sentences = [claim[a:b] for a, b in sentence_spans(claim)]
    if len(sentences) > 1 and label == "entailment":
        parts = sentences[:4]
    elif len(sentences) > 1:
        parts = []  # which sentence fails is unknown, and most of them hold
    else:
        parts = [claim]
    return [
        Item(w, part, label, kind)
        for part in parts
        if len(part.split()) > 2 and (w := rule.windows(premise, part))
    ]


def _padded(items: list[Item], rng: random.Random) -> list[Item]:
    """A short premise among the premises of others: chunk length, one label. Only whole sentences, and no
    captions, since any of those could describe the same scene."""
    whole = [
        i
        for i in items
        if i.windows[0].rstrip().endswith(".") and "snli" not in i.kind and len(i.windows[0]) < 300
    ]
    made = []
    for first, second, third in zip(whole, whole[1:], whole[2:], strict=False):
        texts = [first.windows[0], second.windows[0], third.windows[0]][: rng.randint(2, 3)]
        rng.shuffle(texts)
        made.append(Item((" ".join(texts),), first.claim, first.label, "padded"))
    return made
