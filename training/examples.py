"""Written examples: invented passages with claims, a changed version of the passage, and questions.

In: training/data/*.jsonl, one passage per line, and yes-no.tsv. Out: :class:`Passage` values, each always in
one part, by the hash of its text: "train", "choose" or "report". `python -m training.examples` counts them
and shows that words do not give the labels away: the AUROC of word overlap, and of a classifier of the claim
alone.
A large language model wrote all of them, one by one (training/data/README.md).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("data")
LABELS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
REPORTED, CHOSEN = 64, 26  # of 256: shares of passages kept for reporting and for choosing


@dataclass(frozen=True, slots=True)
class Statement:
    """``premise`` is the passage, or its changed version; ``tag`` says how the claim was made."""

    premise: str
    claim: str
    label: str
    tag: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """``answer`` is a stretch of the passage, or "" if it does not answer, with the reason in ``why``;
    ``says`` is "yes" or "no" where it answers so and that was labelled, else ""."""

    question: str
    answer: str
    why: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """``file`` identifies the round of writing by its first letters: those from "w30" on are about what the
    judge got wrong."""

    file: str
    kind: str
    title: str
    text: str
    part: str
    statements: tuple[Statement, ...]
    questions: tuple[Asked, ...]


def text_key(text: str) -> str:
    """As yes-no.tsv names a passage."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


@cache
def _yes_or_no() -> dict[tuple[str, str], str]:
    lines = (FOLDER / "yes-no.tsv").read_text(encoding="utf-8").splitlines()
    return {(key, question): says for key, question, says in (line.split("\t") for line in lines)}


def part_of(text: str) -> str:
    byte = hashlib.sha256(text.encode()).digest()[0]
    return "report" if byte < REPORTED else "choose" if byte < REPORTED + CHOSEN else "train"


@cache
def passages() -> tuple[Passage, ...]:
    """Raises ValueError for an inconsistent line: an edit that is not in the text, a missing label."""
    return tuple(_read())


def _read() -> Iterator[Passage]:
    for path in sorted(FOLDER.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            text, changed = row["text"], row["text"]
            for old, new in row["variant"]["edits"]:
                if changed.count(old) != 1:
                    times = changed.count(old)
                    raise ValueError(f"{path.name}:{number}: {old!r} is in the text {times} times")
                changed = changed.replace(old, new)
            after = row["variant"]["labels"]
            if len(after) != len(row["claims"]):
                raise ValueError(f"{path.name}:{number}: {len(after)} labels for {len(row['claims'])} claims")
            statements = [
                Statement(premise, claim, LABELS[label], tag, premise is not text)
                for first, claim, tag, second in _fair(row["claims"], after)
                for premise, label in ((text, first), (changed, second))
            ]
            key = text_key(text)
            questions = [
                Asked(q[0], q[1] or "", q[2] if q[1] is None else "", _yes_or_no().get((key, q[0]), ""))
                for q in row["questions"]
            ]
            for asked in questions:
                if asked.answer not in text:
                    raise ValueError(f"{path.name}:{number}: no such words: {asked.answer!r}")
            yield Passage(
                path.stem,
                row["kind"],
                row["title"],
                text,
                part_of(text),
                tuple(statements),
                tuple(questions),
            )


def _fair(claims: list[tuple[str, str, str]], after: str) -> list[tuple[str, str, str, str]]:
    """Claims with both labels. Those that hold in both versions, or in neither, are given away by their
    wording: at most one is kept for every two that change, in equal numbers of both sorts."""
    both = [(first, claim, tag, second) for (first, claim, tag), second in zip(claims, after, strict=True)]
    changing = [one for one in both if (one[0] == "e") != (one[3] == "e")]
    steady = sorted(
        (one for one in both if one not in changing), key=lambda one: hashlib.sha256(one[1].encode()).digest()
    )
    holding = [one for one in steady if one[0] == "e"]
    failing = [one for one in steady if one[0] != "e"]
    pairs = min(len(holding), len(failing), max(1, len(changing) // 4))
    return [*changing, *holding[:pairs], *failing[:pairs]]


def claim_only_auroc(statements: list[Statement]) -> float:
    """AUROC of a five-fold classifier of the claim's words and word pairs: near .5, it reveals nothing."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=1.0, max_iter=1000)
    )
    truth = np.array([s.label == "entailment" for s in statements])
    claims = [s.claim for s in statements]
    groups = [int.from_bytes(hashlib.sha256(claim.encode()).digest()[:4]) for claim in claims]
    scores = cross_val_predict(
        model, claims, truth, groups=groups, cv=GroupKFold(5), method="decision_function"
    )
    return float(roc_auc_score(truth, scores))


def overlap_auroc(statements: list[Statement]) -> float:
    """AUROC of the share of the claim's words that the premise contains."""
    import numpy as np
    from sklearn.metrics import roc_auc_score

    def words(text: str) -> set[str]:
        return {word[:6] for word in re.findall(r"[a-z0-9]{3,}", text.lower())}

    shares = [len(words(s.claim) & words(s.premise)) / max(1, len(words(s.claim))) for s in statements]
    return float(roc_auc_score(np.array([s.label == "entailment" for s in statements]), shares))


def main() -> None:
    found = passages()
    statements = [s for passage in found for s in passage.statements]
    parts = dict(Counter(p.part for p in found))
    print(f"{len(found)} passages of {len({p.kind for p in found})} kinds: {parts}")
    print(f"{len(statements)} statements: {dict(Counter(s.label for s in statements))}")
    asked = [q for passage in found for q in passage.questions]
    print(f"{len(asked)} questions, {sum(not q.answer for q in asked)} that their passage does not answer")
    print(f"AUROC of word overlap {overlap_auroc(statements):.3f}")
    print(f"AUROC of the claim alone {claim_only_auroc(statements):.3f}")


if __name__ == "__main__":
    main()
