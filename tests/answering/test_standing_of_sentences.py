"""What a document says about its own sentences, asked of the embedded models: a lie told plainly."""

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
LIE = "Harlow Pharma was founded in 1931 in Oslo."
LIES = {
    "rumours": (f"# Common false rumours about Harlow Pharma\n\n{LIE}\n", FOUNDED, "1931"),
    "rumours by topic": (
        f"# Press kit\n\n## Common false rumours\n\n### The beginnings\n\n{LIE}\n",
        FOUNDED,
        "1931",
    ),
    "imagined": (f"# Workshop\n\nImagine the following. The plant moved twice. {LIE}\n", FOUNDED, "1931"),
    "retracted": (
        f"# Statement\n\n{LIE} The plant has 900 employees.\n\nRetracted. All statements above are wrong.\n",
        FOUNDED,
        "1931",
    ),
    "not approved": (
        "# Dosing\n\n| Product | Daily dose of patients (not approved) |\n|---|---|\n"
        "| Velanor | 70 milligrams |\n| Calmide | 5 milligrams |\n",
        DOSE,
        "70",
    ),
    "rejected by a footnote": (
        "# Dosing\n\nPatients take 70 milligrams of Velanor a day.[^1]\n\n[^1]: Rejected by the board.\n",
        DOSE,
        "70",
    ),
    "satire": (f"# The Daily Nonsense (satire)\n\n{LIE}\n", FOUNDED, "1931"),
}
BESIDE = {
    "grams": ("# Leaflet\n\nPatients take 40 grams of Velanor a day.\n", DOSE, "40 grams"),
    "older": (f"# About us\n\n{LIE}\n", FOUNDED, "1931"),
    "a rumour": LIES["rumours"],
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("harlow")
    with citewell.open(folder / "home") as made:
        for name, (text, _, _) in LIES.items():
            (folder / "alone" / name).mkdir(parents=True)
            (folder / "alone" / name / "note.md").write_text(text)
        made.ingest(folder / "alone")
        for name, (text, _, _) in BESIDE.items():
            (folder / name).mkdir()
            (folder / name / "note.md").write_text(text)
            (folder / name / "facts.md").write_text(FACTS)
            made.ingest(folder / name, tags=[name])
        yield made


def shown(answer: Answer) -> str:
    told = [(claim.text, claim.verdict.status.value, claim.verdict.reason) for claim in answer.claims]
    sides = [[side.quote for side in conflict.sides] for conflict in answer.conflicts]
    return f"{answer.decision.value}: {answer.text!r}\n{told}\nconflicts {sides}"


@pytest.mark.parametrize("name", LIES)
def test_a_sentence_that_its_document_denies_is_no_answer(kb: KnowledgeBase, name: str) -> None:
    _, question, lie = LIES[name]
    answer = kb.ask(question, document=f"alone/{name}/note.md")
    print(shown(answer))
    assert answer.decision is not Decision.ANSWER or lie not in answer.text, shown(answer)


@pytest.mark.parametrize("name", BESIDE)
def test_a_lie_beside_the_truth_is_not_shown_alone(kb: KnowledgeBase, name: str) -> None:
    _, question, lie = BESIDE[name]
    answer = kb.ask(question, tag=name)
    print(shown(answer))
    assert lie not in answer.text or answer.conflicts, shown(answer)
