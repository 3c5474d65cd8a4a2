"""Configuration, as data only: ``citewell.toml``, overridden by ``CITEWELL_SECTION_KEY`` variables.

In: a TOML file and an environment. Out: a frozen :class:`Config`, hashed into every record. An unknown key is
an error that suggests the nearest known one. Builds nothing: :mod:`citewell.knowledge.assembly` does.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from citewell.core.addresses import redact_address
from citewell.core.errors import ConfigError, did_you_mean
from citewell.core.identity import hash_value, plain
from citewell.core.records import Record

LISTS = {"sources.ranks", "audit.witnesses", "server.hosts", "server.proxies", "alerts.rules"}
OPERATION = ("server", "proxy", "feedback", "alerts", "escalate")
"""Keys and sections that are not hashed into a record."""
RESERVED = {"CITEWELL_HOME", "CITEWELL_DATA", "CITEWELL_CONFIG"} | {
    f"CITEWELL_{name}"
    for name in ("ENCODER", "JUDGE_BASE", "CHECKPOINTS", "THREADS", "STEPS", "PASSES", "HELD_LAYERS")
}
"""Variables that are not keys: the product's own, and those of `training/`, which may share its shell."""

SEE = "docs/configuration.md lists every key"


class Documents(Record, frozen=True, kw_only=True):
    """Limits of the parsing worker: seconds, mebibytes and levels of nesting."""

    timeout_s: float = 120.0
    memory_mb: int = 2048
    max_file_mb: int = 200
    max_unpacked_mb: int = 1024
    max_nesting: int = 1000


class Chunking(Record, frozen=True, kw_only=True):
    """Sizes in tokens of the embedded tokenizer."""

    min_tokens: int = 100
    target_tokens: int = 256
    max_tokens: int = 500


class Retrieval(Record, frozen=True, kw_only=True):
    """Weights of the ranked lists in the fusion; ``rrf_k`` as in Cormack et al. 2009. ``weight_tables`` is
    for the ranking by table rows; ``weight_elsewhere`` is the share of its weight that each list keeps for
    other documents when the question names some; ``weight_ranker`` and ``weight_similarity`` are for the
    orders of the ranker and the dense views, relative to the pool's order, which weighs 1; ``read`` is how
    many passages of the pool the ranker reads."""

    pool: int = 50
    top_k: int = 5
    rrf_k: int = 60
    weight_chunk: float = 1.0
    weight_summary: float = 1.0
    weight_keys: float = 0.5
    weight_bm25: float = 2.0
    weight_tables: float = 3.0
    weight_elsewhere: float = 0.25
    weight_ranker: float = 1.0
    weight_similarity: float = 1.0
    relevance_threshold: float = 0.7
    max_per_document: int = 3
    near_duplicate: float = 0.9
    broadened_pool: int = 150
    read: int = 8


class Gate(Record, frozen=True, kw_only=True):
    """A passage whose no-answer probability exceeds ``max_no_answer`` yields no answer."""

    max_no_answer: float = 0.4


class Writer(Record, frozen=True, kw_only=True):
    """How a language model is asked to write. ``form`` is "auto" or one of :class:`citewell.core.ports.Form`;
    ``dialect`` is the grammar dialect, "lark" or "gbnf"; ``timeout_s`` limits one attempt; prices are per
    million tokens, 0 if unknown."""

    form: Literal["auto", "grammar", "native", "schema", "inline"] = "auto"
    dialect: Literal["lark", "gbnf"] = "lark"
    temperature: float = 0.1
    sampling_temperature: float = 0.7
    max_sources: int = 8
    max_tokens: int = 2048
    example: bool = True
    timeout_s: float = 60.0
    retries: int = 3
    price_prompt: float = 0.0
    price_completion: float = 0.0


class Questions(Record, frozen=True, kw_only=True):
    """What a language model may do to a question; an empty ``model`` means the writer's."""

    model: str = ""
    hypothesis: bool = False
    decompose: bool = False
    reformulate: bool = False
    follow_up: bool = False


class Judges(Record, frozen=True, kw_only=True):
    """Judge models, as ``openai:MODEL``; empty for none."""

    gate: str = ""
    answer: str = ""


class Sources(Record, frozen=True, kw_only=True):
    """Which documents the owner trusts more: ``ranks`` are ``PREFIX=RANK``, a prefix of document ids and an
    integer. The longest matching prefix counts; without one, the rank is 0. A document cannot raise its own
    rank by what it says."""

    ranks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for line in self.ranks:
            start, sign, rank = line.rpartition("=")
            if not start or not sign or not rank.removeprefix("-").isdecimal():
                raise ValueError(f"sources.ranks has {line!r}, which is not PREFIX=RANK, such as policies/=2")

    def rank(self, document_id: str) -> int:
        fits = [line for line in self.ranks if document_id.startswith(line.rpartition("=")[0])]
        return int(max(fits, key=len).rpartition("=")[2]) if fits else 0


class Verification(Record, frozen=True, kw_only=True):
    """Probabilities in [0, 1]; span lengths in tokens."""

    support_threshold: float = 0.5
    contradiction_threshold: float = 0.5
    min_span_tokens: int = 3
    max_span_tokens: int = 30
    unsupported: Literal["flag", "drop", "withhold"] = "flag"


class Confidence(Record, frozen=True, kw_only=True):
    """With ``near_border`` > 0, further runs are sampled only for answers near a decision threshold."""

    weight_retrieval: float = 0.3
    weight_coverage: float = 0.2
    weight_entailment: float = 0.4
    weight_consistency: float = 0.1
    answer: float = 0.85
    partial: float = 0.60
    near_border: float = 0.0
    card: str = ""


class Retention(Record, frozen=True, kw_only=True):
    """How many days the log keeps contents; 0 means for ever. See :mod:`citewell.audit.retention`."""

    answers_days: int = 0
    errors_days: int = 0
    reads_days: int = 0
    feedback_days: int = 0
    notices_days: int = 0


class Audit(Record, frozen=True, kw_only=True):
    """``database`` is a PostgreSQL URL ("" is a SQLite file in the home), ``keys`` the folder of the log's
    keys ("" is ``keys`` in the home), ``origin`` the log's name in its checkpoints (set before the first
    entry; "" picks a random one), ``witnesses`` are URLs as in :mod:`citewell.audit.witnesses`, each sent a
    checkpoint every ``publish_every_s`` seconds (0: only on command)."""

    database: str = ""
    keys: str = ""
    origin: str = ""
    witnesses: tuple[str, ...] = ()
    publish_every_s: float = 3600.0


class Server(Record, frozen=True, kw_only=True):
    """How `citewell serve` listens, which proxies it trusts and how much load it accepts.

    ``hosts`` are the host names that requests may use besides the loopback names; ``proxies`` are the
    addresses whose ``X-Forwarded-*`` headers are trusted. ``threads`` requests run at a time and ``queue``
    more wait, none longer than ``max_wait_s`` seconds; the server asks all others to retry later. A question,
    a check or a read of the log ends after ``timeout_s`` seconds, waiting included, and an upload after
    ``upload_s``; 0 means no limit.
    ``rate_per_minute`` and ``burst`` apply per caller; 0 means no limit. ``oidc_jwks`` is for an issuer whose
    keys are on another host.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    workers: int = 1
    threads: int = 4
    queue: int = 256
    max_wait_s: float = 30.0
    timeout_s: float = 300.0
    upload_s: float = 1800.0
    rate_per_minute: int = 600
    burst: int = 120
    max_body_kb: int = 1024
    max_upload_mb: int = 50
    stream_keep_s: float = 300.0
    session_hours: float = 12.0
    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_jwks: str = ""
    oidc_user: str = "sub"
    oidc_groups: str = "groups"
    oidc_roles: str = "roles"
    oidc_role: Literal["asker", "curator", "auditor", "admin", ""] = "asker"
    otel_documents: bool = False


class Proxy(Record, frozen=True, kw_only=True):
    """The server's checking proxy: ``to`` is the address of a model's API, "" for no proxy.

    ``policy`` says what happens to a checked answer; ``unchecked``, under the policy "withhold", what happens
    to one that could not be checked. ``check_s`` limits a check, ``timeout_s`` a silence of the API.
    ``sources`` is the pattern of sources in prompts; "" means :data:`citewell.vendors.requests.NUMBERED`.
    """

    to: str = ""
    policy: Literal["observe", "annotate", "withhold"] = "annotate"
    unchecked: Literal["pass", "withhold"] = "pass"
    check_s: float = 30.0
    timeout_s: float = 600.0
    sources: str = ""


class Feedback(Record, frozen=True, kw_only=True):
    """What is observed in a conversation: windows in seconds (0 turns one off), and the minimum cosine and
    minimum share of content words that a rephrased question has in common with the first."""

    rephrase_window_s: float = 120.0
    rephrase_cosine: float = 0.8
    rephrase_overlap: float = 0.2
    correction_window_s: float = 600.0


class Alerts(Record, frozen=True, kw_only=True):
    """``rules`` as read by :mod:`citewell.evaluation.drift` (in a variable: without spaces);
    ``least`` is how many records a rule needs."""

    rules: tuple[str, ...] = ()
    least: int = 20


class Config(Record, frozen=True, kw_only=True):
    """``generator``, ``entailer``, ``ranker``, ``extractor`` and ``embedder`` name implementations."""

    generator: str = "extractive"
    entailer: str = "embedded"
    ranker: str = "embedded"
    extractor: str = "embedded"
    embedder: str = "embedded"
    escalate: str = ""
    documents: Documents = Documents()
    chunking: Chunking = Chunking()
    retrieval: Retrieval = Retrieval()
    gate: Gate = Gate()
    writer: Writer = Writer()
    questions: Questions = Questions()
    judges: Judges = Judges()
    sources: Sources = Sources()
    verification: Verification = Verification()
    confidence: Confidence = Confidence()
    audit: Audit = Audit()
    retention: Retention = Retention()
    feedback: Feedback = Feedback()
    server: Server = Server()
    proxy: Proxy = Proxy()
    alerts: Alerts = Alerts()

    @property
    def sealed(self) -> dict[str, Any]:
        """The settings that answers can depend on, for the log and its receipts; :meth:`operation` has the
        rest. Addresses are stripped of secrets (:mod:`citewell.core.addresses`)."""
        tree = {name: value for name, value in plain(self).items() if name not in OPERATION}
        tree["audit"] |= {
            "database": redact_address(self.audit.database),
            "witnesses": [redact_address(url) for url in self.audit.witnesses],
        }
        return tree

    def operation(self, blind: Callable[[str], str]) -> dict[str, Any]:
        """The settings that no answer depends on, for the log alone: how the server listens, what is observed
        later, who is alerted. Commands may contain secrets, so only their ``blind`` names are kept, which
        still reveal a change."""
        tree: dict[str, Any] = {name: plain(getattr(self, name)) for name in OPERATION}
        tree["escalate"] = self.escalate and blind(self.escalate)
        tree["proxy"]["to"] = redact_address(self.proxy.to)
        return tree

    @property
    def hash(self) -> str:
        """Tagged hash of :attr:`sealed`; two configurations that give the same answers share it."""
        return hash_value(self.sealed)


def load(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration of ``path`` (defaults when None) under ``environment``.

    Raises ConfigError for an unknown key, a wrong type, a value that is not allowed, or
    a file that is not TOML.
    """
    tree: dict[str, Any] = {}
    if path is not None:
        try:
            tree = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path} cannot be read as TOML: {error}", hint="fix or remove it") from error
    for name, value in sorted((os.environ if environment is None else environment).items()):
        if name.startswith("CITEWELL_") and name not in RESERVED:
            _overlay(tree, name, value)
    _refuse(tree, Config, str(path))
    try:
        return msgspec.convert(tree, Config, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"configuration: {error}", hint="docs/configuration.md lists every key with its type"
        ) from error


def keys() -> list[str]:
    """Every key as written in TOML, with a dot after its section."""
    names = []
    for field in msgspec.structs.fields(Config):
        if isinstance(field.type, type) and issubclass(field.type, Record):
            names += [f"{field.name}.{inner.name}" for inner in msgspec.structs.fields(field.type)]
        else:
            names.append(field.name)
    return names


def _overlay(tree: dict[str, Any], name: str, value: str) -> None:
    wanted = name.removeprefix("CITEWELL_").lower()
    for key in keys():
        if key.replace(".", "_") == wanted:
            section, _, leaf = key.rpartition(".")
            target = tree.setdefault(section, {}) if section else tree
            # The values of a list are separated by spaces.
            target[leaf] = value.split() if key in LISTS else value
            return
    known = ["CITEWELL_" + key.replace(".", "_").upper() for key in keys()]
    raise ConfigError(f"unknown environment variable {name}", hint=did_you_mean(name, known, SEE))


def _refuse(tree: Mapping[str, Any], shape: type[Record], where: str, section: str = "") -> None:
    """Raises ConfigError for an unknown key, and for a word that a key does not accept."""
    fields = {field.name: field.type for field in msgspec.structs.fields(shape)}
    for key, value in tree.items():
        if key not in fields:
            raise ConfigError(f"unknown key {key!r} in {where}", hint=did_you_mean(key, fields, SEE))
        kind = fields[key]
        if get_origin(kind) is Literal and value not in get_args(kind):
            known = ", ".join(word or '""' for word in get_args(kind))
            raise ConfigError(f"{section}{key} = {value!r}", hint=f"use one of: {known}")
        if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Record):
            _refuse(value, kind, f"[{key}] of {where}", f"{key}.")
