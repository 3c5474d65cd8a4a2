"""Turns tables, as the product's chunks show them, into look-up questions with near misses.

In: the tables of TAT-QA (financial statements) and the linearised tables of WikiTableQuestions. Out:
`Question`s whose passage is tab-separated rows under a context of "Document › Section" and column heads.
Look-ups are made: row label x column x wording, for invented companies. A near miss has the row taken out,
or asks for a year that the table does not have, or for another company. Independent of models.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from training.reading_pairs import Question, reported, share
from training.sources import Row, load

_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ORDER = re.compile(
    r"\b(most|least|last|first|next|previous|before|after|total|only|highest|lowest|largest|smallest|same|than|both|"
    r"how many|difference|other|more|less|fewer|earliest|latest|top|above|below|longest|best)\b",
    re.IGNORECASE,
)
FIRST = (
    *("Alder", "Bryce", "Corvex", "Dunmore", "Elmira", "Fenwick", "Galt", "Harrow", "Ibex", "Juniper"),
    *("Kestrel", "Larkin", "Morrow", "Norvane", "Orrin", "Pell", "Quill", "Rowan", "Selwyn", "Tarn"),
    *("Ulster", "Vance", "Wexley", "Yarrow", "Zephyr", "3T", "B&L", "North Bay", "Red Mesa", "Blue Heron"),
)
LAST = (
    *("Inc.", "Corporation", "Holdings", "Brands", "Energy", "Foods", "Pharmaceuticals", "Motors"),
    *("Software", "Group plc", "Industries", "Retail", "Systems", "", "Beverages"),
)
FILINGS = (
    "{name} {year} 10-K",
    "{caps}_{year}_10K",
    "{name} Annual Report {year}",
    "{name}",
    "{caps}_{year}Q2_10Q",
    "Form 10-K {name} fiscal year {year}",
    "{caps}_{year}_annual_report.pdf",
)
STATEMENTS = (
    "Consolidated Statements of Income",
    "Consolidated Balance Sheets",
    "Notes",
    "Selected data",
    "Consolidated Statements of Cash Flows",
    "Results of Operations",
    "Segment information",
)
WORDINGS = (
    "What was {name}'s {item} in {year}?",
    "What is the {year} {item} for {name}?",
    "What is the FY{year} {item} (in USD millions) for {name}?",
    "How much was {item} in fiscal {year} at {name}?",
    "{name} {item} {year}",
    "What is the amount of {item} that {name} reported for {year}?",
    "What did {name} report as {item} for FY{year}? Answer using the statement of income.",
    "We need the {item} of {name} for the year {year}. What is it according to the balance sheet?",
    "{item} in {year}?",
    "In {year}, what was the {item}?",
)
CHANGES = (
    "How did {name}'s {item} change between {other} and {year}?",
    "What is the percentage change in {item} from {other} to {year} at {name}?",
    "Did {item} grow in {year} compared with {other}?",
    "By how much did {name}'s {item} change from FY{other} to FY{year}?",
)


@dataclass(frozen=True, slots=True)
class Grid:
    """A statement: column heads, their years, and rows of a label and one value per head."""

    key: str
    heads: tuple[str, ...]
    years: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def finance(most: int) -> list[Question]:
    """TAT-QA's own questions, and look-ups and near misses over its tables."""
    rng = random.Random("finance")
    grids = {}
    rows = [row for row in load("qa/tatqa.dev") if not reported("qa/tatqa.dev", table_key(row))]
    for row in rows:
        grid = parse(row)
        if grid is not None:
            grids[grid.key] = grid
    made = list(_own(rows))
    order = sorted(grids)
    while order and len(made) < most:
        made.extend(_lookups(grids[rng.choice(order)], rng))
    return made[:most]


def table_key(row: Row) -> str:
    return str(row["meta"]["table"])[:400]


def parse(row: Row) -> Grid | None:
    """None for a table whose columns are not years."""
    table = row["meta"]["table"]
    for number, line in enumerate(table[:4]):
        years = [_YEAR.search(cell) for cell in line[1:]]
        found = [match.group() for match in years if match]
        if len(found) >= 2 and len(set(found)) == len(found) == len(line) - 1:
            body = [(r[0].strip(), tuple(c.strip() for c in r[1:])) for r in table[number + 1 :]]
            full = tuple((label, cells) for label, cells in body if label and len(cells) == len(found))
            if sum(1 for _, cells in full if _filled(cells)) >= 3:
                heads = tuple(" ".join(c.split()) for c in line[1:])
                return Grid(table_key(row), heads, tuple(found), full)
    return None


def _own(rows: list[Row]) -> Iterator[Question]:
    """TAT-QA's own questions over its own linearised context; computed answers have no place."""
    for row in rows:
        spans = tuple((a["start"], a["start"] + len(a["text"])) for a in row["answers"] if a["start"] >= 0)
        if len(row["context"].split()) <= 260:
            yield Question("qa/tatqa.dev", table_key(row), row["question"], row["context"], spans or None)


def _lookups(grid: Grid, rng: random.Random) -> Iterator[Question]:
    """One table under one invented company: an answered look-up and its near misses."""
    name = _company(rng)
    full = [i for i, (_, cells) in enumerate(grid.rows) if _filled(cells)]
    row = rng.choice(full)
    label, column = grid.rows[row][0], rng.randrange(len(grid.years))
    item = re.sub(r"\s*\(.*?\)|[:*]+$", "", label).strip() or label
    item = item if rng.random() < 0.3 else item.lower()
    year = grid.years[column]
    size = rng.randint(4, 22)
    first = max(0, row - rng.randrange(size))
    shown = list(range(first, min(len(grid.rows), first + size)))
    title = rng.choice(FILINGS).format(name=name, caps=name.split()[0].upper(), year=max(grid.years))
    context = (
        f"{title} › {rng.choice(STATEMENTS)}\n{rng.choice(('(In millions): ', '', 'USD thousands: '))}"
        + (" | ".join(grid.heads))
    )
    base = Question("made/finance", grid.key, "", "", (), context)
    other = rng.choice([y for y in grid.years if y != year])
    if rng.random() < 0.15:
        question = rng.choice(CHANGES).format(name=name, item=item, year=year, other=other)
        passage, _ = _shown(grid, shown, row, column)
        yield replace(base, question=question, passage=passage, spans=None)
    else:
        question = rng.choice(WORDINGS).format(name=name, item=item, year=year)
        passage, span = _shown(grid, shown, row, column)
        yield replace(base, question=question, passage=passage, spans=(span,))
    without = [i for i in shown if _stem(grid.rows[i][0]) != _stem(label)]
    miss = rng.random()
    if miss < 0.4 and len(without) >= 3:
        yield replace(base, question=question, passage=_shown(grid, without, -1, 0)[0])
    elif miss < 0.7:
        years = [int(y) for y in grid.years]
        wrong = str(rng.choice([y for y in range(min(years) - 4, max(years) + 4) if y not in years]))
        yield replace(base, question=question.replace(year, wrong), passage=passage)
    elif name in question:
        stranger = name
        while stranger.split()[0] == name.split()[0]:
            stranger = _company(rng)
        yield replace(base, question=question.replace(name, stranger), passage=passage)


def _company(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}".strip()


def _filled(cells: tuple[str, ...]) -> bool:
    return all(any(c.isdigit() for c in cell) for cell in cells)


def _stem(label: str) -> str:
    return re.sub(r"[^a-z]", "", label.lower())


def _shown(grid: Grid, rows: list[int], row: int, column: int) -> tuple[str, tuple[int, int]]:
    """Tab-separated rows, one per line, and the place of one cell."""
    text, span = "", (0, 0)
    for number in rows:
        label, cells = grid.rows[number]
        text += ("\n" if text else "") + label
        for position, cell in enumerate(cells):
            text += "\t"
            if (number, position) == (row, column):
                span = (len(text), len(text) + len(cell))
            text += cell
    return text, span


def wiki_tables(most: int) -> list[Question]:
    """WikiTableQuestions over consecutive table rows, with the answer's row and sometimes without it."""
    rng = random.Random("wtq")
    rows = load("qa/wtq.train")
    rng.shuffle(rows)
    made: list[Question] = []
    for row in rows:
        title, _, body = row["context"].partition("\n")
        lines = body.split("\n")
        place = [a for a in row["answers"] if a["start"] >= len(title) + 1]
        if len(made) >= most or not place:
            continue
        answer = place[0]
        at = row["context"][len(title) + 1 : answer["start"]].count("\n")
        inner = answer["start"] - len(title) - 1 - sum(len(line) + 1 for line in lines[:at])
        size = rng.randint(4, 12)
        first = max(0, min(at - rng.randrange(size), len(lines) - size))
        plain = not _ORDER.search(row["question"])
        shown = list(range(first, min(len(lines), first + size))) if plain else list(range(len(lines)))
        passage = "\n".join(lines[i] for i in shown)
        if len(passage.split()) > 230:
            continue
        start = sum(len(lines[i]) + 1 for i in shown if i < at) + inner
        base = Question(
            "qa/wtq.train", title, row["question"], passage, ((start, start + len(answer["text"])),)
        )
        base = replace(base, context=title if share(row["id"]) < 0.7 else "")
        made.append(base)
        rest = [lines[i] for i in shown if i != at and answer["text"] not in lines[i]]
        if plain and len(rest) >= 3 and rng.random() < 0.5:
            made.append(replace(base, passage="\n".join(rest), spans=()))
    return made
