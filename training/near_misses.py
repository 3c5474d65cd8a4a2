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

from training.facts import FOLDER, LINES, MOST, TITLED, Made, drawn, ended
from training.roles import capital, part_of

TOLD, AGAIN, CLAIMS = 6, 0.5, 8
"""Facts of a text at most, the share of texts in which one question is asked in two wordings, and claims."""
ALONE = 0.35
"""Share of texts that are one fact, with all wordings of its own question and others' questions."""
QUOTED, BASED, FRAMED = 0.35, 0.6, 0.2
"""Shares of amendments with the new sentence as it is among their claims, under the text they change, and of
changes that are asked about alone behind the sentence they change, as at run time."""


def asked(part: str, rng: random.Random, texts: int) -> Iterator[Made]:
    """Facts of one domain, of which some are left out, in two versions: in the other, two facts have
    exchanged their values or one has another. The same claims under both."""
    for number, row in enumerate(drawn("asked", "domain", part, rng, texts)):
        facts = rng.sample(row["facts"], len(row["facts"]))
        values = _values(facts, rng)
        told = 1 if rng.random() < ALONE else rng.randint(2, min(TOLD, len(facts)))
        wordings = [rng.choice(fact["says"]) for fact in facts[:told]]
        questions: dict[str, bool] = {}
        for i, fact in enumerate(facts):
            held = i < told
            most = len(fact["asks"]) if told == 1 and held else 2 if held or rng.random() < AGAIN else 1
            questions |= dict.fromkeys(rng.sample(fact["asks"], most), held)
        versions = [values, _changed(facts, values, told, rng)]
        claims: dict[str, tuple[int, str]] = {}
        for _ in range(CLAIMS):
            i = rng.randrange(len(facts) if rng.random() < 0.25 else told)
            value = rng.choice([versions[0][i], versions[1][i], _wrong(facts, values, i, told, rng)])
            claims[_put(rng.choice([*facts[i]["claims"], *facts[i]["says"]]), value)] = i, value
        kept = rng.sample(list(questions.items()), min(MOST, len(questions)))
        title = row["title"] if rng.random() < TITLED else ""
        lines = rng.random() < LINES
        for version, these in enumerate(versions):
            said = [_put(words, value) for words, value in zip(wordings, these, strict=False)]
            text = "\n".join(said) if lines else " ".join(map(ended, said))
            held_of = ((said, i < told and value == these[i]) for said, (i, value) in claims.items())
            yield Made(
                f"{title}\n{text}" if title else text,
                tuple(held_of),
                () if version else tuple(kept),
                family=f"asked {number}",
            )


def _changed(facts: list[dict[str, Any]], values: list[str], told: int, rng: random.Random) -> list[str]:
    """The values after two of the told facts of one type have exchanged theirs, or one has got another."""
    changed = [*values]
    pairs = [(i, k) for i in range(told) for k in range(i) if facts[i]["type"] == facts[k]["type"]]
    pairs = [(i, k) for i, k in pairs if values[i] != values[k]]
    if pairs and rng.random() < 0.8:
        i, k = rng.choice(pairs)
        changed[i], changed[k] = values[k], values[i]
    else:
        i = rng.randrange(told)
        changed[i] = rng.choice([value for value in facts[i]["values"] if value != values[i]])
    return changed


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
            new = ended(_put(rng.choice(fact["says"]), new_value))
            old = ended(base[i]) if base[i] else ""
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
            if now == new_value and old and rng.random() < FRAMED:
                others_ask = [
                    (rng.choice(other["asks"]), False) for other in row["facts"] if other is not fact
                ]
                own = [(asks, True) for asks in rng.sample(fact["asks"], 3)]
                strange = rng.sample(others_ask, min(4, len(others_ask)))
                yield Made(f"{row['title']}\n{old}\n{changes[-1]}", (), (*own, *strange))
        rest = [fact for fact in row["facts"] if fact not in facts]
        questions += [(rng.choice(fact["asks"]), False) for fact in rest[:3]]
        head = rng.choice(frames["heads"])
        lines = [head, *rng.sample(changes, len(changes))]
        if rng.random() < 0.4:
            lines.append(rng.choice(frames["tails"]))
        if based:
            clauses = [f"{n}. {ended(said)}" for n, said in zip(numbers, base, strict=True) if said]
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
    """A table in two versions, in the other with cells exchanged along rows and columns; statements about its
    cells, with another row's or column's value or another unit, and comparisons, under both."""
    for number, row in enumerate(drawn("tables", "domain", part, rng, texts)):
        names = rng.sample(row["rows"], rng.randint(2, min(6, len(row["rows"]))))
        columns = rng.sample(row["columns"], rng.randint(2, min(5, len(row["columns"]))))
        values = [rng.sample(column["values"], len(column["values"])) for column in columns]
        grid = [[values[c][r % len(values[c])] for c in range(len(columns))] for r in range(len(names))]
        grids = grid, _exchanged(grid, columns, rng)
        claims: dict[str, tuple[int, int, str]] = {}
        compared: dict[str, tuple[int, int, int]] = {}
        questions: dict[str, bool] = {}
        for _ in range(CLAIMS):
            r, c = rng.randrange(len(names)), rng.randrange(len(columns))
            column = columns[c]
            if column.get("more") and rng.random() < 0.25:
                k = rng.choice([k for k in range(len(names)) if k != r])
                over = rng.choice(column["more"])
                compared[_sides(over["over"], names[r], names[k])] = r, k, c
                compared[_sides(over["under"], names[k], names[r])] = r, k, c
            elif column.get("wrong_unit") and rng.random() < 0.2:
                claims[_cell(rng.choice(column["wrong_unit"]), names[r], grid[r][c])] = r, c, ""
            else:
                near = [grids[0][r][c], grids[1][r][c], rng.choice(grid)[c]]
                across = [grid[r][k] for k in range(len(columns)) if columns[k]["type"] == column["type"]]
                value = rng.choice([*near, rng.choice(across)])
                claims[_cell(rng.choice(column["says"]), names[r], value)] = r, c, value
            questions[_cell(rng.choice(column["asks"]), names[r], "")] = True
        missing = [column for column in row["columns"] if column not in columns]
        others = [name for name in row["rows"] if name not in names]
        untrue = []
        if missing:
            untrue.append(_cell(rng.choice(rng.choice(missing)["asks"]), rng.choice(names), ""))
        if others:
            untrue.append(_cell(rng.choice(rng.choice(columns)["asks"]), rng.choice(others), ""))
        kept = [
            *((said, False) for said in untrue),
            *rng.sample(list(questions.items()), min(3, len(questions))),
        ]
        form = rng.random()
        for version, these in enumerate(grids):
            told = [(said, value != "" and these[r][c] == value) for said, (r, c, value) in claims.items()]
            for said, (r, k, c) in compared.items():
                first, second = _number(these[r][c]), _number(these[k][c])
                if first is not None and second is not None and first != second:
                    told.append((said, first > second))
            text = _table(row, names, columns, these, form)
            yield Made(text, tuple(told[:MOST]), () if version else tuple(kept), family=f"cells {number}")


def _exchanged(grid: list[list[str]], columns: list[dict[str, Any]], rng: random.Random) -> list[list[str]]:
    """The grid with cells exchanged along one column, and along a row where two columns are of one type."""
    made = [[*line] for line in grid]
    for c in rng.sample(range(len(columns)), max(1, len(columns) // 2)):
        r, k = rng.sample(range(len(grid)), 2)
        made[r][c], made[k][c] = made[k][c], made[r][c]
    pairs = [
        (c, k) for c in range(len(columns)) for k in range(c) if columns[c]["type"] == columns[k]["type"]
    ]
    if pairs:
        c, k = rng.choice(pairs)
        r = rng.randrange(len(grid))
        made[r][c], made[r][k] = made[r][k], made[r][c]
    return made


def _number(value: str) -> float | None:
    try:
        return float(value.replace(",", "").strip("$€£% "))
    except ValueError:
        return None


def _sides(said: str, first: str, second: str) -> str:
    return capital(said.replace("{a}", first).replace("{b}", second))


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
    return capital(said.replace("{V}", capital(value)).replace("{v}", value)).replace("..", ".")


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


def _table(
    row: dict[str, Any],
    names: list[str],
    columns: list[dict[str, Any]],
    grid: list[list[str]],
    form: float,
) -> str:
    """As chunks show a table: tabs under a head, or the lines of records."""
    heads = [column["name"] for column in columns]
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
