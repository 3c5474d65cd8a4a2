"""Whose duty, which case's value, how strongly it is said: short texts with exact labels.

In: facts/duties.jsonl (domains of independent facts in several wordings, each about one of two sides),
facts/cases.jsonl (rules whose value depends on the case), facts/strength.jsonl (weak and strong statements
that are otherwise alike) and facts/standing.json (what documents say of their own sentences), written by a
large language model, as the passages are. Out: texts with claims and questions; sides, values and strengths
are drawn at random, so that words cannot give a label away.
`python -m training.facts` shows some.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from training.roles import capital, filled, part_of

FactMaker = Callable[[str, random.Random, int], Iterator["Made"]]
FOLDER = Path(__file__).with_name("facts")
MOST, JOINED = 9, 0.2
"""Claims under a text, and the share of them that join two facts."""
TITLED, LINES, UNSAID, LEFT_OUT = 0.6, 0.3, 0.3, 0.3
"""Shares of texts under the name of their domain, in lines, with a claim that nothing bears out, without one
case."""


@dataclass(frozen=True, slots=True)
class Made:
    """A text with claims and whether they hold, and questions and whether they are answered; those of one
    ``family`` differ in strength alone."""

    text: str
    claims: tuple[tuple[str, bool], ...]
    asked: tuple[tuple[str, bool], ...] = ()
    family: str = ""


@cache
def _rows(name: str, key: str) -> tuple[dict[str, Any], ...]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    return tuple({**row, "part": part_of(row[key])} for row in rows)


def drawn(name: str, key: str, part: str, rng: random.Random, texts: int) -> Iterator[dict[str, Any]]:
    found = [row for row in _rows(name, key) if row["part"] == part]
    for number in range(texts):
        if number % len(found) == 0:
            rng.shuffle(found)
        yield found[number % len(found)]


def duties(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """Two to twelve facts about one pair of sides, in two versions: in the other, half of them have exchanged
    the sides. The same claims under both."""
    for number, row in enumerate(drawn("duties", "domain", part, rng, texts)):
        sides = rng.choice(row["pairs"])
        facts = rng.sample(row["facts"], min(len(row["facts"]), rng.choice((2, 3, 4, 5, 6, 7, 9, 12))))
        told = [(rng.sample(fact, len(fact)), rng.sample(sides, 2)) for fact in facts]
        turned = {*rng.sample(range(len(facts)), -(-len(facts) // 2))}
        versions = [
            [pair[:: -1 if v and i in turned else 1] for i, (_, pair) in enumerate(told)] for v in (0, 1)
        ]
        claims: dict[str, tuple[tuple[int, list[str]], ...]] = {}
        for i in rng.sample([*range(len(facts))] * 2, min(MOST, 2 * len(facts))):
            pair = rng.sample(sides, 2)
            claims[filled(rng.choice(told[i][0][1:]), *pair)] = ((i, pair),)
        for _ in range(int(JOINED * MOST)):
            (first, a), (second, b) = (
                rng.sample(list(claims.items()), 2) if len(claims) > 1 else [*claims.items()] * 2
            )
            if first != second:
                claims[f"{first.rstrip('.')}, and {_inner(second, sides)}"] = (*a, *b)
        if (unsaid := [fact for fact in row["facts"] if fact not in facts]) and rng.random() < UNSAID:
            claims[filled(rng.choice(rng.choice(unsaid)), *rng.sample(sides, 2))] = ((0, []),)
        kept = rng.sample(list(claims.items()), min(MOST, len(claims)))
        title, lines = row["domain"] if rng.random() < TITLED else "", rng.random() < LINES
        for these in versions:
            said = [filled(wordings[0], *pair) for (wordings, _), pair in zip(told, these, strict=True)]
            text = "\n".join(said) if lines else " ".join(map(ended, said))
            held = ((claim, all(these[i] == pair for i, pair in of)) for claim, of in kept)
            yield Made(f"{capital(title)}\n{text}" if title else text, tuple(held), family=f"duties {number}")


def cases(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """A rule for each case, of which one may be left out; claims and questions about all of them."""
    for row in drawn("cases", "topic", part, rng, texts):
        values = dict(zip(row["cases"], rng.sample(row["values"], len(row["values"])), strict=True))
        said = rng.sample(row["cases"], len(row["cases"]))
        if rng.random() < LEFT_OUT:
            said = said[1:]
        parts = [_case(rng.choice(row["says"]), case, values[case]) for case in said]
        for around in row.get("also", ()):
            if rng.random() < 0.5:
                parts.insert(rng.randint(0, len(parts)), around)

        def reworded(kind: str, words: str, row: dict[str, Any] = row) -> str:
            return rng.choice([words, *row.get(kind, {}).get(words, ())])

        claims, asked = {}, {}
        for _ in range(MOST):
            case = rng.choice(row["cases"])
            others = [value for value in row["values"] if value != values[case]]
            value = values[case] if rng.random() < 0.55 else rng.choice(others)
            words = reworded("case_words", case), reworded("value_words", value)
            claim = _case(rng.choice([*row["claims"], *row["says"]]), *words)
            claims[claim] = case in said and value == values[case]
            asks = _case(rng.choice(row["asks"]), reworded("case_words", case), "")
            asked[asks] = case in said
        yield Made(
            titled(joined(parts, rng), row["topic"], rng), tuple(claims.items()), tuple(asked.items())[:5]
        )
        # One rule alone answers the question about its own case, and none about the others.
        case = rng.choice(said)
        own = [(_case(rng.choice(row["asks"]), each, ""), each == case) for each in row["cases"]]
        alone = _case(rng.choice(row["says"]), case, values[case])
        yield Made(titled(alone, row["topic"], rng), (), tuple(own))


def strengths(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """The weak and the strong version of one text, with the same claims of both strengths."""
    for number, row in enumerate(drawn("strength", "topic", part, rng, texts)):
        told = {kind: rng.sample(row[kind], len(row[kind])) for kind in ("weak", "strong")}
        around = [said for said in row.get("around", ()) if rng.random() < 0.7]
        at = rng.randint(0, len(around))
        claims = [(kind, said) for kind, wordings in told.items() for said in wordings[1:4]]
        rng.shuffle(claims)
        title = row["topic"] if rng.random() < TITLED else ""
        for stated in ("weak", "strong"):
            gives = {"weak": row["strong_gives_weak"], "strong": False, stated: True}
            text = " ".join((*around[:at], told[stated][0], *around[at:]))
            text = f"{title[:1].upper()}{title[1:]}\n{text}" if title else text
            yield Made(text, tuple((said, gives[kind]) for kind, said in claims), family=f"strength {number}")


def joined(parts: Sequence[str], rng: random.Random) -> str:
    """One after the other, each ended; or one a line."""
    if rng.random() < LINES:
        return "\n".join(parts)
    return " ".join(map(ended, parts))


def ended(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said}."


def standings(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """Facts that their own document denies, imagines or has withdrawn, all of them or one; or confirms."""
    markers = json.loads((FOLDER / "standing.json").read_text(encoding="utf-8"))
    for row in drawn("duties", "domain", part, rng, texts):
        sides = rng.choice(row["pairs"])
        facts = rng.sample(row["facts"], rng.randint(2, 4))
        told = [(rng.sample(fact, len(fact)), rng.sample(sides, 2)) for fact in facts]
        said = [ended(filled(wordings[0], *pair)) for wordings, pair in told]
        form = rng.choice([*markers])
        untrue = rng.random() < 0.5
        kept = [i for i in range(len(markers[form]["fine"])) if part_of(f"{form} {i}") == part] or [0]
        marker = markers[form]["untrue" if untrue else "fine"][rng.choice(kept)]
        marker = marker.replace("{n}", row["domain"])
        at = rng.randrange(len(said))
        denied = [untrue and (form in ("head", "before", "after") or at == i) for i in range(len(said))]
        apart = rng.choice((" ", "\n"))
        if form == "head":
            # The other section, if there is one, stands under the other kind of heading.
            other = markers[form]["fine" if untrue else "untrue"][rng.choice(kept)]
            cut = rng.randint(1, len(said))
            denied = [untrue == (i < cut) for i in range(len(said))]
            parts = [marker, apart.join(said[:cut])]
            if cut < len(said):
                parts += [other.replace("{n}", row["domain"]), apart.join(said[cut:])]
            text = "\n".join(parts)
        elif form == "before":
            text = apart.join([marker, *said])
        elif form == "after":
            text = apart.join([*said, marker])
        elif form == "nth":
            text = apart.join([*said, marker.replace("{k}", ("first", "second", "third", "fourth")[at])])
        elif form == "tag":
            said[at] += f" {marker}"
            text = apart.join(said)
        else:
            mark = rng.choice(("[^1]", "*", "1)", " (1)"))
            said[at] = f"{said[at].rstrip('.')}{mark}."
            text = apart.join(said) + f"\n{mark.strip()}{':' if mark == '[^1]' else ''} {marker}"
        claims = {}
        for (wordings, pair), no in zip(told, denied, strict=True):
            claims[filled(rng.choice(wordings[:2]), *pair)] = not no
            holds = rng.random() < 0.8
            words = filled(rng.choice(wordings[1:]), *(pair if holds else pair[::-1]))
            claims.setdefault(words, holds and not no)
        yield Made(text, tuple(rng.sample(list(claims.items()), len(claims))))


def titled(text: str, title: str, rng: random.Random) -> str:
    return f"{title[:1].upper()}{title[1:]}\n{text}" if rng.random() < TITLED else text


def _case(said: str, case: str, value: str) -> str:
    said = said.replace("{C}", case[:1].upper() + case[1:]).replace("{c}", case)
    return capital(said.replace("{V}", value[:1].upper() + value[1:]).replace("{v}", value))


def _inner(said: str, sides: Sequence[str]) -> str:
    """``said`` as it goes on within a sentence: a side keeps its own capital."""
    begins = next((side for side in sides if said.startswith(capital(side))), None)
    return begins + said[len(begins) :] if begins else said[:1].lower() + said[1:]


def main() -> None:
    rng = random.Random(7)
    for kind in (duties, cases, strengths, standings):
        for made in kind("train", rng, 3):
            print(f"\n{kind.__name__}: {made.text}")
            for said, true in (*made.claims, *made.asked):
                print("    ", "+" if true else "-", said)


if __name__ == "__main__":
    main()
