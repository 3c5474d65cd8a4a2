"""Who did what to whom: short texts made of relations with two sides, and claims that exchange the sides.

In: roles.jsonl (relations in many wordings) and roles.json (verbs, comparisons, nouns and converses, with the
sentences they are put in), both written by a large language model, as the passages are. Out: texts of one to
three facts with claims in other forms, half of them with the sides exchanged. Words cannot give a label away:
a true claim and its exchanged form have the same ones. `python -m training.roles` shows some.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WORDINGS, TABLES = (Path(__file__).with_name(name) for name in ("roles.jsonl", "roles.json"))
CHOSEN = 51  # of 256: share of the relations kept for choosing
APART = 7
"""How far apart in their list two sides of a table stand that are paired."""
ALIKE, MOST_ALIKE = 0.4, 5
"""Share of texts whose facts are all about the same two sides, and their facts at most."""
JOINS = (" ", " ", " ", "\n", " By the way: ", " And another thing. ", " The file also says this. ")
ASIDES = ("The weather was fine.", "No date is given.", "Nothing else was decided.", "The hall was full.", "")


@dataclass(frozen=True, slots=True)
class Relation:
    """``full`` sentences say the same of sides {a} and {b}; ``partial`` ones follow from any of them and name
    one side; {o} stands for one of ``things``."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    things: tuple[str, ...]
    full: tuple[str, ...]
    partial: tuple[str, ...] = ()
    kind: str = ""
    """What the sides of a relation of the tables are: those of one kind may have the same sides."""


@cache
def relations() -> tuple[Relation, ...]:
    return (*_worded(), *_tabled())


def part_of(name: str) -> str:
    """ "choose" or "train": what has the name is never in both."""
    byte = hashlib.sha256(name.encode()).digest()[0]
    return "choose" if byte < CHOSEN else "train"


def _worded() -> Iterator[Relation]:
    for line in WORDINGS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        pairs = tuple((first, second) for first, second in row["pairs"])
        partial = (*row["part_a"], *row["part_b"])
        yield Relation(row["relation"], pairs, tuple(row["things"]), tuple(row["full"]), partial)


def _tabled() -> Iterator[Relation]:
    tables = json.loads(TABLES.read_text(encoding="utf-8"))
    for form in tables["forms"]:
        for kind, words in form["words"].items():
            sides = tables["sides"][kind]
            pairs = tuple(zip(sides, (*sides[APART:], *sides[:APART]), strict=True))
            for each in words:
                full = tuple(_worded_as(said, each.split("/")) for said in form["full"])
                yield Relation(f"{each.split('/')[0]} {kind}", pairs, (), full, kind=kind)


def _worded_as(said: str, forms: list[str]) -> str:
    for number, form in enumerate(forms):
        said = said.replace(f"[{number}]", form)
    return said


def made(
    part: str, rng: random.Random, texts: int, told: int = 8
) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """``texts`` texts of one to three facts, or of two to five about the same two sides, each with up to
    ``told`` claims and whether they hold."""
    found = [relation for relation in relations() if part_of(relation.name) == part]
    weights = [3.0 if relation.partial else 1.0 for relation in found]
    by_kind: dict[str, list[Relation]] = defaultdict(list)
    for relation in found:
        by_kind[relation.kind].append(relation)
    kinds = [kind for kind, those in by_kind.items() if kind and len(those) >= MOST_ALIKE]
    for _ in range(texts):
        pair: tuple[str, str] | None = None
        if rng.random() < ALIKE:
            chosen = rng.sample(by_kind[rng.choice(kinds)], rng.randint(2, MOST_ALIKE))
            pair = rng.choice(chosen[0].pairs)
        else:
            chosen = list(dict.fromkeys(rng.choices(found, weights, k=rng.choice((1, 1, 2, 3)))))
        text = ""
        claims = []
        for relation in chosen:
            a, b = rng.sample(pair or rng.choice(relation.pairs), 2)
            thing = rng.choice(relation.things) if relation.things else ""
            premise = rng.choice(relation.full)
            text += (rng.choice(JOINS) if text else "") + filled(premise, a, b, thing)
            others = [*(said for said in relation.full if said != premise), *relation.partial]
            for said in rng.sample(others, min(len(others), -(-told // len(chosen)))):
                holds = rng.random() < 0.5
                claims.append((filled(said, *((a, b) if holds else (b, a)), thing), holds))
        rng.shuffle(claims)
        yield f"{text} {rng.choice(ASIDES)}".strip(), claims


def filled(said: str, a: str, b: str, thing: str = "") -> str:
    """The wording ``said`` with its sides and its thing."""
    return capital(said.replace("{a}", a).replace("{b}", b).replace("{o}", thing))


def capital(said: str) -> str:
    return said[:1].upper() + said[1:]


def main() -> None:
    print(len(relations()), "relations")
    for text, claims in made("train", random.Random(7), 6):
        print(f"\n{text}")
        for said, holds in claims:
            print("    ", "+" if holds else "-", said)


if __name__ == "__main__":
    main()
