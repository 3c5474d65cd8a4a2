"""Makes logs of any size for measuring: entries as sealed as real ones, with short bodies, in bulk.

In: a size and an empty log. Out: entries, tree and signed checkpoint in the log's own tables, and the tables
for questions. Five claims a record, users, documents and chunks spread unevenly, a year of time. Seeded: the
same size gives the same log but for keys and pseudonyms. Personal texts are left out (``real_record`` has
them).
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import accumulate
from typing import Any

from citewell.audit.checkpoints import checkpoint
from citewell.audit.log import Log
from citewell.audit.merkle import Frontier, leaf_hash
from citewell.audit.postings import Batch, Flagged, Indexed, Place, Postings
from citewell.audit.profiles import DAY, Axis, Facts, Profile, confidence_band, key_of, timestamp_of
from citewell.identity import TAG, salted_hash
from citewell.records import (
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


class Spread:
    """Numbers below ``count``, the n-th about 1/(n + shift) as often as the first."""

    def __init__(self, count: int, shift: float) -> None:
        self._weights = list(accumulate(1 / (n + shift) for n in range(count)))
        self._count = range(count)

    def draw(self, draw: random.Random, k: int = 1) -> list[int]:
        return draw.choices(self._count, cum_weights=self._weights, k=k)


class Generator:
    """Values, and the records made of them."""

    models = ("extractive", "openai:small", "openai:large", "local:writer")
    prompts = tuple(f"sha256:prompt{n}" for n in range(6))
    failures = ("relevance_gate_failed", "hallucination_detected", "citation_broken", "generator_failed")

    def __init__(self, size: int) -> None:
        self.size = size
        self.end = START + YEAR
        self.users = Spread(max(50, size // 500), 20)
        self.documents = Spread(max(100, min(50_000, size // 100)), 5)
        self.outcomes = _outcomes(self)

    def user(self, draw: random.Random) -> str:
        return f"user{self.users.draw(draw)[0]}"

    def session(self, draw: random.Random) -> str:
        return f"ses_{draw.randrange(max(1, self.size // 5))}"

    def document(self, draw: random.Random) -> str:
        return f"reports/{self.documents.draw(draw)[0]}.pdf"

    def chunk(self, draw: random.Random) -> str:
        return f"c{self.documents.draw(draw)[0]}.{draw.randrange(CHUNKS)}"

    def some_day(self, draw: random.Random) -> dict[str, str]:
        since = START + draw.randrange(364) * DAY
        return {"since": timestamp_of(since), "until": timestamp_of(since + DAY)}


class Outcome:
    """One profile: the parts of a body that are the same for every record that has it."""

    def __init__(self, profile: Profile, before: str, claims: list[str], after: str, weight: float) -> None:
        self.profile, self.before, self.claims, self.after, self.weight = (
            profile,
            before,
            claims,
            after,
            weight,
        )


def _outcomes(generator: Generator) -> list[Outcome]:
    """Some three hundred, with weights as a working system might have them."""
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
        claims = [
            '"kind":"cited","shown":true,"text":"claim","verdict":{"maker":{"name":"nli"},'
            + (f'"proof":"{proof}",' if proof else "")
            + f'"reason":"r","status":"{status}"}}}}'
            for status, proof in zip(statuses, proofs, strict=True)
        ]
        before = (
            f'"confidence_report":{{"consistency_score":{measure},"coverage_score":{measure},'
            f'"decision":"{decision or "ABSTAIN"}","entailment_score":{measure},'
            f'"hallucination_gap":{measure},'
            f'"overall":{overall},"retrieval_score":{measure},"weights":{{}}}},"config_hash":"sha256:config",'
            f'{chr(34)}error{chr(34)}:"{"GeneratorError" if error else ""}","failure_reason":"{failure}",'
            f'"generated_response":"raw","generation_model":"{model}","generation_prompt_hash":"{prompt}",'
            '"index_version":"1","makers":[{"name":"nli"}],"query_embedding_model":"minilm",'
        )
        weight = draw.paretovariate(1.2) * (0.05 if error else 1)
        if profile in found:
            found[profile].weight += weight
        else:
            found[profile] = Outcome(profile, before, claims, f'"response_decision":"{decision}",', weight)
    return list(found.values())


def fill(log: Log, postings: Postings, generator: Generator) -> tuple[float, float]:
    """Seconds for entries and for the tables for questions; the two are made in one go and told apart."""
    took = [0.0]
    begun = time.perf_counter()
    postings.rebuild(_written(log, generator, took))
    return took[0], time.perf_counter() - begun - took[0]


def _written(log: Log, generator: Generator, took: list[float]) -> Iterator[Batch]:
    draw = random.Random(generator.size)
    frontier = Frontier()
    people: dict[int, str] = {}
    pepper = _pepper(log)
    weights = list(accumulate(outcome.weight for outcome in generator.outcomes))
    for first in range(0, generator.size, BATCH):
        begun = time.perf_counter()
        count = min(BATCH, generator.size - first)
        outcomes = draw.choices(generator.outcomes, cum_weights=weights, k=count)
        documents = generator.documents.draw(draw, 3 * count)
        users = generator.users.draw(draw, count)
        for user in set(users) - people.keys():
            people[user] = f"sub_{user:024d}"
        entries, tree, records, requests = [], [], [], []
        for place in range(count):
            seq = first + place + 1
            moment = START + YEAR * seq // (generator.size + 1)
            outcome, subject = outcomes[place], people[users[place]]
            body, keys = _body(seq, outcome, documents[3 * place : 3 * place + 3], subject, pepper, draw)
            stamp = timestamp_of(moment)
            body_hash = TAG + sha256(body.encode()).hexdigest()
            kind = "error" if outcome.profile.decision == "ERROR" else "answer"
            data = (
                f'{{"body":"{body_hash}","format":1,"kind":"{kind}","seq":{seq},"subject":"{subject}",'
                f'"timestamp":"{stamp}"}}'
            )
            tree += frontier.append(leaf_hash(data.encode()))
            entries.append((seq, kind, stamp, subject, body, body_hash))
            requests.append((f"req_{seq:024d}", seq))
            facts = Facts(time=moment, profile=outcome.profile, keys=keys)
            records.append(Indexed(seq=seq, facts=facts))
        _insert(log, entries, tree, requests, frontier)
        leaf = TAG + leaf_hash(data.encode()).hex()
        # One record in 400 was flagged by its reader.
        flags = tuple(
            Flagged(key=key_of(Axis.FLAG, FLAG), seq=record.seq, time=record.facts.time)
            for record in records[::400]
        )
        took[0] += time.perf_counter() - begun
        yield Batch(records=tuple(records), flags=flags, place=Place(seq=first + count, leaf=leaf))
    begun = time.perf_counter()
    _name_people(log, people)
    took[0] += time.perf_counter() - begun


def _body(
    seq: int, outcome: Outcome, documents: list[int], subject: str, pepper: bytes, draw: random.Random
) -> tuple[str, tuple[int, ...]]:
    """Canonical JSON of a short AuditRecord, and the keys that it has."""
    blind = salted_hash(pepper, f"ses_{seq // 5}")
    claims = []
    keys = [key_of(Axis.USER, subject), _key(Axis.SESSION, blind)]
    bits = draw.getrandbits(64)
    for number, rest in enumerate(outcome.claims):
        document = documents[number % 3]
        chunk = f"c{document}.{bits % CHUNKS}"
        version = f"sha256:v{bits >> 5 & 1}"
        bits >>= 6
        name = f"reports/{document}.pdf"
        keys += (
            key_of(Axis.DOCUMENT, name),
            key_of(Axis.VERSION, name, version),
            key_of(Axis.CHUNK, chunk),
        )
        claims.append(
            f'{{"answer_end":9,"answer_start":0,"citations":[{{"answer_end":9,"answer_start":0,"chunk_id":"{chunk}"'
            f',"document_id":"{name}","document_version":"{version}","end":40,"quote":"a quote",'
            f'"start":10}}],{rest}'
        )
    body = (
        f'{{"claims":[{",".join(claims)}],{outcome.before}"request_id":"req_{seq:024d}",{outcome.after}'
        f'"retrieval_results":[],"session_id":{{"blind":"{blind}","sealed":""}},"shown_response":"shown",'
        f'"timestamp":"","user":"","user_query":"question"}}'
    )
    return body, tuple(dict.fromkeys(keys))


def _key(axis: Axis, value: str) -> int:
    """Without remembering: a session is seen a few times and never again."""
    return int(key_of.__wrapped__(axis, value))


def _insert(log: Log, entries: list[Any], tree: list[Any], requests: list[Any], frontier: Frontier) -> None:
    with log.database.writing() as rows:
        rows.executemany(
            "INSERT INTO entries(seq, kind, timestamp, subject, body, body_hash) VALUES(?, ?, ?, ?, ?, ?)",
            entries,
        )
        rows.executemany("INSERT INTO requests(request_id, seq) VALUES(?, ?)", requests)
        rows.executemany("INSERT INTO tree(level, place, hash) VALUES(?, ?, ?)", tree)
        rows.execute(
            "INSERT INTO head(one, size, checkpoint) VALUES(1, ?, ?)"
            " ON CONFLICT(one) DO UPDATE SET size = excluded.size, checkpoint = excluded.checkpoint",
            (frontier.size, checkpoint(frontier.size, frontier.root(), log.keys.signer())),
        )


def _pepper(log: Log) -> bytes:
    """What sessions are blinded with: asked for once, not once a record."""
    log.keys.blind("made on first use")
    with log.keys._using() as connection:
        return bytes(connection.execute("SELECT value FROM pepper").fetchone()[0])


def _name_people(log: Log, people: dict[int, str]) -> None:
    """So that a question by name finds the pseudonym, as it would."""
    log.keys.subject("somebody")
    with log.keys._using() as connection:
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT OR IGNORE INTO subjects(id, name, key) VALUES(?, ?, ?)",
            [(subject, f"user{number}", bytes(32)) for number, subject in people.items()],
        )
        connection.execute("COMMIT")


def real_record(number: int) -> AuditRecord:
    """As the pass writes it: five claims with spans, verdicts and reasons, ten passages, notes."""
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
