"""``citewell eval sample``: judge claims by hand, one after the other or in a file.

In: words and keys. Out: labels in the log; how far people and the verifier agree.
"""

from __future__ import annotations

import json as json_form
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import Found, command, evaluation
from citewell.cli.printing import aside, counted, say, visible
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation.sampling import Agreement, Sample

KEYS = {"s": "supported", "p": "partly", "n": "not", "c": "cannot tell"}


Most = Annotated[
    int,
    typer.Option("--n", min=1, max=2000, help="The maximum number of answers; all their claims are shown."),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the claims as JSON lines to fill in.")]


@command(evaluation)
def sample(
    kb: KnowledgeBase,
    since: str = "30d",
    n: Most = 50,
    seed: int = 0,
    out: Out = None,
    labels: Path | None = None,
    by: str = "",
) -> Found:
    """Draw recent claims for people to judge blind, then show how far they agree with the verifier."""
    from citewell.evaluation.sampling import agreement, draw

    if labels is not None:
        _read_back(kb, labels, by)
        found = agreement(kb)
        return Found(found, lambda: _tell(found))
    drawn = draw(kb, since=since, n=n, seed=seed, by=by)
    if drawn.left_out:
        aside(f"note: left out {counted(drawn.left_out, 'claim')} without a span to show")

    def tell() -> None:
        if not drawn.items:
            return say("No claims to judge.")
        if out is not None:
            return _write(drawn, out)
        _ask(kb, drawn, by)
        return _tell(agreement(kb))

    return Found(drawn, tell)


def _ask(knowledge_base: KnowledgeBase, drawn: Sample, by: str) -> None:
    """Claims that they judged before, in this sample or another, are not asked again."""
    from citewell.evaluation.sampling import record_label

    left = [item for item in drawn.items if not item.answered]
    if not left:
        return say("You have judged every claim.")
    say(
        "Do the marked words support the claim? s = supported, p = partly, n = not, c = cannot tell, q = quit"
    )
    for number, item in enumerate(left, 1):
        say(f"\n{number} of {len(left)}")
        say(f"question  {item.question}")
        for span in item.spans:
            say(f"in {span.document_id}:")
            say(f"… {span.before}⟦{span.quote}⟧{span.after} …")
        say(f"claim     {item.text}")
        answer = _key()
        if answer == "q":
            break
        record_label(knowledge_base, drawn.sample_id, item.item_id, KEYS[answer], by=by)
    return None


def _key() -> str:
    """One of the keys; the end of the input stops."""
    while True:
        print("> ", end="", flush=True)
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line or word in ("q", "quit"):
            return "q"
        found = next((key for key, answer in KEYS.items() if word in (key, answer)), "")
        if found:
            return found
        say(f"Type {', '.join(KEYS)} or q.")


def _write(drawn: Sample, out: Path) -> None:
    from citewell.evaluation.cases import write_file

    lines = []
    for item in drawn.items:
        spans = [
            {"document": span.document_id, "before": span.before, "quote": span.quote, "after": span.after}
            for span in item.spans
        ]
        line = {
            "sample": drawn.sample_id,
            "item": item.item_id,
            "question": item.question,
            "spans": spans,
            "claim": item.text,
            "answer": "",  # the person who fills it in may not be the one who was asked before
        }
        lines.append(json_form.dumps(line, ensure_ascii=False))
    write_file(out, ("\n".join(lines) + "\n").encode())
    say(
        f"Wrote {counted(len(lines), 'claim')} to {out}. Fill in each answer "
        f"({', '.join(KEYS.values())}), then run"
    )
    say(f"citewell eval sample --labels {out}")


def _read_back(knowledge_base: KnowledgeBase, path: Path, by: str) -> None:
    """Checks all lines before the first is sealed."""
    from citewell.evaluation.cases import json_lines
    from citewell.evaluation.sampling import ANSWERS, record_label

    said: list[tuple[str, str, str]] = []
    empty = 0
    for where, given in json_lines(path, "give the file that --out wrote, filled in"):
        row = [given.get(key) for key in ("sample", "item", "answer")]
        if not all(isinstance(value, str) for value in row):
            raise UsageError(
                f"{where} lacks sample, item or answer", hint="give the file that --out wrote, filled in"
            )
        sample_id, item, answer = (str(value).strip() for value in row)
        if not answer:
            empty += 1
        elif answer not in ANSWERS:
            hint = f"use one of {', '.join(ANSWERS)}"
            raise UsageError(f"{where}: unknown answer {visible(answer)!r}", hint=hint)
        else:
            said.append((sample_id, item, answer))
    for sample_id, item, answer in said:
        record_label(knowledge_base, sample_id, item, answer, by=by)
    aside(f"Sealed {counted(len(said), 'label')}; left out {counted(empty, 'claim')} without an answer.")


def _tell(found: Agreement) -> None:
    if found.raw is None:
        return say("Nothing has been judged yet.")
    why = " (one side always gave the same answer)" if found.kappa is None else ""
    say(f"People and the verifier: {found.told}{why}")
    say(f"They agree on {found.raw:.1%} of claims (weighted to all claims that could be drawn).")
    for stratum, counts in found.table.items():
        say(f"    {stratum:<36}{', '.join(f'{n} {word}' for word, n in counts.items() if n)}")
    return None
