"""Any number of records for measuring logs: five claims each, short bodies, distributed as a working system
might have them.

In: a size. Out: stretches of records as numbers (who asked, what was cited, the outcome), and the names and
bodies that the numbers stand for. Users and documents are drawn unevenly; times are spread over a year.
Seeded: the same size gives the same records. Personal texts are left out (``real_record`` has them). Written
to a log by :mod:`benchmarks.audit_bulk`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from citewell.audit.profiles import DAY, Profile, confidence_band, timestamp_of
from citewell.core.records import (
    AuditRecord,
    Citation,
    Claim,
    ConfidenceReport,
    Decision,
    Kind,
    Maker,
    Measure,
    Proof,
    RetrievalResult,
    Status,
    Verdict,
)

START = 1_762_646_400_000_000
YEAR = 365 * DAY
BATCH = 5_000
CLAIMS = 5
CHUNKS = 20
FLAG = "thumbs_down"
FLAGGED_EACH = 400
"""One record in this many was flagged by its reader."""
Numbers = NDArray[np.int64]


class Spread:
    """Numbers below ``count``, n drawn with probability proportional to 1 / (n + shift)."""

    def __init__(self, count: int, shift: float) -> None:
        self.count = count
        self._edges = np.cumsum(1 / (np.arange(count) + shift))

    def draw(self, draw: random.Random) -> int:
        return int(self._of(np.array([draw.random()]))[0])

    def many(self, draw: np.random.Generator, k: int) -> Numbers:
        return self._of(draw.random(k))

    def _of(self, chances: NDArray[np.float64]) -> Numbers:
        return np.searchsorted(self._edges, chances * self._edges[-1]).astype(np.int64)


@dataclass(frozen=True)
class Stretch:
    """Records from seq ``first + 1`` on, as numbers: the outcome and user of each; for each claim the
    document, which of its chunks and which of its two versions."""

    first: int
    outcomes: Numbers
    users: Numbers
    documents: Numbers
    places: Numbers
    versions: Numbers

    @property
    def seqs(self) -> Numbers:
        return np.arange(self.first + 1, self.first + 1 + len(self.outcomes))


class Generator:
    """Draws values, and the records made from them."""

    models = ("extractive", "openai:small", "openai:large", "local:writer")
    prompts = tuple(f"sha256:prompt{n}" for n in range(6))
    failures = ("relevance_gate_failed", "hallucination_detected", "citation_broken", "generator_failed")

    def __init__(self, size: int) -> None:
        self.size = size
        self.end = START + YEAR
        self.users = Spread(max(50, size // 500), 20)
        self.documents = Spread(max(100, min(50_000, size // 100)), 5)
        self.outcomes = _outcomes(self)
        self._edges = np.cumsum([outcome.weight for outcome in self.outcomes])

    def user(self, draw: random.Random) -> str:
        return user_name(self.users.draw(draw))

    def session(self, draw: random.Random) -> str:
        return session_name(draw.randrange(max(1, self.size // 5)))

    def document(self, draw: random.Random) -> str:
        return document_name(self.documents.draw(draw))

    def chunk(self, draw: random.Random) -> str:
        return chunk_name(self.documents.draw(draw), draw.randrange(CHUNKS))

    def some_day(self, draw: random.Random) -> dict[str, str]:
        since = START + draw.randrange(364) * DAY
        return {"since": timestamp_of(since), "until": timestamp_of(since + DAY)}

    def times(self, seqs: Numbers) -> Numbers:
        """Microseconds since 1970, evenly over the year. In two parts: the product exceeds 64 bits."""
        whole, rest = divmod(YEAR, self.size + 1)
        return START + whole * seqs + rest * seqs // (self.size + 1)

    def stretches(self) -> Iterator[Stretch]:
        """The same stretches on every call."""
        for first in range(0, self.size, BATCH):
            draw = np.random.default_rng([self.size, first])
            count = min(BATCH, self.size - first)
            three = self.documents.many(draw, 3 * count).reshape(count, 3)
            yield Stretch(
                first,
                np.searchsorted(self._edges, draw.random(count) * self._edges[-1]),
                self.users.many(draw, count),
                three[:, np.arange(CLAIMS) % 3],
                draw.integers(CHUNKS, size=(count, CLAIMS)),
                draw.integers(2, size=(count, CLAIMS)),
            )


def user_name(user: int) -> str:
    return f"user{user}"


def subject_of(user: int) -> str:
    """The pseudonym."""
    return f"sub_{user:024d}"


def session_name(session: int) -> str:
    return f"ses_{session}"


def document_name(document: int) -> str:
    return f"reports/{document}.pdf"


def version_name(version: int) -> str:
    return f"sha256:v{version}"


def chunk_name(document: int, place: int) -> str:
    return f"c{document}.{place}"


def request_name(seq: int) -> str:
    return f"req_{seq:024d}"


class Outcome:
    """One profile and the body its records share: ``template`` has placeholders for each claim's document,
    chunk and version (:mod:`benchmarks.audit_bulk` fills them), the request and the blinded session."""

    def __init__(self, profile: Profile, template: str, weight: float) -> None:
        self.profile, self.template, self.weight = profile, template, weight


def _outcomes(generator: Generator) -> list[Outcome]:
    """Three hundred, with weights as a working system might have them."""
    draw = random.Random(1)
    found: dict[Profile, Outcome] = {}
    while len(found) < 300:
        statuses = draw.choices(
            ["VERIFIED", "UNSUPPORTED", "CONTRADICTED", "BROKEN", "UNCHECKED"],
            [94, 4, 0.7, 0.4, 0.9],
            k=CLAIMS,
        )
        proofs = [
            draw.choice(["verbatim", "numeric", "entailed"]) if s == "VERIFIED" else None for s in statuses
        ]
        overall = draw.choice([0.95, 0.95, 0.9, 0.7, 0.4])
        error = draw.random() < 0.01
        decision = "" if error else "ANSWER" if overall > 0.85 else "PARTIAL" if overall > 0.6 else "ABSTAIN"
        failure = draw.choice(generator.failures) if error or decision == "ABSTAIN" else ""
        model, prompt = draw.choice(generator.models), draw.choice(generator.prompts)
        profile = Profile(
            decision="ERROR" if error else decision,
            band=confidence_band(overall),
            statuses=tuple(sorted(set(statuses))),
            broken="BROKEN" in statuses,
            proofs=tuple(sorted({proof for proof in proofs if proof})),
            failure=failure,
            models=tuple(sorted({"minilm", "nli", model})),
            prompts=(prompt,),
            config="sha256:config",
        )
        measure = '{"n":1,"value":0.9}'
        claims = ",".join(
            '{"answer_end":9,"answer_start":0,"citations":[{"answer_end":9,"answer_start":0,'
            '"chunk_id":"c%d.%d","document_id":"reports/%d.pdf","document_version":"sha256:v%d","end":40,'
            '"quote":"a quote","start":10}],"kind":"cited","shown":true,"text":"claim",'
            '"verdict":{"maker":{"name":"nli"},'
            + (f'"proof":"{proof}",' if proof else "")
            + f'"reason":"r","status":"{status}"}}}}'
            for status, proof in zip(statuses, proofs, strict=True)
        )
        template = (
            f'{{"claims":[{claims}],'
            f'"confidence_report":{{"consistency_score":{measure},"coverage_score":{measure},'
            f'"decision":"{decision or "ABSTAIN"}","entailment_score":{measure},'
            f'"hallucination_gap":{measure},'
            f'"overall":{overall},"retrieval_score":{measure},"weights":{{}}}},"config_hash":"sha256:config",'
            f'"error":"{"GeneratorError" if error else ""}","failure_reason":"{failure}",'
            f'"generated_response":"raw","generation_model":"{model}","generation_prompt_hash":"{prompt}",'
            '"index_version":"1","makers":[{"name":"nli"}],"query_embedding_model":"minilm",'
            f'"request_id":"req_%024d","response_decision":"{decision}","retrieval_results":[],'
            '"session_id":{"blind":"%s","sealed":""},"shown_response":"shown","timestamp":"","user":"",'
            '"user_query":"question"}'
        )
        weight = draw.paretovariate(1.2) * (0.05 if error else 1)
        if profile in found:
            found[profile].weight += weight
        else:
            found[profile] = Outcome(profile, template, weight)
    return list(found.values())


def real_record(number: int) -> AuditRecord:
    """A record as the pass writes it: five claims with spans, verdicts and reasons, ten passages, notes."""
    draw = random.Random(number)
    digest = sha256(str(number).encode()).hexdigest()
    maker = Maker(
        name="citewell-verifier/1 + deberta", hash=f"sha256:{digest}", threshold=0.5, card="support/1"
    )

    def claim(place: int) -> Claim:
        verified = draw.random() < 0.94
        status = Status.VERIFIED if verified else Status.UNSUPPORTED
        verdict = Verdict(
            status=status,
            reason="the source says it in these words"
            if verified
            else "no sentence of the source supports it",
            maker=maker,
            proof=Proof.VERBATIM if verified else None,
            support=draw.random(),
            entailment=draw.random(),
            contradiction=draw.random(),
        )
        words = (
            f"Purchases of property, plant and equipment were {draw.randrange(9999)} million dollars in 2022"
        )
        citation = Citation(
            chunk_id=f"sha256:{sha256(digest.encode() + bytes([place])).hexdigest()}",
            document_id=f"reports/{draw.randrange(500)}_2022_10K.pdf",
            document_version=f"sha256:{digest}",
            start=1000 * place,
            end=1000 * place + len(words),
            quote=words,
            answer_start=100 * place,
            answer_end=100 * place + 90,
            section_path=("Item 8", "Consolidated Statements of Cash Flows"),
            page=57,
            verdict=verdict,
        )
        return Claim(
            text=words, kind=Kind.CITED, answer_start=100 * place, answer_end=100 * place + 90,
            verdict=verdict, citations=(citation,), aspect="capital expenditure",
        )  # fmt: skip

    measure = Measure(value=0.91, n=5, maker=maker.name)
    claims = tuple(claim(place) for place in range(CLAIMS))
    return AuditRecord(
        request_id=f"req_{number:024d}",
        timestamp=timestamp_of(START + number * 1_000_000),
        user=f"user{draw.randrange(2000)}",
        session_id=f"ses_{number // 5:024d}",
        user_query="What was the capital expenditure in fiscal year 2022, and how was it the year before?",
        query_embedding_model="embedder/1",
        index_version="17",
        config_hash=f"sha256:{digest}",
        retrieval_results=tuple(
            RetrievalResult(
                chunk_id=f"sha256:{sha256(bytes([place])).hexdigest()}",
                document_id=f"reports/{place}_2022_10K.pdf",
                document_version=f"sha256:{digest}",
                similarity_score=draw.random(),
                reranker_score=draw.random(),
                was_used_in_generation=place < 3,
            )
            for place in range(10)
        ),
        generation_model="extractive/1",
        generation_prompt_hash="",
        generated_response=" ".join(c.text for c in claims),
        shown_response=" ".join(c.text for c in claims),
        claims=claims,
        confidence_report=ConfidenceReport(
            retrieval_score=measure,
            coverage_score=measure,
            entailment_score=measure,
            consistency_score=Measure(value=None, n=0, note="one run"),
            weights={"retrieval": 0.3, "coverage": 0.2, "entailment": 0.4, "consistency": 0.1},
            overall=0.91,
            hallucination_gap=measure,
            decision=Decision.ANSWER,
            reasons=("confidence is 0.91; every claim is verified and every aspect covered",),
        ),
        response_decision="ANSWER",
        makers=(maker, *(Maker(name=f"model/{n}", hash=f"sha256:{digest}") for n in range(4))),
        parameters={"filters": {"groups": ["staff"]}, "top_k": 5, "pool": 50, "runs": 1},
        environment={
            "python": "3.11.7",
            "machine": "x86_64",
            "onnxruntime": "1.31.1",
            "processor": "AVX512F",
        },
        latency_ms={"retrieval": 61.2, "gate": 3.1, "generation": 10.4, "verification": 80.5, "total": 161.7},
        notes=tuple(
            f"retrieval: {name} 12.{place} ms" for place, name in enumerate(("chunk", "summary", "bm25"))
        ),
    )
