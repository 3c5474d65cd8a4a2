"""Configuration: data only. ``citewell.toml``, overlaid by ``CITEWELL_SECTION_KEY`` variables.

In: a TOML file and an environment. Out: a frozen :class:`Config`, hashed into every record. An unknown key is
an error that suggests the nearest known one. Builds nothing: :mod:`citewell.knowledge.assembly` does.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from citewell.core.addresses import named
from citewell.core.errors import ConfigError
from citewell.core.identity import hash_value, plain
from citewell.core.records import Record

LISTS = {"sources.ranks", "audit.witnesses", "server.hosts", "server.proxies", "alerts.rules"}
OPERATION = ("server", "proxy", "feedback", "alerts", "escalate")
"""None of this is hashed into a record."""
RESERVED = {"CITEWELL_HOME", "CITEWELL_DATA", "CITEWELL_CONFIG"} | {
    f"CITEWELL_{name}"
    for name in ("ENCODER", "JUDGE_BASE", "CHECKPOINTS", "THREADS", "STEPS", "PASSES", "HELD_LAYERS")
}
"""Names that are not keys: the product's own, and those of `training/`, which may share a shell with it."""


class Documents(Record, frozen=True, kw_only=True):
    """Bounds of the parsing worker: seconds, mebibytes, and pages."""

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
    """Weights of the ranked lists in the fusion; ``rrf_k`` as in Cormack et al. 2009. ``weight_tables`` is of
    the ranking by table rows; ``weight_elsewhere`` the share of its weight that each list keeps for other
    documents when the question names some; ``isolation`` is "shared" (one table) or "strict" (one for each
    access list, so that documents a user may not see do not influence their scores); ``weight_ranker`` and
    ``weight_similarity`` of the ranker's order and of the dense views' beside the pool's, which weighs 1;
    ``read`` how many passages of the pool the ranker reads."""

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
    isolation: Literal["shared", "strict"] = "shared"


class Gate(Record, frozen=True, kw_only=True):
    """A passage whose no-answer probability is above ``max_no_answer`` gives no answer."""

    max_no_answer: float = 0.4


class Writer(Record, frozen=True, kw_only=True):
    """How a language model is asked to write. ``form`` is "auto" or one of :class:`citewell.core.ports.Form`;
    ``dialect`` is of its grammars, "lark" or "gbnf"; ``timeout_s`` bounds one try; prices are per million
    tokens, 0 where they are not known."""

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
    """What a language model may do to a question; ``model`` empty means the writer's."""

    model: str = ""
    hypothesis: bool = False
    decompose: bool = False
    reformulate: bool = False
    follow_up: bool = False


class Judges(Record, frozen=True, kw_only=True):
    """Models that judge, as ``openai:MODEL``; empty asks none."""

    gate: str = ""
    answer: str = ""


class Sources(Record, frozen=True, kw_only=True):
    """Which documents the keeper trusts more: ``ranks`` are ``PREFIX=RANK``, a prefix of document ids and a
    whole number. Everything else has rank 0, and the longest matching prefix counts. A document's own
    words about its standing give it none."""

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
    """``near_border`` > 0 samples further runs only for answers that near a decision border."""

    weight_retrieval: float = 0.3
    weight_coverage: float = 0.2
    weight_entailment: float = 0.4
    weight_consistency: float = 0.1
    answer: float = 0.85
    partial: float = 0.60
    near_border: float = 0.0
    card: str = ""


class Retention(Record, frozen=True, kw_only=True):
    """How many days the log keeps contents, 0 for ever; see :mod:`citewell.audit.retention`."""

    answers_days: int = 0
    errors_days: int = 0
    reads_days: int = 0
    feedback_days: int = 0
    notices_days: int = 0


class Audit(Record, frozen=True, kw_only=True):
    """``database`` is a PostgreSQL URL ("" is a SQLite file in the home), ``keys`` the folder of the log's
    keys ("" is ``keys`` in the home), ``origin`` the log's name in its checkpoints (set before the first
    entry; "" draws one), ``witnesses`` are URLs as :mod:`citewell.audit.witnesses` has them, which get a
    checkpoint every ``publish_every_s`` (0: on command)."""

    database: str = ""
    keys: str = ""
    origin: str = ""
    witnesses: tuple[str, ...] = ()
    publish_every_s: float = 3600.0


class Server(Record, frozen=True, kw_only=True):
    """How `citewell serve` listens, which proxies it trusts and how much load it accepts.

    ``hosts`` are host names that requests may use in addition to those of loopback; ``proxies`` are the
    addresses whose ``X-Forwarded-*`` headers are trusted. ``threads`` requests run at a time and ``queue``
    more wait, none longer than ``max_wait_s`` seconds; the server asks all others to retry later. A question
    or check ends after ``timeout_s`` seconds, waiting included, 0 for no limit.
    ``rate_per_minute`` and ``burst`` apply per caller; 0 means no limit. ``oidc_jwks`` is for an issuer that
    keeps its keys at another host.
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
    """The checking proxy of the server: ``to`` is the address of a model's API, "" for no proxy.

    ``policy`` says what becomes of a checked answer; ``unchecked`` of one that could not be checked where the
    policy is "withhold". ``check_s`` bounds a check, ``timeout_s`` how long the API may be silent.
    ``sources`` is the pattern of sources in prompts, see :data:`citewell.vendors.requests.NUMBERED`, which ""
    stands for.
    """

    to: str = ""
    policy: Literal["observe", "annotate", "withhold"] = "annotate"
    unchecked: Literal["pass", "withhold"] = "pass"
    check_s: float = 30.0
    timeout_s: float = 600.0
    sources: str = ""


class Feedback(Record, frozen=True, kw_only=True):
    """What is observed in a conversation: windows in seconds (0 turns a window off), the least cosine of two
    questions and the least share of content words that one asked again has with the first."""

    rephrase_window_s: float = 120.0
    rephrase_cosine: float = 0.8
    rephrase_overlap: float = 0.2
    correction_window_s: float = 600.0


class Alerts(Record, frozen=True, kw_only=True):
    """``rules`` as :mod:`citewell.evaluation.drift.drifting` reads them (without blanks in a variable);
    ``least`` records a rule needs."""

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
        rest. Addresses are named without their secrets (:mod:`citewell.core.addresses`)."""
        tree = {name: value for name, value in plain(self).items() if name not in OPERATION}
        tree["audit"] |= {
            "database": named(self.audit.database),
            "witnesses": [named(url) for url in self.audit.witnesses],
        }
        return tree

    def operation(self, blind: Callable[[str], str]) -> dict[str, Any]:
        """The settings that no answer depends on, for the log alone: how the server listens, what is observed
        later, who is alerted. Commands may contain secrets, so only their ``blind`` names are kept, which
        still show that a command changed.
        """
        tree: dict[str, Any] = {name: plain(getattr(self, name)) for name in OPERATION}
        tree["escalate"] = self.escalate and blind(self.escalate)
        tree["proxy"]["to"] = named(self.proxy.to)
        return tree

    @property
    def hash(self) -> str:
        """Tagged hash of :attr:`sealed`; two configurations that give the same answers share it."""
        return hash_value(self.sealed)


def load(path: Path | None = None, environment: Mapping[str, str] | None = None) -> Config:
    """The configuration of ``path`` (defaults when None) under ``environment``.

    Raises ConfigError for an unknown key, a wrong type, a value that a key does not
    allow, or a file that is not TOML.
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
    """Every key as it is written in TOML, sections with a dot."""
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
            # Several values stand with blanks between them.
            target[leaf] = value.split() if key in LISTS else value
            return
    known = ["CITEWELL_" + key.replace(".", "_").upper() for key in keys()]
    raise ConfigError(f"unknown environment variable {name}", hint=_nearest(name, known))


def _refuse(tree: Mapping[str, Any], shape: type[Record], where: str, section: str = "") -> None:
    """Raises ConfigError for a key there is none of, and a word that a key does not take."""
    fields = {field.name: field.type for field in msgspec.structs.fields(shape)}
    for key, value in tree.items():
        if key not in fields:
            raise ConfigError(f"unknown key {key!r} in {where}", hint=_nearest(key, list(fields)))
        kind = fields[key]
        if get_origin(kind) is Literal and value not in get_args(kind):
            known = ", ".join(word or '""' for word in get_args(kind))
            raise ConfigError(f"{section}{key} = {value!r}", hint=f"use one of: {known}")
        if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, Record):
            _refuse(value, kind, f"[{key}] of {where}", f"{key}.")


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else "docs/configuration.md lists every key"
