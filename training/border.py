"""Claims at the border: the entailer's third stage.

In: human-labelled documents again, now with claims of several sentences as bags of sentences; yes/no
questions and answer options, as statements; claims that copy (training.copying); statements under a passage
that nearly supports them; and a share of what earlier stages saw. Out: items of the part
"train", or of "calibrate". Rows used for calibration or choice are left out by document, everywhere.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict

from citewell.core.sentences import sentence_spans
from citewell.models.onnx.windows import WindowRule
from training.copying import copied_claims
from training.general import general_items
from training.grounding import DOCUMENTS, WIDE, document_rows, made_most
from training.items import Item
from training.pairs import FEW, made_items
from training.passages import part_of, passages, tidy
from training.sources import load_for_training
from training.statements import statement, yes_no_statement

TABLES = (
    "nli/infotabs.train",
    "nli/tabfact.train_part",
    "nli/semtabfacts.train",
    "qa/fetaqa.dev",
    "nli/nli4ct.train",
)
TABLE_MOST = 500  # per label
DOCUMENT_MOST = defaultdict(lambda: 4000, {"nli/mpe.train": 300})  # items per label
QUESTIONS = ("qa/boolq.dev", "qa/boolq.train_sample")
OPTIONS = ("nli/multirc_qa.train_sample",)
SEVERAL = ("nli/fib_cnndm.all", "nli/attributionbench.dev", "rag/goyal21.all", "nli/fib_xsum.all")
REPLAYED = 22_000
CLOSE_TO_RUN = (
    "nli/fever_rte.dev",
    "nli/sufficient_facts_fever.test",
    "nli/healthver.dev",
    "nli/rte.train",
    "nli/scitail.dev",
    "nli/pawsx_en.dev",
)
MADE_SHARE = 0.5  # of each kind of made pair
COPIED = 7_000
NEAR_MISSES = 2_500


def border_items(seed: int, part: str = "train") -> list[Item]:
    rng = random.Random(f"border/{seed}/{part}")
    items = [i for name in DOCUMENTS if name not in TABLES for i in human_documents(name, part, rng)]
    items += [i for name in QUESTIONS for i in yes_no_items(name, part)]
    items += [i for name in OPTIONS for i in option_items(name, part)]
    for name in TABLES:
        items += _tables(name, part, rng)
    items += copied_items(part, seed)
    items += near_misses(part, seed)
    items += _made(part, seed, rng)
    if part == "train":
        items += _replayed(seed)
    rng.shuffle(items)
    return items


def claim_item(premise: str, claim: str, label: str, rule: WindowRule, kind: str) -> list[Item]:
    """One item per sentence if all are supported; one for the whole claim if some sentence is not."""
    sentences = [claim[a:b] for a, b in sentence_spans(claim)]
    cut = [(w, s) for s in sentences[:5] if len(s.split()) > 2 and (w := rule.windows(premise, s))]
    if not cut:
        return []
    if label == "entailment":
        return [Item(windows, text, label, kind) for windows, text in cut]
    if len(sentences) > 5:
        return []
    return [Item(*cut[0], label if len(cut) == 1 else "not_entailment", kind, tuple(cut[1:]))]


def human_documents(name: str, part: str, rng: random.Random) -> list[Item]:
    """Both labels in about equal numbers: the rarer one is repeated up to three times."""
    rows = [row for row in document_rows(name) if part_of(row[0]) == part]
    rng.shuffle(rows)
    by_label: dict[bool, list[Item]] = defaultdict(list)
    for premise, claim, label in rows:
        by_label[label == "entailment"] += claim_item(premise, claim, label, WIDE, name)
    few, many = sorted(by_label.values(), key=len)
    few, many = few[: DOCUMENT_MOST[name]], many[: DOCUMENT_MOST[name]]
    times = min(3, max(1, round(len(many) / max(1, len(few)))))
    return few * (times if part == "train" else 1) + many[: 2 * times * len(few)]


def yes_no_items(name: str, part: str) -> list[Item]:
    items = []
    for row in load_for_training(name):
        text = tidy(row["context"])
        answer = row["answers"][0]["text"].lower()
        claim = yes_no_statement(row["question"], text)
        if claim and part_of(row["context"]) == part and answer in ("yes", "no"):
            windows = FEW.windows(text, claim)
            items.append(Item(windows, claim, "entailment" if answer == "yes" else "not_entailment", name))
    return items


def option_items(name: str, part: str) -> list[Item]:
    items = []
    for row in load_for_training(name):
        if part_of(row["premise"]) != part:
            continue
        claim = statement(row["meta"]["question"], row["meta"]["answer"]) or row["hypothesis"]
        windows = WIDE.windows(row["premise"], claim)
        if windows and len(claim.split()) > 3:
            items.append(Item(windows, claim, row["label"], name))
    return items


def copied_items(part: str, seed: int) -> list[Item]:
    """Under a whole passage, or under the sentences next to what was copied."""
    rng = random.Random(f"copied/{seed}/{part}")
    items: list[Item] = []
    for passage in passages(part, seed + 5):
        if len(passage.text) > 6000 or len(passage.sentences) < 3:
            continue
        rule = rng.choice((FEW, WIDE))
        items += [
            Item(windows, claim, label, kind)
            for kind, claim, label in copied_claims(passage, rng)
            if (windows := rule.windows(passage.text, claim))
        ]
        if len(items) >= (COPIED if part == "train" else COPIED // 8):
            break
    return items


def near_misses(part: str, seed: int) -> list[Item]:
    return [
        Item(windows, claim, "entailment" if right else "not_entailment", "near-miss")
        for text, claim, right in near_missed(part, seed, NEAR_MISSES)
        if (windows := FEW.windows(text, claim))
    ]


def near_missed(part: str, seed: int, most: int) -> list[tuple[str, str, bool]]:
    """A right statement under its own passage, and under the most similar other passage."""
    rng = random.Random(f"near/{seed}/{part}")
    asked = [p for p in passages(part, seed + 9) if p.questions and len(p.text) < 4000]
    bags = [_bag(p.text) for p in asked]
    seen = Counter(word for bag in bags for word in bag)
    holding: dict[str, list[int]] = defaultdict(list)
    for n, bag in enumerate(bags):
        for word in sorted(bag):
            if seen[word] <= 60:
                holding[word].append(n)
    found: list[tuple[str, str, bool]] = []
    for n, passage in enumerate(asked):
        if len(found) >= most:
            break
        rows = [r for r in passage.questions if r["answerable"] and r["answers"]]
        if not rows:
            continue
        row = rng.choice(rows)
        answer = tidy(row["answers"][0]["text"])
        claim = statement(row["question"], answer)
        if claim is None:
            continue
        score: Counter[int] = Counter()
        for word in sorted(_bag(claim)):
            for other in holding.get(word, ()):
                score[other] += round(10 * math.log(len(asked) / seen[word]))
        near = next((m for m, _ in score.most_common(4) if m != n and answer not in asked[m].text), None)
        found.append((passage.text, claim, True))
        if near is not None:
            found.append((asked[near].text, claim, False))
    return found


def _bag(text: str) -> frozenset[str]:
    return frozenset(w for w in re.findall(r"\w+", text.lower()) if len(w) > 3)


def _tables(name: str, part: str, rng: random.Random) -> list[Item]:
    _, rule, _, _ = DOCUMENTS[name]
    rows = [row for row in document_rows(name) if part_of(row[0]) == part]
    rng.shuffle(rows)
    taken: Counter[str] = Counter()
    items: list[Item] = []
    for premise, claim, label in rows:
        taken[label] += 1
        if taken[label] <= TABLE_MOST:
            items += claim_item(premise, claim, label, rule, name)
    return items


def _made(part: str, seed: int, rng: random.Random) -> list[Item]:
    taken: Counter[str] = Counter()
    items = []
    for item in made_items(part, seed + 3):
        taken[item.kind] += 1
        if taken[item.kind] <= MADE_SHARE * made_most(item.kind):
            items.append(item)
    return items


def _replayed(seed: int) -> list[Item]:
    """General pairs: all that look like evidence and claim, and a share of the others."""
    items = [i for i in general_items(seed + 2) if part_of(i.windows[0]) == "train"]
    near = [i for i in items if i.kind in CLOSE_TO_RUN]
    return near + [i for i in items if i.kind not in CLOSE_TO_RUN][: REPLAYED - len(near)]
