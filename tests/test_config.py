"""Configuration: data only, unknown keys refused with the nearest known one, every key documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from citewell.core.access import Role
from citewell.core.config import Config, keys, load
from citewell.core.errors import ConfigError
from citewell.core.ports import Form
from citewell.generation.writer import AUTO

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"


def test_defaults_and_their_hash_need_no_file() -> None:
    assert load(None, {}) == Config()
    assert load(None, {"CITEWELL_RETRIEVAL_POOL": "30"}).hash != Config().hash


def test_how_it_listens_does_not_change_the_hash() -> None:
    listening = load(None, {"CITEWELL_SERVER_PORT": "9000", "CITEWELL_SERVER_HOSTS": "a.example b.example"})
    assert listening.server.hosts == ("a.example", "b.example")
    assert listening.hash == Config().hash
    assert "server" not in listening.sealed


def test_no_secret_of_an_address_is_sealed_or_hashed() -> None:
    def under(secret: str) -> Config:
        return load(
            None,
            {
                "CITEWELL_AUDIT_DATABASE": f"postgresql://cw:{secret}@db.example/audit",
                "CITEWELL_AUDIT_WITNESSES": f"https://hooks.example/{secret} https://in.example/?key={secret}",
                "CITEWELL_ESCALATE": f"notify --token {secret}",
            },
        )

    config = under("S3CRET")
    assert "S3CRET" not in str(config.sealed)
    assert config.sealed["audit"]["database"] == "postgresql://db.example/audit"
    assert config.sealed["audit"]["witnesses"] == ["https://hooks.example", "https://in.example"]
    assert config.hash == under("another").hash


def test_a_variable_overlays_the_file(tmp_path: Path) -> None:
    path = tmp_path / "citewell.toml"
    path.write_text("[retrieval]\npool = 20\ntop_k = 3\n")
    config = load(path, {"CITEWELL_RETRIEVAL_POOL": "30", "CITEWELL_HOME": "/x", "PATH": "/bin"})
    assert (config.retrieval.pool, config.retrieval.top_k) == (30, 3)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("[retrieval]\npol = 20\n", "pool"),
        ("generater = 'x'\n", "generator"),
        ("[retreival]\npool = 1\n", "retrieval"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(tmp_path: Path, text: str, nearest: str) -> None:
    path = tmp_path / "citewell.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"did you mean {nearest}"):
        load(path, {})


def test_an_unknown_variable_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean CITEWELL_RETRIEVAL_POOL"):
        load(None, {"CITEWELL_RETRIEVAL_POL": "30"})


def test_the_variables_of_training_may_share_a_shell() -> None:
    assert load(None, {"CITEWELL_ENCODER": "/models", "CITEWELL_THREADS": "1"}) == Config()


@pytest.mark.parametrize("text", ["retrieval = 3\n", "[retrieval]\npool = 'many'\n", "not toml", "\x00"])
def test_a_wrong_value_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "citewell.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        load(path, {})


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("verification.unsupported", "flag, drop, withhold"),
        ("retrieval.isolation", "shared, strict"),
        ("writer.form", "auto, grammar, native, schema, inline"),
        ("writer.dialect", "lark, gbnf"),
        ("server.oidc_role", 'asker, curator, auditor, admin, ""'),
    ],
)
def test_a_word_that_a_key_does_not_take_is_refused_with_those_it_takes(
    tmp_path: Path, key: str, known: str
) -> None:
    section, _, name = key.partition(".")
    path = tmp_path / "citewell.toml"
    path.write_text(f"[{section}]\n{name} = 'dropp'\n")
    with pytest.raises(ConfigError, match=re.escape(f"{key} = 'dropp': use one of: {known}")):
        load(path, {})
    with pytest.raises(ConfigError, match=re.escape(known)):
        load(None, {f"CITEWELL_{section}_{name}".upper(): "dropp"})
    for word in known.split(", "):
        load(None, {f"CITEWELL_{section}_{name}".upper(): word.strip('"')})


def test_the_words_of_forms_and_roles_are_those_there_are() -> None:
    assert load(None, {}).writer.form == AUTO
    for form in Form:
        load(None, {"CITEWELL_WRITER_FORM": form.value})
    for role in Role:
        load(None, {"CITEWELL_SERVER_OIDC_ROLE": role.value})


def test_every_key_and_default_is_documented() -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| ([^|]+) \|", PAGE.read_text(), flags=re.M))
    config = Config()
    expected = {}
    for key in keys():
        value: object = config
        for part in key.split("."):
            value = getattr(value, part)
        expected[key] = value
    assert set(rows) == set(expected)
    for key, value in expected.items():
        shown = rows[key].strip().strip("`")
        if isinstance(value, bool):
            assert shown == str(value).lower(), key
        elif isinstance(value, int | float):
            assert float(shown) == value, key
        else:
            assert shown.replace("*(empty)*", "") == (value or ""), key
