"""Calibration cards: the thresholds in use, what they promise, and whether the promise still holds.

In: a card file, and the current setup. Out: a :class:`Card`, a configuration overlaid with its thresholds,
a :class:`CardState`. A card is one line of RFC 8785 JSON stored with its own hash, so an edited card is
refused. It names what its promises depend on (models, prompt files, documents, settings); if any of these
has changed, the card is stale: its thresholds stay in use, and every record says so. Independent of how
a card is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from citewell.core.config import Config
from citewell.core.display import InTables, Row
from citewell.core.errors import ConfigError
from citewell.core.files import replace_file
from citewell.core.identity import canonical_json, hash_value, plain
from citewell.core.records import Maker, Record

FORMAT = "citewell-card/1"

SETTABLE = (
    "retrieval.relevance_threshold",
    "verification.support_threshold",
    "confidence.weight_retrieval",
    "confidence.weight_coverage",
    "confidence.weight_entailment",
    "confidence.weight_consistency",
    "confidence.answer",
    "confidence.partial",
)
"""Settings that a card may set."""

CONDUCT = (
    *("generator", "entailer", "ranker", "extractor", "embedder", "chunking", "retrieval"),
    *("gate", "writer", "questions", "judges", "verification", "confidence"),
)
"""Keys and sections of the configuration that an answer depends on."""


class PromiseOutcome(StrEnum):
    """The outcome of a promise."""

    HOLDS = "holds"
    DOES_NOT_SEPARATE = "does not separate"
    TOO_SMALL = "n too small for this promise"
    NOT_MEASURED = "not measured"


class Promise(Record, frozen=True, kw_only=True):
    """One threshold and its observed effect. Of ``n`` units, ``shown`` were at or above it, ``errors`` of
    these wrong; ``rate`` is their share and ``bound`` its upper confidence bound. ``coverage`` is the share
    kept of what should pass, ``unscored`` the number that could not be judged. ``says`` is the promise in
    words; it is made only if ``outcome`` is HOLDS."""

    name: str
    says: str
    unit: str
    threshold: float
    alpha: float
    n: int
    shown: int
    errors: int
    rate: float | None
    bound: float | None
    coverage: float | None
    outcome: PromiseOutcome
    unscored: int = 0
    note: str = ""


class Weighing(Record, frozen=True, kw_only=True):
    """The confidence weights: AUROC of right over wrong answers with the configured weights and with the
    best weights found, on ``n`` answers of which ``right`` were right."""

    weights: dict[str, float]
    n: int
    right: int
    configured: float | None
    found: float | None
    outcome: PromiseOutcome
    note: str = ""


class Corpus(Record, frozen=True, kw_only=True):
    """``documents`` is a hash over the ids and versions of all ``n`` documents."""

    index_version: str
    documents: str
    n: int


class Labelled(Record, frozen=True, kw_only=True):
    """Source of the labels: a file with its hash."""

    name: str
    hash: str
    kind: str
    n: int


class Card(InTables, Record, frozen=True, kw_only=True):
    """``makers`` by role; ``config`` has one hash per section of the settings that the card depends on.

    ``settings`` are the values to use, by configuration key. In a card for claims alone, whatever it does
    not depend on (prompts, corpus, most settings) is empty.
    """

    format: str
    made_at: str
    citewell: str
    alpha: float
    confidence: float
    makers: dict[str, Maker]
    prompts: dict[str, str]
    corpus: Corpus | None
    config_hash: str
    config: dict[str, str]
    labelled: tuple[Labelled, ...]
    promises: tuple[Promise, ...]
    weighing: Weighing | None
    settings: dict[str, float]
    notes: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Identifies the card in records."""
        return hash_value(self)

    def _tables(self) -> tuple[str, Sequence[Sequence[Row]]]:
        shares = (
            "" if None in (one.rate, one.bound) else f"{one.rate:.1%}, at most {one.bound:.1%}"
            for one in self.promises
        )
        promises = [
            (one.name, f"{one.threshold:.3g}", str(one.n), share, one.outcome.value, one.note or one.says)
            for one, share in zip(self.promises, shares, strict=True)
        ]
        head = ("Promise", "Threshold", "n", "Errors", "Outcome", "")
        title = f"Calibration card {self.hash}, with {self.confidence:.0%} confidence"
        return title, ([head, *promises], [("Notes",), *((note,) for note in self.notes)])


class CurrentSetup(Record, frozen=True, kw_only=True):
    """The current setup, in the terms of a card."""

    makers: dict[str, Maker]
    prompts: dict[str, str]
    corpus: Corpus | None
    config: dict[str, str]


class CardState(Record, frozen=True, kw_only=True):
    """``state`` is none, fresh or stale; ``reasons`` describe what has changed."""

    state: str = "none"
    card: str = ""
    path: str = ""
    made_at: str = ""
    reasons: tuple[str, ...] = ()
    promises: tuple[Promise, ...] = ()

    @property
    def note(self) -> str:
        """For the record and the reader of the answer; "" unless the card is stale."""
        return (
            f"the calibration card in use is stale ({self.card[:23]}): {'; '.join(self.reasons)}"
            if self.state == "stale"
            else ""
        )


NO_CARD = CardState()


def write_card(card: Card, path: Path) -> None:
    """Raises ConfigError if the file cannot be written."""
    data = canonical_json({"card": plain(card), "hash": card.hash}) + b"\n"
    try:
        replace_file(path, data)  # the previous card may be in use
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be written ({error.strerror})", hint="choose another --out"
        ) from error


def read_card(path: Path) -> Card:
    """Raises ConfigError for a card that is missing, damaged or altered."""
    again = "create a new one with `citewell calibrate`, or unset confidence.card"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the calibration card {path} cannot be read ({error.strerror})", hint=again
        ) from error
    try:
        held = msgspec.json.decode(data)
        stated, inside = held["hash"], held["card"]
        card = msgspec.convert(inside, Card)
    except (msgspec.MsgspecError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path} is not a calibration card: {error}", hint=again) from error
    if card.format != FORMAT:
        raise ConfigError(
            f"{path} has the format {card.format!r}, but this Citewell needs {FORMAT!r}", hint=again
        )
    if card.hash != stated:
        raise ConfigError(
            f"the calibration card {path} was edited: its hash is {card.hash}, but it states {stated}",
            hint=again,
        )
    unknown = sorted(set(card.settings) - set(SETTABLE))
    if unknown:
        raise ConfigError(
            f"{path} sets {unknown[0]}, which a card cannot set",
            hint=f"a card can only set {', '.join(SETTABLE)}",
        )
    return card


def laid_over(config: Config, settings: Mapping[str, float]) -> Config:
    """``config`` with a card's values in place of its own."""
    sections: dict[str, dict[str, float]] = {}
    for key, value in settings.items():
        section, _, name = key.partition(".")
        sections.setdefault(section, {})[name] = value
    changed: dict[str, Any] = {
        section: msgspec.structs.replace(getattr(config, section), **values)
        for section, values in sections.items()
    }
    return msgspec.structs.replace(config, **changed)


def conduct_of(config: Config, parts: Iterable[str] = CONDUCT) -> dict[str, str]:
    """A hash of each part of the configuration, excluding what a card sets and the path of the card."""
    tree = plain(config)
    for key in (*SETTABLE, "confidence.card"):
        section, _, name = key.partition(".")
        tree[section].pop(name)
    return {part: hash_value({part: tree[part]}) for part in parts}


def corpus_of(index_version: str, versions: Iterable[tuple[str, str]]) -> Corpus:
    """``versions``: the id and version of each retrievable document, in any order."""
    listed = sorted(versions)
    return Corpus(
        index_version=index_version, documents=hash_value([list(pair) for pair in listed]), n=len(listed)
    )


JUDGES = ("entailer", "verifier")
"""Roles of the makers of a verdict."""
JUDGING = ("verification",)
"""Sections of the configuration that a verdict depends on."""


def of_verdicts(card: Card) -> Card:
    """The parts of the card that a verdict depends on: who judges, and how."""
    return msgspec.structs.replace(
        card,
        makers={role: maker for role, maker in card.makers.items() if role in JUDGES},
        prompts={},
        corpus=None,
        config={part: digest for part, digest in card.config.items() if part in JUDGING},
    )


def check_card(card: Card, path: str, today: CurrentSetup) -> CardState:
    """Fresh, or stale with reasons. What the card does not name cannot make it stale."""
    reasons = [
        f"the {role} is {_named(today.makers.get(role))}, not {_named(maker)}"
        for role, maker in sorted(card.makers.items())
        if _identity(today.makers.get(role)) != _identity(maker)
    ]
    changed = sorted(name for name, digest in card.prompts.items() if today.prompts.get(name) != digest)
    if changed:
        reasons.append(f"prompts changed: {', '.join(changed)}")
    then, now = card.corpus, today.corpus
    if then is not None and (now is None or now.documents != then.documents):
        # The number of documents is not disclosed: the asker may see only some of them.
        reasons.append("the documents changed")
    parts = sorted(part for part, digest in card.config.items() if today.config.get(part) != digest)
    if parts:
        reasons.append(f"settings changed: {', '.join(parts)}")
    return CardState(
        state="stale" if reasons else "fresh",
        card=card.hash,
        path=path,
        made_at=card.made_at,
        reasons=tuple(reasons),
        promises=card.promises,
    )


def _identity(maker: Maker | None) -> tuple[str, str, str] | None:
    return (maker.name, maker.hash, maker.prompt_hash) if maker else None


def _named(maker: Maker | None) -> str:
    return f"{maker.name} {maker.hash[:15]}".strip() if maker else "none"
