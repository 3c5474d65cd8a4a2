"""Questions about facts that are alike, cells of tables, wording that is amended: texts with exact labels.

In: facts/asked.jsonl (domains of facts whose questions the domain's other facts do not answer),
facts/tables.jsonl (rows and columns that are easily confused) and facts/amend.json (how papers change what
was written), all by a large language model. Out: texts with claims and questions, as :mod:`training.facts`
makes them; facts, values, cells and frames are drawn at random, so that words cannot give a label away.
`python -m training.near_misses` shows some.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from training.facts import FOLDER, MOST, TITLED, Made, drawn, joined, titled
from training.roles import capital, part_of

TOLD, AGAIN = 6, 0.5
"""Facts of a text at most, and the share of texts in which one question is asked in two wordings."""
ALONE = 0.35
"""Share of texts that are one fact, with all wordings of its own question and others' questions."""
QUOTED, BASED = 0.35, 0.6
"""Shares of amendments with the new sentence as it is among their claims, and under the text they change."""


def asked(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """Facts of one domain, of which some are left out; an untrue claim gives a fact a neighbour's value."""
    for row in drawn("asked", "domain", part, rng, texts):
        facts = rng.sample(row["facts"], len(row["facts"]))
        values = _values(facts, rng)
        told = 1 if rng.random() < ALONE else rng.randint(2, min(TOLD, len(facts)))
        title = row["title"]
        said = [_put(rng.choice(fact["says"]), values[i]) for i, fact in enumerate(facts[:told])]
        questions: dict[str, bool] = {}
        for i, fact in enumerate(facts):
            held = i < told
            most = len(fact["asks"]) if told == 1 and held else 2 if held or rng.random() < AGAIN else 1
            questions |= dict.fromkeys(rng.sample(fact["asks"], most), held)
        claims: dict[str, bool] = {}
        for _ in range(MOST):
            i = rng.randrange(len(facts) if rng.random() < 0.3 else told)
            holds = i < told and rng.random() < 0.55
            value = values[i] if holds else _wrong(facts, values, i, told, rng)
            if value and (holds or value != values[i] or i >= told):
                claims[_put(rng.choice([*facts[i]["claims"], *facts[i]["says"]]), value)] = holds
        kept = rng.sample(list(questions.items()), min(MOST, len(questions)))
        yield Made(titled(joined(said, rng), title, rng), tuple(claims.items())[:6], tuple(kept))


def amendments(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """Wording that is replaced, inserted, struck out, kept or only proposed to be changed, with the sentences
    of both wordings as claims, under what it changes or alone."""
    frames = _frames(part)
    kinds = [kind for kind in frames if kind not in ("heads", "tails")]
    for row in drawn("asked", "domain", part, rng, texts):
        facts = rng.sample(row["facts"], min(len(row["facts"]), rng.randint(2, 5)))
        values = _values(facts, rng)
        based = rng.random() < BASED
        base = [_put(rng.choice(fact["says"]), value) for fact, value in zip(facts, values, strict=True)]
        numbers = sorted(rng.sample(range(1, 15), len(facts)))
        claims: list[tuple[str, bool]] = []
        questions: list[tuple[str, bool]] = []
        changes = []
        changed = rng.randint(1, min(3, len(facts)))
        for i, fact in enumerate(facts):
            others = [value for value in fact["values"] if value != values[i]]
            new_value = rng.choice(others)
            words = [*fact["claims"], *fact["says"]]
            if i >= changed:
                if based:
                    claims.append((_put(rng.choice(words), values[i]), True))
                    claims.append((_put(rng.choice(words), new_value), False))
                    questions.append((rng.choice(fact["asks"]), True))
                continue
            kind = rng.choice([k for k in kinds if based or k != "value"])
            frame = rng.choice(frames[kind])
            if kind == "insert":
                base[i] = ""
            new = _sentence(_put(rng.choice(fact["says"]), new_value))
            old = _sentence(base[i]) if base[i] else ""
            put = {"old": old, "new": new, "fact": new if kind == "insert" else old}
            changes.append(_into(frame, {**put, "ov": values[i], "nv": new_value}, numbers[i]))
            now = {"delete": None, "kept": values[i], "old_only": None}.get(kind, new_value)
            if kind == "proposed":
                now = values[i] if based else None
            if kind != "replace_new" or based:
                claims.append((_put(rng.choice(words), values[i]), now == values[i]))
            claims.append((_put(rng.choice(words), new_value), now == new_value))
            if now == new_value and new in changes[-1] and rng.random() < QUOTED:
                claims.append((new, True))
            if kind in ("delete", "old_only") and rng.random() < QUOTED:
                claims.append((old, False))
            if len(others) > 1 and now == new_value and rng.random() < QUOTED:
                third = rng.choice([value for value in others if value != new_value])
                claims.append((_put(rng.choice(words), third), False))
            if now is not None:
                questions += [(asks, True) for asks in rng.sample(fact["asks"], 2)]
        rest = [fact for fact in row["facts"] if fact not in facts]
        questions += [(rng.choice(fact["asks"]), False) for fact in rest[:3]]
        head = rng.choice(frames["heads"])
        lines = [head, *rng.sample(changes, len(changes))]
        if rng.random() < 0.4:
            lines.append(rng.choice(frames["tails"]))
        if based:
            clauses = [f"{n}. {_sentence(said)}" for n, said in zip(numbers, base, strict=True) if said]
            lines = [row["title"], *clauses, *lines]
        elif rng.random() < TITLED:
            lines = [row["title"], *lines]
        made = list(dict(claims).items())
        yield Made(
            "\n".join(lines),
            tuple(rng.sample(made, min(MOST, len(made)))),
            tuple(rng.sample(questions, min(7, len(questions)))),
        )


def cells(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """A table with statements about its cells: an untrue one has another row's, another column's or no cell's
    value, another unit, or a comparison turned round."""
    for row in drawn("tables", "domain", part, rng, texts):
        names = rng.sample(row["rows"], rng.randint(2, min(6, len(row["rows"]))))
        columns = rng.sample(row["columns"], rng.randint(2, min(5, len(row["columns"]))))
        values = [rng.sample(column["values"], len(column["values"])) for column in columns]
        grid = [[values[c][r % len(values[c])] for c in range(len(columns))] for r in range(len(names))]
        claims: dict[str, bool] = {}
        questions: dict[str, bool] = {}
        for _ in range(MOST + 3):
            r, c = rng.randrange(len(names)), rng.randrange(len(columns))
            column, value = columns[c], grid[r][c]
            along = [line[c] for line in grid if line[c] != value]
            across = [
                grid[r][k] for k in range(len(columns)) if k != c and columns[k]["type"] == column["type"]
            ]
            across = [each for each in across if each != value]
            kind = rng.choice(("true", "true", "true", "row", "column", "unit", "more"))
            if kind == "more" and column.get("more"):
                claims |= _compared(column, names, [line[c] for line in grid], rng)
                continue
            words = rng.choice(column["says"])
            if kind == "unit" and column.get("wrong_unit"):
                claims[_cell(rng.choice(column["wrong_unit"]), names[r], value)] = False
            elif kind == "column" and across:
                claims[_cell(words, names[r], rng.choice(across))] = False
            elif kind in ("row", "unit", "column") and along:
                claims[_cell(words, names[r], rng.choice(along))] = False
            else:
                claims[_cell(words, names[r], value)] = True
            questions[_cell(rng.choice(column["asks"]), names[r], "")] = True
        missing = [column for column in row["columns"] if column not in columns]
        others = [name for name in row["rows"] if name not in names]
        if missing:
            questions[_cell(rng.choice(rng.choice(missing)["asks"]), rng.choice(names), "")] = False
        if others:
            questions[_cell(rng.choice(rng.choice(columns)["asks"]), rng.choice(others), "")] = False
        text = _table(row, names, columns, grid, rng)
        kept = list(claims.items())
        untrue = [item for item in questions.items() if not item[1]]
        true = [item for item in questions.items() if item[1]]
        yield Made(
            text,
            tuple(rng.sample(kept, min(MOST, len(kept)))),
            (*untrue, *rng.sample(true, min(3, len(true)))),
        )


def _values(facts: list[dict[str, Any]], rng: random.Random) -> list[str]:
    """A value for each fact; facts of one type get different ones, as far as they have them."""
    taken: dict[str, set[str]] = {}
    values = []
    for fact in facts:
        used = taken.setdefault(fact["type"], set())
        value = rng.choice([value for value in fact["values"] if value not in used] or fact["values"])
        used.add(value)
        values.append(value)
    return values


def _wrong(facts: list[dict[str, Any]], values: list[str], i: int, told: int, rng: random.Random) -> str:
    """The value of another fact of the same type in the text, or another of its own."""
    near = [
        values[k]
        for k in range(told)
        if k != i and facts[k]["type"] == facts[i]["type"] and values[k] != values[i]
    ]
    if near and rng.random() < 0.7:
        return rng.choice(near)
    return rng.choice([value for value in facts[i]["values"] if value != values[i]])


def _put(said: str, value: str) -> str:
    return capital(said.replace("{V}", capital(value)).replace("{v}", value))


def _sentence(said: str) -> str:
    return said if said.endswith((".", "!", "?")) else f"{said}."


@cache
def _frames(part: str) -> Mapping[str, list[str]]:
    told = json.loads((FOLDER / "amend.json").read_text(encoding="utf-8"))
    kept = {kind: [said for said in frames if part_of(said) == part] for kind, frames in told.items()}
    return {kind: frames or told[kind][:1] for kind, frames in kept.items()}


def _into(frame: str, put: Mapping[str, str], number: int) -> str:
    for name, said in put.items():
        frame = frame.replace(f"{{{name}}}", said)
    return capital(frame.replace("{n}", str(number)))


def _cell(said: str, name: str, value: str) -> str:
    said = said.replace("{R}", capital(name)).replace("{r}", name)
    return capital(said.replace("{V}", capital(value)).replace("{v}", value))


def _compared(
    column: dict[str, Any], names: list[str], values: list[str], rng: random.Random
) -> dict[str, bool]:
    """A comparison of two rows, either way round; none where a value is no plain number."""
    told = {}
    try:
        numbers = [float(value.replace(",", "").strip("$€£% ")) for value in values]
    except ValueError:
        return {}
    first, second = rng.sample(range(len(names)), 2)
    if numbers[first] != numbers[second]:
        way = rng.choice(("over", "under"))
        said = rng.choice(column["more"])[way].replace("{a}", names[first]).replace("{b}", names[second])
        told[capital(said)] = (numbers[first] > numbers[second]) == (way == "over")
    return told


def _table(
    row: dict[str, Any],
    names: list[str],
    columns: list[dict[str, Any]],
    grid: list[list[str]],
    rng: random.Random,
) -> str:
    """As chunks show a table: tabs under a head, or the lines of records."""
    heads = [column["name"] for column in columns]
    form = rng.random()
    if form < 0.65:
        lines = ["\t".join([row["key"], *heads])]
        lines += ["\t".join([name, *cells]) for name, cells in zip(names, grid, strict=True)]
    elif form < 0.85:
        lines = []
        for name, cells in zip(names, grid, strict=True):
            lines.append(f"{name} – " + "; ".join(f"{h}: {v}" for h, v in zip(heads, cells, strict=True)))
    else:
        lines = ["| " + " | ".join([row["key"], *heads]) + " |"]
        lines += ["| " + " | ".join([name, *cells]) + " |" for name, cells in zip(names, grid, strict=True)]
    return "\n".join([row["title"], *lines])


def main() -> None:
    rng = random.Random(7)
    for kind in (asked, amendments, cells):
        for made in kind("train", rng, 4):
            print(f"\n{kind.__name__}: {made.text}")
            for said, true in made.claims:
                print("    ", "+" if true else "-", said)
            for said, true in made.asked:
                print("    ", "?" if true else "x", said)


if __name__ == "__main__":
    main()
