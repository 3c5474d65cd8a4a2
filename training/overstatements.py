"""How often each check of overstatement fires on training pairs that people labelled.

``python -m training.overstatements``. In: the training sets of sources.tsv whose premises are prose (no
tables, no templates), less the rows that also stand in a measured set. Out: for each check of
:mod:`citewell.verification.overstating` its hits on unsupported and on supported claims, printed; with
``--show NAME`` the pairs themselves. A check is worth keeping when it hardly hits what people call supported.
Nothing is fitted here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from citewell.core.sentences import sentence_spans
from citewell.verification.overstating import CLOSE, LONG, OVERSTATEMENTS
from citewell.verification.words import nearest_sentence, overlap
from training.sources import load_for_training, sources

NO_PROSE = ("infotabs", "tabfact", "semtabfacts", "help", "scone", "monli", "nli4ct", "dnc_mega", "dnc_verb")
LABELS = {"entailment": True, "neutral": False, "contradiction": False, "not_entailment": False}


def pairs() -> Iterator[tuple[str, str, str, bool]]:
    """(set, premise, claim, supported)"""
    for source in sources().values():
        folder, _, name = source.name.partition("/")
        if source.role != "train" or source.ship == "no" or folder != "nli" or name.startswith(NO_PROSE):
            continue
        for row in load_for_training(source.name):
            if row.get("premise") and row.get("hypothesis") and row.get("label") in LABELS:
                yield name, row["premise"], row["hypothesis"], LABELS[row["label"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", default="", help="a check whose hits are printed")
    arguments = parser.parse_args()
    hits = {name: [0, 0] for name in OVERSTATEMENTS}
    seen = [0, 0]
    for name, premise, claim, supported in pairs():
        seen[supported] += 1
        sentence = nearest_sentence(claim, premise)
        if not sentence or claim.strip() in sentence:
            continue
        if overlap(claim, sentence) < CLOSE and len(sentence_spans(premise)) > LONG:
            continue
        for kind, check in OVERSTATEMENTS.items():
            if said := check(claim, sentence, premise):
                hits[kind][supported] += 1
                if kind == arguments.show:
                    print(f"{name}\t{supported}\t{said}\t{sentence}\t{claim}")
    print(f"{seen[False]} unsupported and {seen[True]} supported claims")
    for kind, (unsupported, supported) in hits.items():
        print(f"{kind:24} unsupported {unsupported:5} supported {supported:5}")


if __name__ == "__main__":
    main()
