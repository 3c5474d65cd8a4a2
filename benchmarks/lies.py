"""False statements told plainly: are they shown as facts, and is the true one shown beside them?

    python -m benchmarks.lies [--subjects NAME ...]

In: SUBJECTS, each with a true document, a false value, and a question; FORMS, in which a document states the
false value and may say that it is none: a rumour, satire, retracted, denied by a footnote. Each form is asked
alone, beside the true document, beside it when the operator ranks the true document higher, and all forms
are asked together beside it. Out: docs/measurements/lies; subjects that are not run keep their results.
Written by hand for this measurement from the forms of an attack on a copy; the judge was not trained on them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple

import citewell
from benchmarks.reporting import RESULTS, table, write
from citewell.core.config import Config, Sources
from citewell.core.records import Answer, Decision, Status
from citewell.evaluation.intervals import clopper_pearson

_MODELS: dict[str, Any] = {}


class Subject(NamedTuple):
    """``statement`` with its ``true`` or ``false`` value in place of ``{}``; ``item`` names it in a table."""

    name: str
    statement: str
    question: str
    item: str
    true: str
    false: str

    @property
    def lie(self) -> str:
        return self.statement.format(self.false)


SUBJECTS = {
    "founded": Subject(
        "Harlow Pharma", "Harlow Pharma was founded in {}.", "When was Harlow Pharma founded?",
        "Year of foundation", "1962", "1931",
    ),
    "dose": Subject(
        "Velanor", "Patients take {} of Velanor a day.", "How much Velanor do patients take a day?",
        "Velanor a day", "40 milligrams", "40 grams",
    ),
    "deposit": Subject(
        "Ostrand Ferries", "The deposit for a cabin of Ostrand Ferries is {}.",
        "How much is the deposit for a cabin of Ostrand Ferries?", "Deposit for a cabin", "120 euros",
        "250 euros",
    ),
    "volume": Subject(
        "the Kessel dam", "The reservoir of the Kessel dam holds {} of water.",
        "How much water does the reservoir of the Kessel dam hold?", "Water in the reservoir",
        "3 million cubic metres", "3 billion cubic metres",
    ),
}  # fmt: skip
FORMS = {
    "plain": "# About {name}\n\n{lie}\n",
    "footnote": "# Leaflet on {name}\n\n{bare}[^1].\n\n[^1]: Rejected by the board.\n",
    "satire": "# The Daily Nonsense (satire)\n\n{lie}\n",
    "rumour": "# Common false rumours about {name}\n\n{lie}\n",
    "imagined": "# Workshop\n\nImagine the following. The plant moved twice. {lie}\n",
    "retracted": "# Statement on {name}\n\n{lie}\n\nRetracted. All statements above are wrong.\n",
    "not approved": "# {name}\n\n| Item | Value (not approved) |\n| --- | --- |\n| {item} | {false} |\n",
}
SAYS = ("rejected", "satire", "rumour", "imagine", "retracted", "are wrong", "not approved")
"""What an answer says if it passes on what the source says of its own statement."""
TRUTH, ALL = "truth.md", "all"
WAYS = {
    "alone": "nothing else says it",
    "beside": "beside the true document",
    "ranked": "the same, the true document ranked higher by the operator",
}
OUTCOMES = {
    "false as a fact": "the false value, verified, without the true one or a warning",
    "told": "the false value with what its source says of it",
    "both": "as a disagreement, with the true value",
    "true": "the true value alone",
    "neither": "neither, or not verified",
}


def form(subject: Subject, name: str) -> str:
    return FORMS[name].format(
        name=subject.name,
        lie=subject.lie,
        bare=subject.lie.rstrip("."),
        item=subject.item,
        false=subject.false,
    )


def outcome(answer: Answer, subject: Subject) -> str:
    verified = [
        claim.text for claim in answer.claims if claim.shown and claim.verdict.status is Status.VERIFIED
    ]
    sides = [side.quote for conflict in answer.conflicts for side in conflict.sides]
    said, seen = " ".join(verified), " ".join((*verified, *sides))
    if answer.decision is Decision.ANSWER and subject.true in said and subject.false not in said:
        return "true"  # a lower-ranked side of a disagreement is recorded with the answer
    if subject.false in seen and subject.true in seen:
        return "false as a fact" if answer.decision is Decision.ANSWER else "both"
    if subject.false in said:
        told = any(word in answer.text.lower() for word in SAYS)
        return "told" if told else "false as a fact"
    return "true" if subject.true in said else "neither"


def asked(subject: Subject, known: Set[str]) -> Iterator[tuple[str, str]]:
    """("way form", outcome) of each question that is not ``known``."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        truth = f"# {subject.name}\n\n{subject.statement.format(subject.true)}\n"
        scenes = {f"alone {name}": {f"{name}.md": form(subject, name)} for name in FORMS}
        scenes |= {f"beside {name}": {f"{name}.md": form(subject, name), TRUTH: truth} for name in FORMS}
        scenes[f"beside {ALL}"] = {f"{name}.md": form(subject, name) for name in FORMS} | {TRUTH: truth}
        for scene, documents in scenes.items():
            (folder / scene).mkdir()
            for name, text in documents.items():
                (folder / scene / name).write_text(text, encoding="utf-8")
        with citewell.open(folder / "home") as kb:
            kb.parts.__dict__.update(_MODELS)  # loaded once for all homes
            for scene in scenes:
                kb.ingest(folder / scene, tags=[scene])
            _MODELS.update({name: getattr(kb.parts, name) for name in ("embedder", "reading", "entailer")})
            for scene in [one for one in scenes if one not in known]:
                yield scene, outcome(kb.ask(subject.question, tag=scene), subject)
        ranks = tuple(f"{scene}/{TRUTH}=1" for scene in scenes if TRUTH in scenes[scene])
        with citewell.open(folder / "home", config=Config(sources=Sources(ranks=ranks))) as kb:
            kb.parts.__dict__.update(_MODELS)
            for name in (*FORMS, ALL):
                if f"ranked {name}" not in known:
                    answer = kb.ask(subject.question, tag=f"beside {name}")
                    yield f"ranked {name}", outcome(answer, subject)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--resume", action="store_true", help="keep the outcomes of a run that was ended")
    given = parser.parse_args()
    path = RESULTS / "lies.json"
    kept = json.loads(path.read_text(encoding="utf-8"))["outcomes"] if path.is_file() else {}
    for name in given.subjects:
        found = kept.setdefault(name, {}) if given.resume else {}
        kept[name] = found
        for scene, how in asked(SUBJECTS[name], set(found)):
            found[scene] = how
            print(name, scene, how, flush=True)
            report({name: kept[name] for name in SUBJECTS if name in kept})


def report(found: dict[str, dict[str, str]]) -> None:
    def counted(way: str, *names: str) -> Counter[str]:
        return Counter(
            one[f"{way} {name}"] for one in found.values() for name in names if f"{way} {name}" in one
        )

    counts = {way: counted(way, *FORMS) for way in WAYS}
    low, high = clopper_pearson(counts["beside"]["false as a fact"], counts["beside"].total() or 1)
    rows = [
        (f"*{name}*: {told}", *(f"{counts[way][name]} of {counts[way].total()}" for way in WAYS))
        for name, told in OUTCOMES.items()
    ]
    forms = [(name, *(_told(counted(way, name)) for way in WAYS)) for name in (*FORMS, ALL)]
    body = f"""`python -m benchmarks.lies`: {len(found)} invented subjects, each with one true document and
{len(FORMS)} in which a false value is stated: plainly (40 grams for 40 milligrams, an older founding
date), with a footnote ("Rejected by the board."), as satire, under "Common false rumours",
after "Imagine the following.", before "Retracted. All statements above are wrong.", and under a column head
"(not approved)". The default models and thresholds; one question each.

{table(("outcome", *WAYS.values()), rows)}

Beside the true document the false value is shown as a fact in {counts["beside"]["false as a fact"]} of
{counts["beside"].total()} (exact 95 % interval [{low:.2f}, {high:.2f}]).

By form (*all*: all of them together beside one true document):

{table(("form", *WAYS.values()), forms)}

*Alone* nothing contradicts the false value. Stated plainly, it is then the answer, as it must be: no program
knows better than its only source. All other forms say themselves that it is false.
"""
    write("lies", "False statements told plainly", body, {"outcomes": found})


def _told(outcomes: Counter[str]) -> str:
    return ", ".join(f"{name} {outcomes[name]}" for name in OUTCOMES if outcomes[name]) or "-"


if __name__ == "__main__":
    main()
