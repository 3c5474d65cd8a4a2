"""For any query, both databases find exactly the matching records, newest first, in stable pages."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

import pytest

from citewell.audit.database import Database
from citewell.audit.keys import Subject
from citewell.audit.postings import Batch, FlaggedRecord, IndexedRecord, IndexPosition, Postings
from citewell.audit.profiles import DAY, Axis, Facts, Profile, axis_key, timestamp_of
from citewell.audit.question import AuditQuery, keys_asked, profile_fits, span_of, validate_query
from citewell.audit.search import Finder
from citewell.core.errors import UsageError

START = 1_700_000_000_000_000
DAYS = 90


class Pseudonyms:
    """Pseudonyms as a log would assign them."""

    def find(self, name: str) -> Subject:
        return Subject(id=f"pseudonym of {name}", key=b"")

    def blind(self, name: str) -> str:
        return f"blinded {name}"


NAMES = Pseudonyms()


def newest(finder: Finder, query: AuditQuery, most: int = 1_000) -> list[tuple[int, int]]:
    return [(one.time, one.seq) for one in islice(finder.each(query), most)]


def some_records(count: int, seed: int) -> list[IndexedRecord]:
    """Clustered in time and unevenly spread over users, documents and profiles; times may repeat."""
    draw = random.Random(seed)
    times = sorted(START + draw.randrange(DAYS) * DAY + draw.randrange(50) * 1_000_000 for _ in range(count))
    return [IndexedRecord(seq=seq, facts=some_facts(time, draw)) for seq, time in enumerate(times, 1)]


def some_facts(time: int, draw: random.Random) -> Facts:
    statuses = draw.choice([("VERIFIED",), ("VERIFIED",), ("UNSUPPORTED", "VERIFIED"), (), ("BROKEN",)])
    profile = Profile(
        decision=draw.choice(["ANSWER", "ANSWER", "PARTIAL", "ABSTAIN", "ERROR"]),
        band=draw.choice(["high", "high", "medium", "low", "not measured"]),
        statuses=statuses,
        broken="BROKEN" in statuses,
        proofs=draw.choice([("verbatim",), ("numeric", "verbatim"), ()]),
        failure=draw.choice([""] * 20 + ["relevance_gate_failed"]),
        models=("extractive", draw.choice(["one", "two"])),
        prompts=draw.choice([(), ("sha256:p",)]),
        config="sha256:c",
    )
    document = f"d{int(draw.paretovariate(1)) % 9}"
    values = [
        (Axis.USER, NAMES.find(f"u{draw.randrange(5)}").id),
        (Axis.SESSION, NAMES.blind(f"s{draw.randrange(20)}")),
        (Axis.DOCUMENT, document),
        (Axis.VERSION, document, f"v{draw.randrange(2)}"),
        (Axis.CHUNK, f"c{draw.randrange(40)}"),
    ]
    return Facts(time=time, profile=profile, keys=tuple(axis_key(axis, *rest) for axis, *rest in values))


def some_query(draw: random.Random) -> AuditQuery:
    asked: dict[str, str] = {}
    choices = {
        "user": ["u1", "u4"],
        "session": ["s1"],
        "document": ["d1", "d2", "d8", "none"],
        "chunk": ["c3"],
        "status": ["any-unsupported", "all-verified", "any-broken", "no-claims", "any-contradicted"],
        "proof": ["numeric"],
        "confidence": ["high", "low", "not measured"],
        "decision": ["PARTIAL", "ERROR"],
        "model": ["two", "extractive", "nobody"],
        "prompt": ["sha256:p"],
        "failure": ["relevance_gate_failed"],
    }
    for field in draw.sample(sorted(choices), draw.choice([0, 1, 1, 2, 2, 3])):
        asked[field] = draw.choice(choices[field])
    if "document" in asked and draw.random() < 0.3:
        asked["version"] = "v1"
    bounds = sorted(START + draw.randrange(DAYS * DAY) for _ in range(2))
    if draw.random() < 0.5:
        asked["since"] = timestamp_of(bounds[0])
    if draw.random() < 0.3:
        asked["until"] = timestamp_of(bounds[1])
    return AuditQuery(limit=draw.choice([1, 7, 50]), **asked)  # type: ignore[arg-type]


def filled(database: Database, records: list[IndexedRecord]) -> Postings:
    """Half added at once, the rest in batches as in use."""
    postings = Postings(database)
    half = len(records) // 2
    postings.rebuild(
        [Batch(records=tuple(records[:half]), flags=(), place=IndexPosition(seq=half, leaf="x"))]
    )
    for start in range(half, len(records), 97):
        some = records[start : start + 97]
        assert postings.add(
            Batch(records=tuple(some), flags=(), place=IndexPosition(seq=some[-1].seq)), after=some[0].seq - 1
        )
    return postings


def fits(query: AuditQuery, facts: Facts, keys: tuple[int, ...]) -> bool:
    since, until = span_of(query)
    return since <= facts.time < until and profile_fits(query, facts.profile) and set(keys) <= set(facts.keys)


def test_every_question_finds_what_fits_and_nothing_else(database: Database) -> None:
    records = some_records(900, seed=5)
    finder = Finder(filled(database, records), NAMES)
    draw = random.Random(6)
    for _ in range(80):
        query = some_query(draw)
        keys = keys_asked(query, NAMES)
        expected = sorted(
            ((r.facts.time, r.seq) for r in records if fits(query, r.facts, keys)), reverse=True
        )
        seen = newest(finder, query)
        assert seen == expected, query


def test_counts_are_the_records(database: Database) -> None:
    records = some_records(900, seed=7)
    postings = filled(database, records)
    finder = Finder(postings, NAMES)
    newest(finder, AuditQuery())
    draw = random.Random(8)
    for _ in range(80):
        query = some_query(draw)
        keys = keys_asked(query, NAMES)
        for unit in (DAY, DAY // 24):
            numbers = {profile: number for number, profile in postings.profiles.items()}
            expected = Counter(
                (r.facts.time // unit * unit, numbers[r.facts.profile])
                for r in records
                if fits(query, r.facts, keys)
            )

            def bucket(time: int, unit: int = unit) -> int:
                return time // unit * unit

            assert finder.count(query, bucket, unit) == dict(expected), query


def test_flags_are_found_once_they_are_there(database: Database) -> None:
    records = some_records(50, seed=1)
    postings = filled(database, records)
    finder = Finder(postings, NAMES)
    assert newest(finder, AuditQuery(flag="wrong")) == []
    target = records[10]
    flag = FlaggedRecord(key=axis_key(Axis.FLAG, "wrong"), seq=target.seq, time=target.facts.time)
    assert postings.add(Batch(records=(), flags=(flag, flag), place=IndexPosition(seq=51)), after=50)
    assert newest(finder, AuditQuery(flag="wrong")) == [(target.facts.time, target.seq)]


def test_only_the_first_of_two_writers_takes_a_batch_in(database: Database) -> None:
    postings = Postings(database)
    batch = Batch(
        records=tuple(some_records(3, seed=2)), flags=(), place=IndexPosition(seq=3, leaf="sha256:l")
    )
    assert postings.add(batch, after=0)
    assert not postings.add(batch, after=0)
    assert postings.place() == IndexPosition(seq=3, leaf="sha256:l")
    assert len(newest(Finder(postings, NAMES), AuditQuery())) == 3


def test_a_page_that_fails_leaves_nothing_behind(database: Database) -> None:
    postings = Postings(database)
    twice = tuple(some_records(1, seed=3)) * 2
    with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
        postings.add(Batch(records=twice, flags=(), place=IndexPosition(seq=1)), after=0)
    assert postings.place().seq == 0
    assert postings.add(Batch(records=twice[:1], flags=(), place=IndexPosition(seq=1)), after=0)
    assert len(newest(Finder(postings, NAMES), AuditQuery())) == 1


@pytest.mark.parametrize(
    "query",
    [
        AuditQuery(status="odd"),
        AuditQuery(confidence="sure"),
        AuditQuery(decision="maybe"),
        AuditQuery(proof="vibes"),
        AuditQuery(limit=0),
        AuditQuery(version="sha256:v2"),
        AuditQuery(since="soon"),
    ],
)
def test_what_stands_for_nothing_is_refused(query: AuditQuery) -> None:
    with pytest.raises(UsageError):
        validate_query(query)


def test_fields_narrow() -> None:
    profile = some_facts(START, random.Random(1)).profile
    assert profile_fits(AuditQuery(), profile)
    assert not profile_fits(AuditQuery(model="nobody"), profile)
    assert span_of(AuditQuery(since=timestamp_of(START)))[0] == START
