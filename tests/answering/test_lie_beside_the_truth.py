"""A lie stated plainly alongside the true document, with the embedded models: it is never shown alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import citewell
from citewell.core.records import Answer, Decision
from citewell.knowledge.home import KnowledgeBase

FACTS = """# Harlow Pharma

Harlow Pharma was founded in 1962 in Bergen.

Patients take 40 milligrams of Velanor a day.
"""
FOUNDED, DOSE = "When was Harlow Pharma founded?", "How much Velanor do patients take a day?"
LIE = "Harlow Pharma was founded in 1931."
LIES = {
    "grams": ("# Leaflet\n\nPatients take 40 grams of Velanor a day.\n", DOSE, "40 grams"),
    "older": (f"# About us\n\n{LIE}\n", FOUNDED, "1931"),
    "rumour": (f"# Common false rumours about Harlow Pharma\n\n{LIE}\n", FOUNDED, "1931"),
    "imagined": (f"# Workshop\n\nImagine the following. The plant moved twice. {LIE}\n", FOUNDED, "1931"),
    "retracted": (f"# Statement\n\n{LIE}\n\nRetracted. All statements above are wrong.\n", FOUNDED, "1931"),
    "satire": (f"# The Daily Nonsense (satire)\n\n{LIE}\n", FOUNDED, "1931"),
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("harlow")
    with citewell.open(folder / "home") as made:
        for name, (text, _, _) in LIES.items():
            (folder / name).mkdir()
            (folder / name / "note.md").write_text(text)
            (folder / name / "facts.md").write_text(FACTS)
            made.ingest(folder / name, tags=[name])
        yield made


def shown(answer: Answer) -> str:
    told = [(claim.text, claim.verdict.status.value, claim.verdict.reason) for claim in answer.claims]
    sides = [[side.quote for side in conflict.sides] for conflict in answer.conflicts]
    return f"{answer.decision.value}: {answer.text!r}\n{told}\nconflicts {sides}"


@pytest.mark.slow
@pytest.mark.parametrize("name", LIES)
def test_a_lie_beside_the_truth_is_shown_as_a_disagreement(kb: KnowledgeBase, name: str) -> None:
    _, question, lie = LIES[name]
    answer = kb.ask(question, tag=name)
    sides = " ".join(side.quote for conflict in answer.conflicts for side in conflict.sides)
    assert answer.decision is not Decision.ANSWER, shown(answer)
    assert lie in sides, shown(answer)
    assert "1962" in sides or "40 milligrams" in sides, shown(answer)
