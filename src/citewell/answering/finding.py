"""Passages for a question, without what is poisoned, and whether they can answer it.

In: a question, its aspects, the journal. Out: passages in the journal and the gate's word; later, more
passages for the aspects that a draft could not cover, and what stands near its claims. Poisoned passages are
set aside *before* the gate, so that an attacker's passage cannot open it. Knows nothing about drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from citewell.answering.asking import Ask
from citewell.answering.journal import Journal
from citewell.answering.questioning import Questioner
from citewell.core.config import Config
from citewell.core.ports import Extractor, GateJudge
from citewell.core.records import Passage
from citewell.retrieval import Retrieved, Retriever
from citewell.retrieval.gate import GateResult, check_gate
from citewell.retrieval.quarantine import repeated, set_poison_aside

BROADENED = "broadened retrieval"
MORE = "retrieval for missing aspects"
CONTRARY = "search with the claims"
MOST_SEARCHES, LONGEST_MISSING = 8, 300
"""Of things a writer says are missing, and their characters: it may be anything that it says."""
SEARCHED_AS, SEARCHED_ALSO = "searched_as", "searched_also"
"""In a record's parameters: the question as a language model left it, and what was searched for by itself as
it was missing, in its order."""

Aside = Callable[[str, Sequence[Passage], Sequence[Passage]], Sequence[Passage]]
"""Question, passages and the pool they were chosen from -> the same passages, some set aside."""
Gate = Callable[..., GateResult]
"""As :func:`citewell.retrieval.gate.check_gate`."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """``pin`` keeps an index version for ever; ``judge`` takes the extractor's place at the gate.
    ``aside`` and ``gate`` are other than the filter and the gate only in a probe, which tells what each is
    worth."""

    retriever: Retriever
    extractor: Extractor
    config: Config
    pin: Callable[[str], None]
    questioner: Questioner | None = None
    judge: GateJudge | None = None
    aside: Aside = set_poison_aside
    gate: Gate = check_gate

    def find(self, ask: Ask, aspects: Sequence[str], journal: Journal, *, broaden: bool = False) -> bool:
        """Passages into the journal; whether they can answer. ``broaden`` on the second and last try."""
        retriever, question = self.retriever, ask.question
        if self.questioner is not None:
            if hypothesis := self.questioner.hypothesis(question, journal):
                retriever = retriever.beside(hypothesis)
            question = self.questioner.reformulate(question, journal) if broaden else question
            journal.parameters[SEARCHED_AS] = question
        with journal.stage(BROADENED if broaden else "retrieval") as notes:
            found = retriever.retrieve(
                question, filters=ask.filters, top_k=ask.top_k, pool=ask.pool, broaden=broaden
            )
            # The version is kept for ever: the record names it, and a replay opens it again.
            self.pin(found.index_version)
            journal.index_version = found.index_version
            journal.looked_into(found.documents)
            notes += [*found.notes, *(f"{name} {took:.1f} ms" for name, took in found.latencies.items())]
        with journal.stage("poison filter") as notes:
            journal.passages = tuple(self.aside(ask.question, found.passages, found.pool))
            journal.beside = self._may_gainsay(ask, found)
            notes += [f"{p.chunk.chunk_id}: {p.set_aside}" for p in journal.passages if p.set_aside]
            notes += repeated(journal.passages, found.pool)
        with journal.stage("gate") as notes:
            gate = self.gate(
                ask.question, aspects, journal.passages, self.extractor, self.config.gate, self.judge
            )
            journal.gate_passed, journal.gate_reason = gate.passed, gate.reason
            notes += [gate.reason, *gate.notes]
            if gate.said is not None:
                notes += [journal.paid(gate.said.usage, gate.said.cost), *gate.said.notes]
        return gate.passed

    def find_more(self, ask: Ask, lacking: Sequence[str], journal: Journal) -> tuple[Passage, ...]:
        """One broader search for each thing that lacks evidence; what it found to use, the best of each
        before the second best of any."""
        journal.parameters[SEARCHED_ALSO] = list(lacking)
        with journal.stage(MORE) as notes:
            known = {passage.chunk.chunk_id for passage in journal.passages}
            before = len(journal.passages)
            ranks: dict[str, int] = {}
            for aspect in lacking:
                found = self.retriever.retrieve(
                    aspect, filters=ask.filters, top_k=ask.top_k, pool=ask.pool, broaden=True
                )
                if found.index_version != journal.index_version:
                    notes.append(f"{aspect}: the index changed meanwhile, so these passages were not used")
                    continue
                journal.looked_into(found.documents)
                journal.beside += self._may_gainsay(ask, found)
                fresh = unknown(found, known)
                known |= {passage.chunk.chunk_id for passage in fresh}
                ranks |= {passage.chunk.chunk_id: rank for rank, passage in enumerate(fresh)}
                journal.passages += tuple(fresh)
                notes.append(f"{aspect}: {len(fresh)} more passages")
            journal.passages = tuple(self.aside(ask.question, journal.passages, ()))
            more = journal.passages[before:]
            notes += [f"{p.chunk.chunk_id}: {p.set_aside}" for p in more if p.set_aside]
        kept = [passage for passage in more if not passage.set_aside]
        return tuple(sorted(kept, key=lambda passage: ranks[passage.chunk.chunk_id]))

    def find_contrary(self, ask: Ask, statements: Sequence[str], journal: Journal) -> None:
        """The index, as the asker may see it, searched with what is to be shown: a source that says otherwise
        need not be near the question."""
        with journal.stage(CONTRARY) as notes:
            # A passage that was read and lies under the threshold still gainsays.
            relevant = (passage for passage in journal.passages if passage.relevant)
            known = {passage.chunk.chunk_id for passage in (*relevant, *journal.beside)}
            searched = 0
            for statement in statements[:MOST_SEARCHES]:
                found = self.retriever.near(statement, filters=ask.filters)
                if found.index_version != journal.index_version:
                    notes.append("the index changed meanwhile")
                    break
                searched += 1
                fresh = [p for p in self._may_gainsay(ask, found) if p.chunk.chunk_id not in known]
                journal.beside += tuple(fresh)
                known |= {passage.chunk.chunk_id for passage in fresh}
            notes.append(f"{searched} of {len(statements)} statements searched for")

    def _may_gainsay(self, ask: Ask, found: Retrieved) -> tuple[Passage, ...]:
        """What was found and gives no orders. Each is filtered alone: a flood of one statement is told by its
        number, and a copy can still gainsay another source."""
        alone = (self.aside(ask.question, (passage,), ())[0] for passage in found.beside)
        return tuple(passage for passage in alone if not passage.set_aside)


def searchable(missing: Sequence[str], aspects: Sequence[str]) -> list[str]:
    """What of ``missing`` is searched for: aspects, then what a writer says is missing in its own words, as
    far as that is words for a search and not too many."""
    own = [words for words in missing if words not in aspects and len(words) <= LONGEST_MISSING]
    words = [*(aspect for aspect in aspects if aspect in missing), *own]
    return [one for one in words if any(map(str.isalnum, one))][: max(MOST_SEARCHES, len(aspects))]


def unknown(found: Retrieved, known: Collection[str]) -> list[Passage]:
    """What a further search adds: relevant passages that were not found before."""
    return [p for p in found.passages if p.relevant and p.chunk.chunk_id not in known]
