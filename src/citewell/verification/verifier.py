"""The verdict on a claim, given the texts that should support it.

In: claims and their evidence. Out: one :class:`Verdict` each, with its proof and its reason in plain words.

    verbatim    the whole statement is in the evidence, with nothing around it that changes its meaning
                (:mod:`citewell.verification.standing`)
    numeric     every number is in cells of the one row, or in the one sentence, that the claim is about, and
                exact code or the entailer finds the rest of the claim there
    entailed    the calibrated probability of support (:mod:`citewell.verification.support`) reaches the
                threshold
    otherwise   contradicted if the entailer says so for a text about the same thing
                (:mod:`citewell.verification.objections`), else unsupported; unchecked if nothing could be
                judged

Each text is read alone, then the nearest sentences of all texts together if no text alone suffices,
so that more evidence never lowers the best support. Independent of answers, markers and spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from citewell.core.config import Verification
from citewell.core.errors import CitewellError
from citewell.core.identity import hash_value
from citewell.core.metering import must_go_on
from citewell.core.ports import Entailer
from citewell.core.records import Entailment, Label, Maker, Proof, Record, Status, Verdict
from citewell.core.sentences import blanked, sentence_spans
from citewell.questions.parsing import yes_or_no
from citewell.verification.cells import place_numbers, proven_by_cells
from citewell.verification.evidence import ClaimEvidence, EvidenceText, as_evidence, not_english
from citewell.verification.lexicon import NEGATIONS
from citewell.verification.numbers import check_numbers
from citewell.verification.objections import (
    DENIED_CEILING,
    OBJECTIONS,
    Objection,
    another_subject,
    lacking,
    nearest_words,
    objection,
    speaks_of,
    support_reason,
)
from citewell.verification.quantities import MOST_DIGITS, extract_values, has_long_number
from citewell.verification.standing import copies_sentence, qualifying_headings, stands_whole
from citewell.verification.support import card_of, support
from citewell.verification.words import ENOUGH, nearest_sentence, overlap, words_of

NAME = "citewell-verifier/1"
_JOINED_SENTENCES = 8  # maximum sentences joined from all texts if no text alone suffices


class _Read(Record, frozen=True, kw_only=True):
    """Result for one premise. ``support`` is calibrated and capped; None if the model could not judge it."""

    premise: EvidenceText
    entailment: Entailment
    support: float | None
    objection: str = ""


class Verifier:
    """``settings`` holds the thresholds; ``card`` is the hash of the calibration card that set them ("" for
    none: verdicts then name the calibration behind support). The entailer shares no weights with the writer
    of the claims. ``objections`` are the exact checks; a subset serves to measure the effect of each."""

    def __init__(
        self,
        entailer: Entailer,
        settings: Verification | None = None,
        *,
        card: str = "",
        objections: Mapping[str, Objection] = OBJECTIONS,
    ) -> None:
        self._entailer = entailer
        self._objections = objections
        self._settings = settings or Verification()
        inner = entailer.maker
        self.maker = Maker(
            name=f"{NAME} + {inner.name}",
            hash=inner.hash,
            prompt_hash=inner.prompt_hash,
            threshold=self._settings.support_threshold,
            card=card or card_of(inner),
        )
        self._exact = Maker(name=NAME, hash=hash_value({"exact code": NAME}))

    def verify(
        self,
        claim_text: str,
        evidence_texts: Sequence[str | EvidenceText],
        *,
        context: str = "",
        asked: str = "",
        antecedent: str = "",
    ) -> Verdict:
        """One verdict. A model failure gives UNCHECKED and does not raise."""
        evidence = tuple(as_evidence(text) for text in evidence_texts)
        question = ClaimEvidence(
            claim=claim_text, evidence=evidence, context=context, asked=asked, antecedent=antecedent
        )
        return self.verify_many([question])[0]

    def verify_many(self, questions: Sequence[ClaimEvidence]) -> list[Verdict]:
        """One verdict per question, in order; at most two batched calls to the model."""
        settled = []
        for question in questions:
            must_go_on()
            settled.append(self._settled(question))
        open_ones = [i for i, verdict in enumerate(settled) if verdict is None]
        reads = iter(
            self._read([(questions[i], premise) for i in open_ones for premise in questions[i].evidence])
        )
        grouped = {i: [next(reads) for _ in questions[i].evidence] for i in open_ones}
        composed = [(i, joined) for i in open_ones if (joined := self._joined(questions[i], grouped[i]))]
        for (i, _), read in zip(composed, self._read([(questions[i], j) for i, j in composed]), strict=True):
            grouped[i].append(read)
        return [
            verdict if verdict is not None else self._verdict(questions[i], grouped[i])
            for i, verdict in enumerate(settled)
        ]

    def scores(self, claim: str, texts: Sequence[str]) -> list[float]:
        """Support for each text, to choose among spans; 0.0 if the entailer could not judge it."""
        reads = self._read(
            [(ClaimEvidence(claim=claim, evidence=()), EvidenceText(text=text)) for text in texts]
        )
        return [read.support if read.support is not None else 0.0 for read in reads]

    # --- exact code ---------------------------------------------------------------------------------

    def _settled(self, question: ClaimEvidence) -> Verdict | None:
        """Verdict without a model: nothing to judge, a verbatim statement, or a cell proving the claim."""
        claim = question.claim.strip()
        if not any(letter.isalnum() for letter in claim):
            return self._unchecked("the claim is empty")
        texts = [evidence for evidence in question.evidence if evidence.text.strip()]
        if not texts:
            return self._unchecked("there is no source to check it against")
        foreign = not_english(claim)
        if foreign:
            return self._unchecked(f"the verification models only know English (the claim: {foreign})")
        english = [evidence for evidence in texts if not self._foreign(evidence)]
        if not english:
            return self._unchecked(
                f"the verification models only know English (the source: {self._foreign(texts[0])})"
            )
        own = not (question.asked and yes_or_no(claim, question.asked))
        for evidence in english if own else ():  # a "Yes." in a source answers another question
            whole = stands_whole(claim, evidence.text, evidence.sections)
            if whole and not another_subject(question, evidence):
                return proven(Proof.VERBATIM, "the source says it in these words", self._exact)
        if has_long_number(hypothesis(question)):
            return self._unchecked(f"a number longer than {MOST_DIGITS} digits is not compared")
        for evidence in english if own else ():
            if cell := proven_by_cells(claim, evidence):
                head = f" under \u201c{' '.join(cell.head.split())}\u201d" if cell.head else ""
                reason = f"the row \u201c{cell.label}\u201d{head} has {cell.cell.strip()}"
                return proven(Proof.NUMERIC, reason, self._exact)
        return None

    @staticmethod
    def _foreign(evidence: EvidenceText) -> str:
        if evidence.language and evidence.language.split("-")[0].lower() != "en":
            return f"it is marked as {evidence.language!r}"
        return not_english(evidence.text)

    # --- the model ----------------------------------------------------------------------------------

    def _read(self, pairs: Sequence[tuple[ClaimEvidence, EvidenceText]]) -> list[_Read]:
        if not pairs:
            return []
        asked = [(_framed(question, evidence), hypothesis(question)) for question, evidence in pairs]
        try:
            answers = self._entailer.entail(asked)
        except (CitewellError, RuntimeError, ValueError, LookupError, OSError) as error:
            reason = f"the verification model failed: {type(error).__name__}: {error}"
            answers = [Entailment.without(reason)] * len(asked)
        return [
            self._weighed(question, evidence, answer)
            for (question, evidence), answer in zip(pairs, answers, strict=True)
        ]

    def _weighed(self, question: ClaimEvidence, evidence: EvidenceText, answer: Entailment) -> _Read:
        foreign = self._foreign(evidence)
        if answer.entailment is None or answer.contradiction is None or foreign:
            reason = answer.unchecked or (
                f"the source: {foreign}" if foreign else "the model returned no probability"
            )
            return _Read(premise=evidence, entailment=Entailment.without(reason), support=None)
        probability = support(evidence.text, answer, hypothesis(question), maker=self._entailer.maker)
        found = objection(question, evidence, self._objections)
        held = min(probability, DENIED_CEILING) if found else probability
        return _Read(premise=evidence, entailment=answer, support=held, objection=found)

    def _joined(self, question: ClaimEvidence, reads: Sequence[_Read]) -> EvidenceText | None:
        """The nearest sentences of several texts as one premise, if no text suffices alone; else None."""
        supports = [read.support for read in reads if read.support is not None]
        if len(supports) < 2 or max(supports) >= self._settings.support_threshold:
            return None
        ranked = []
        for number, read in enumerate(reads):
            text = read.premise.text
            for start, end in sentence_spans(text):
                share = overlap(question.claim, text[start:end])
                if share > 0.0:
                    ranked.append((-share, number, start, text[start:end]))
        nearest = sorted(sorted(ranked)[:_JOINED_SENTENCES], key=lambda item: (item[1], item[2]))
        if len({number for _, number, _, _ in nearest}) < 2:
            return None
        context = "\n".join(read.premise.context for read in reads if read.premise.context)
        lines = tuple(line for read in reads for line in read.premise.lines)
        return EvidenceText(text="\n".join(text for *_, text in nearest), context=context, lines=lines)

    # --- the verdict --------------------------------------------------------------------------------

    def _verdict(self, question: ClaimEvidence, reads: Sequence[_Read]) -> Verdict:
        judged = [read for read in reads if read.support is not None]
        if not judged:
            reason = next((read.entailment.unchecked for read in reads if read.entailment.unchecked), "")
            return self._unchecked(reason or "the model could not judge it")
        best = max(judged, key=lambda read: read.support or 0.0)
        probability = best.support or 0.0
        if probability >= self._settings.support_threshold:
            return self._scored(
                Status.VERIFIED,
                best,
                probability,
                support_reason(question.claim, best.premise, question.context),
                proof=_proof(question, best),
            )
        objection = best.objection or next((read.objection for read in judged if read.objection), "")
        worst = self._denying(question, judged)
        reason = objection or lacking(
            question.claim,
            best.premise,
            [read.premise for read in judged],
            context=question.context,
            asked=question.asked,
        )
        if worst is not None:
            reason = reason or nearest_words(question.claim, worst.premise)
            return self._scored(
                Status.CONTRADICTED,
                worst,
                probability,
                f"the source says something different: {reason}".rstrip(": "),
            )
        if any(copies_sentence(question.claim, read.premise.text) for read in judged):
            reason = reason or "the source has this sentence, but it may not be what the source states"
        reason = f"{reason or 'no passage says this'}{_partly(reads[: len(question.evidence)])}"
        return self._scored(Status.UNSUPPORTED, best, probability, reason)

    def _denying(self, question: ClaimEvidence, judged: Sequence[_Read]) -> _Read | None:
        """The read with the strongest contradiction, among texts about what the claim states, or None."""
        denying = [
            read
            for read in judged
            if (read.entailment.contradiction or 0.0) >= self._settings.contradiction_threshold
            and speaks_of(question.claim, read.premise.text, _told(question, read.premise))
            and not another_subject(question, read.premise)
            and not copies_sentence(question.claim, read.premise.text)  # no text denies its own sentence
            and not (_at_place(question, read.premise) and NEGATIONS.isdisjoint(words_of(question.claim)))
        ]
        return max(denying, key=lambda read: read.entailment.contradiction or 0.0, default=None)

    def _scored(
        self, status: Status, read: _Read, probability: float, reason: str, *, proof: Proof | None = None
    ) -> Verdict:
        answer = read.entailment
        assert answer.entailment is not None and answer.contradiction is not None  # noqa: S101, PT018 - judged
        labels = {
            Label.ENTAILMENT: answer.entailment,
            Label.CONTRADICTION: answer.contradiction,
            Label.NEUTRAL: 1.0 - answer.entailment - answer.contradiction,
        }
        label = max(labels, key=lambda name: labels[name])
        return Verdict(
            status=status, reason=reason, maker=self.maker, label=label, proof=proof, support=probability,
            entailment=answer.entailment, contradiction=answer.contradiction,
        )  # fmt: skip

    def _unchecked(self, reason: str) -> Verdict:
        return Verdict(status=Status.UNCHECKED, reason=reason, maker=self.maker)


def proven(proof: Proof, reason: str, maker: Maker) -> Verdict:
    """Exact code found the statement itself, so the probability of support is 1."""
    return Verdict(
        status=Status.VERIFIED, reason=reason, maker=maker, label=Label.ENTAILMENT, proof=proof, support=1.0
    )


def hypothesis(question: ClaimEvidence) -> str:
    """The entailer's hypothesis: the claim, or the question and the fragment that answers it."""
    asked = question.asked.strip()
    if not asked:
        return question.claim
    return yes_or_no(question.claim, asked) or f"{asked} {question.claim}"


def _framed(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """The text, preceded by headings that may change its meaning and are not in it."""
    above = [
        name for name in qualifying_headings(evidence.sections, question.claim) if name not in evidence.text
    ]
    return "\n".join([*above, evidence.text])


def _proof(question: ClaimEvidence, best: _Read) -> Proof:
    """NUMERIC if the claim states a value and all its values are in cells of the one row meant, or all its
    numbers in the sentence nearest to its words; else ENTAILED."""
    claim, premise = question.claim, best.premise
    values = extract_values(claim)
    if not values:
        return Proof.ENTAILED
    if _at_place(question, premise):
        return Proof.NUMERIC
    context = premise.around(question.context)
    sentence = nearest_sentence(blanked(claim, values), premise.text)
    held = sentence and all(check.holds for check in check_numbers(claim, sentence, context))
    return Proof.NUMERIC if held else Proof.ENTAILED


def _at_place(question: ClaimEvidence, premise: EvidenceText) -> bool:
    """Whether the claim states a value and all its values are in cells of the one row meant."""
    values = extract_values(question.claim)
    placed = place_numbers(question.claim, premise.lines, premise.around(question.context))
    return (
        0 < len(values) == len(placed)
        and len({cell.label for cell in placed}) == 1
        and all(overlap(cell.label, question.claim) >= ENOUGH and not cell.misplaced for cell in placed)
    )


def _partly(reads: Sequence[_Read]) -> str:
    """Suffix for a reason if the model did not read the texts in full, else ""."""
    read, units = sum(r.entailment.read for r in reads), sum(r.entailment.units for r in reads)
    return f" (the model read {read} of {units} sentences or rows)" if read < units else ""


def _told(question: ClaimEvidence, evidence: EvidenceText) -> str:
    """Context that is not evidence: the text around it, and the question asked."""
    return f"{evidence.around(question.context)}\n{question.asked}"
