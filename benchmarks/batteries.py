"""Two batteries from the answer's side: chat answers with a planted error, and questions to a firm's papers.

    python -m benchmarks.batteries [--firms 5] [--entailer NAME]

In: ``benchmarks/batteries/chat_answers.jsonl`` (40 papers, three answers of a chat assistant to each, half of
them with one planted error) and ``firms.jsonl`` (five invented firms, nine papers and fifty questions each, a
fifth of the questions unanswerable), written by a large language model that had seen neither the code nor its
tests. Kept for reporting: nothing is fitted to them or chosen on them. Out: docs/measurements/batteries.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import citewell
from benchmarks.reporting import table, write
from citewell.core.records import Status
from citewell.evaluation.intervals import clopper_pearson

FOLDER = Path(__file__).with_name("batteries")
RIGHT = 0.6
"""The share of the expected words an answer must contain in one run to count as right."""


def lines(name: str) -> Iterator[dict[str, Any]]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def share(hits: int, n: int) -> str:
    low, high = clopper_pearson(hits, n)
    return f"{hits / n:.2f} [{low:.2f}, {high:.2f}] of {n}"


def chat_answers(entailer: str = "embedded") -> tuple[Counter[str], dict[str, Counter[bool]]]:
    """Sentences by truth and whether they are flagged; caught or not, by kind of error."""
    counts: Counter[str] = Counter()
    kinds: dict[str, Counter[bool]] = {}
    for row in lines("chat_answers.jsonl"):
        for answer in row["answers"]:
            text = answer["answer"]
            report = citewell.verify(
                answer=text, sources=[row["paper"]], question=answer["question"], entailer=entailer
            )
            ends = [match.end() for match in re.finditer(r"\[1\]\.?(?=\s|$)", text)]
            for number, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
                found = [claim for claim in report.claims if start <= claim.answer_start < end]
                flagged = any(claim.verdict.status is not Status.VERIFIED for claim in found)
                wrong = number == answer["wrong"]
                counts["wrong" if wrong else "true"] += 1
                counts[f"{'wrong' if wrong else 'true'} flagged"] += flagged
                counts["without a claim"] += not found
                if wrong:
                    kinds.setdefault(answer["error"], Counter())[flagged] += 1
    return counts, kinds


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def shows(answer: str, expected: str) -> bool:
    """Whether most of the expected words occur in the answer in one run."""
    wanted = words(expected)
    found = SequenceMatcher(None, wanted, words(answer), autojunk=False)
    return found.find_longest_match().size >= max(1, RIGHT * len(wanted))


def questions(firms: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for firm in list(lines("firms.jsonl"))[:firms]:
        with tempfile.TemporaryDirectory() as folder:
            papers = Path(folder, "papers")
            papers.mkdir()
            for paper in firm["papers"]:
                (papers / paper["name"]).write_text(paper["text"], encoding="utf-8")
            with citewell.open(Path(folder, "home")) as kb:
                kb.ingest(papers)
                for asked in firm["questions"]:
                    answer = kb.ask(asked["question"])
                    told = [claim for claim in answer.claims if claim.shown]
                    kind = "answerable" if asked["answer"] else "unanswerable"
                    counts[kind] += 1
                    if not told:
                        counts[f"{kind} refused"] += 1
                    elif asked["answer"] and shows(answer.text, asked["answer"]):
                        counts["right"] += 1
                    else:
                        counts[f"{kind} something else"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--firms", type=int, default=5, help="of the five firms")
    parser.add_argument("--entailer", default="", help="shows the chat answers alone, with this one")
    told = parser.parse_args()
    firms = told.firms
    checked, kinds = chat_answers(told.entailer or "embedded")
    if told.entailer:
        caught, flagged = (share(checked[f"{kind} flagged"], checked[kind]) for kind in ("wrong", "true"))
        print(f"{told.entailer}: caught {caught}, true ones flagged {flagged}")
        return
    asked = questions(firms)
    by_kind = [(kind, str(n.total()), str(n[True])) for kind, n in sorted(kinds.items())]
    caught = share(checked["wrong flagged"], checked["wrong"])
    flagged = share(checked["true flagged"], checked["true"])
    right = share(asked["right"], asked["answerable"])
    other = share(asked["answerable something else"], asked["answerable"])
    refused = share(asked["unanswerable refused"], asked["unanswerable"])
    rows = [
        ("sentences with a planted error that `verify` does not pass", caught, ".85"),
        ("true sentences that it does not pass", flagged, "at most .10"),
        ("answerable questions whose words are shown", right, ".70"),
        ("answerable questions to which only something else is shown", other, "at most .15"),
        ("unanswerable questions declined", refused, ".90"),
    ]
    body = f"""`python -m benchmarks.batteries`{f" --firms {firms}" if firms < 5 else ""}: chat answers over
forty papers, and questions to the papers of {firms} invented firms, written by a large language model that
had seen neither the code nor its tests. Exact 95 % intervals. Nothing is chosen or fitted on them.

{table(("", "measured", "aimed at"), rows)}

A question counts as answered correctly if the answer contains at least {RIGHT:.0%} of the expected words in
one run, whatever else it contains.

Planted errors by kind:

{table(("error", "n", "caught"), by_kind)}"""
    write("batteries", "Chat answers and a firm's questions", body, {"checked": checked, "asked": asked})
    print(body)


if __name__ == "__main__":
    main()
