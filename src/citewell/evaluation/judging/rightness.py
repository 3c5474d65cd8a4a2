"""Whether what became of a case is what should have: a right answer, or a refusal where there is none.

In: a case, where its spans stand, what was observed. Out: right, wrong or "nobody can tell", and what says
so. A run and a calibration card mean the same by "right" because both ask here. Knows nothing about measures.
"""

from __future__ import annotations

from citewell.core.records import Case
from citewell.evaluation.judging.correctness import says
from citewell.evaluation.judging.relevance import Located, cites
from citewell.evaluation.observed import Observed
from citewell.verification.claims import parse_answer


def judged_right(case: Case, located: Located, observed: Observed) -> tuple[bool | None, str]:
    """Whether the outcome is right, and what says so; None where nothing can."""
    if case.abstain:
        said = "answered, where there is no answer" if observed.answered else "refused, as it should"
        return not observed.answered, said
    if not case.expected and not case.spans:
        return None, "the case says neither what is expected nor where it stands"
    if located.problem and not case.expected:
        return None, located.problem
    if not observed.answered:
        return False, "refused, where there is an answer"
    if case.expected:
        return says(case.expected, words_of(observed), units_of(observed))
    cited = [citation for claim in observed.stated for citation in claim.citations if citation.start >= 0]
    held = cites(located, cited)
    return held, "it cites an expected span" if held else "it cites no expected span"


def words_of(observed: Observed) -> str:
    """What the answer says, without the marks of its citations."""
    return parse_answer(observed.text).text


def units_of(observed: Observed) -> str:
    """What stands around the cited passages, units among it."""
    cited = {citation.chunk_id for claim in observed.claims for citation in claim.citations}
    return "\n".join(p.chunk.context for p in observed.passages if p.chunk.chunk_id in cited)
