"""``citewell eval sample``: judge claims by hand, one after the other.

In: arguments and key presses. Out: labels in the log; how far people and the verifier agree.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.commands import CommandResult, command
from citewell.cli.evaluation import evaluation
from citewell.cli.printing import aside, counted, say
from citewell.knowledge.home import KnowledgeBase

if TYPE_CHECKING:
    from citewell.evaluation.sampling import HumanAgreement, Sample

KEYS = {"s": "supported", "p": "partly", "n": "not", "c": "cannot tell"}


@command(evaluation)
def sample(
    kb: KnowledgeBase,
    since: str = "30d",
    n: Annotated[int, typer.Option(min=1, max=2000)] = 50,
    seed: int = 0,
    by: str = "",
) -> CommandResult:
    """Draw recent claims for people to judge blind, then show how far they agree with the verifier.

    --n: Answers to draw, with all claims.
    """
    from citewell.evaluation.sampling import agreement, draw

    drawn = draw(kb, since=since, n=n, seed=seed, by=by)
    if drawn.left_out:
        aside(f"note: left out {counted(drawn.left_out, 'claim')} without a span to show")

    def tell() -> None:
        if not drawn.items:
            return say("No claims to judge.")
        _ask(kb, drawn, by)
        return _tell(agreement(kb, sample_id=drawn.sample_id))

    return CommandResult(drawn, tell)


def _ask(kb: KnowledgeBase, drawn: Sample, by: str) -> None:
    """Asks about each claim of the sample that the person has not judged yet."""
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
        if not answer:
            break
        record_label(kb, drawn.sample_id, item.item_id, answer, by=by)
    return None


def _key() -> str:
    """The label typed; "" to stop, also at the end of the input."""
    while True:
        print("> ", end="", flush=True)
        line = sys.stdin.readline()
        word = line.strip().lower()
        if not line or word in ("q", "quit"):
            return ""
        if word in KEYS or word in KEYS.values():
            return KEYS.get(word, word)
        say(f"Type {', '.join(KEYS)} or q.")


def _tell(found: HumanAgreement) -> None:
    if found.raw is None:
        return say("Nothing has been judged yet.")
    kappa = "not measured (one side always gave the same answer)"
    if found.kappa is not None:
        kappa = f"{found.kappa:.2f}" + (
            f" [{found.low:.2f}, {found.high:.2f}]" if found.low is not None else ""
        )
    say(f"People and the verifier: kappa {kappa}, n {found.n}, {found.unscored} unscored")
    say(f"They agree on {found.raw:.1%} of claims (weighted to all claims that could be drawn).")
    for stratum, counts in found.table.items():
        say(f"    {stratum:<36}{', '.join(f'{n} {word}' for word, n in counts.items() if n)}")
    return None
