"""The configuration alone decides what implements each port, and never lets a writer check its own work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import citewell
from citewell.core.commands import tell_command
from citewell.core.config import Config, Judges, Questions
from citewell.core.environment import environment
from citewell.core.errors import ConfigError, SameModelError, UsageError
from citewell.core.metering import refuse_same_maker
from citewell.core.records import Maker
from citewell.knowledge.assembly import Assembly, load_config


def test_public_names() -> None:
    documented = {
        "Answer",
        "AuditQuery",
        "Citation",
        "CitewellError",
        "Claim",
        "ConfidenceReport",
        "Decision",
        "KnowledgeBase",
        "Status",
        "Verdict",
        "open",
        "verify",
    }
    assert set(citewell.__all__) == documented
    assert all(hasattr(citewell, name) for name in documented)


def test_import_is_light() -> None:
    program = (
        "import sys, citewell;"
        "heavy = {'onnxruntime', 'lancedb', 'torch', 'numpy', 'pyarrow', 'pypdfium2', 'docx', 'typer'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "entailer",
    [
        "openai:gpt",
        "embedded + openai:gpt",
        "embedded > openai:gpt",
        "openai:gpt + embedded",
        "embedded > anthropic:c > openai:gpt",
    ],
)
def test_the_writer_never_marks_its_own_work(tmp_path: Path, entailer: str) -> None:
    with pytest.raises(SameModelError, match="openai:gpt"):
        Assembly(tmp_path, Config(generator="openai:gpt", entailer=entailer))


@pytest.mark.parametrize("judges", [Judges(gate="openai:gpt"), Judges(answer="openai:gpt")])
def test_the_writer_is_refused_as_judge(tmp_path: Path, judges: Judges) -> None:
    with pytest.raises(SameModelError, match="judges"):
        Assembly(tmp_path, Config(generator="openai:gpt", judges=judges))


def test_options_on_the_question_need_a_language_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"questions\.model"):
        _ = Assembly(tmp_path, Config(questions=Questions(hypothesis=True))).questioner
    assert Assembly(tmp_path, Config()).questioner is None


def test_a_generator_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    for line in ("gpt", "hub:model", "openai:"):
        with pytest.raises(ConfigError, match=r"use "):
            _ = Assembly(tmp_path, Config(generator=line)).generator


def test_one_file_under_two_names_is_one_model() -> None:
    with pytest.raises(SameModelError):
        refuse_same_maker(Maker(name="a", hash="sha256:1"), Maker(name="b", hash="sha256:1"))
    refuse_same_maker(Maker(name="a", hash="sha256:1"), Maker(name="b", hash="sha256:2"))
    refuse_same_maker(Maker(name="a"), Maker(name="b"))


@pytest.mark.parametrize("key", ["embedder", "extractor", "generator"])
def test_a_name_that_stands_for_nothing(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match=r"use "):
        getattr(Assembly(tmp_path, Config(**{key: "nonsense"})), key)


def test_configuration_of_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_config(tmp_path) == Config()
    (tmp_path / "citewell.toml").write_text("[retrieval]\npool = 7\n")
    assert load_config(tmp_path).retrieval.pool == 7
    monkeypatch.setenv("CITEWELL_RETRIEVAL_POOL", "9")
    assert load_config(tmp_path).retrieval.pool == 9
    (tmp_path / "other.toml").write_text("[retrieval]\ntop_k = 2\n")
    monkeypatch.setenv("CITEWELL_CONFIG", str(tmp_path / "other.toml"))
    assert load_config(tmp_path).retrieval.top_k == 2


def test_opening_makes_nothing(tmp_path: Path) -> None:
    knowledge_base = citewell.open(tmp_path / "none")
    with pytest.raises(UsageError, match="ingest"):
        knowledge_base.ask("Is anyone there?")
    assert list(tmp_path.iterdir()) == []


def test_object_storage_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="folder"):
        citewell.open("s3://bucket/kb")


def test_escalation_tells_what_went_wrong(tmp_path: Path) -> None:
    told = tmp_path / "told"
    good = tmp_path / "good.sh"
    good.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    good.chmod(0o755)
    assert tell_command([str(good)], "req_1") == ""
    assert told.read_text() == "req_1\n"
    assert "exited with 3" in tell_command(["sh", "-c", "exit 3"], "req_1")
    assert "FileNotFoundError" in tell_command(["/no/such/program"], "req_1")


def test_the_environment_names_what_rounding_depends_on() -> None:
    assert {"python", "machine", "processor", "onnxruntime", "citewell"} <= set(environment())


def test_what_compares_with_a_record_computes_anew(tmp_path: Path) -> None:
    parts = Assembly(tmp_path, Config())
    anew = parts.without_memory()
    assert anew.reading is not parts.reading
    assert anew.answering.retriever is not parts.answering.retriever
    assert anew.evidence is parts.evidence
    assert anew.log is parts.log
    parts.close()
