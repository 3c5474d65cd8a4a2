"""The documentation cannot drift: its Python runs, and its commands exist."""

from __future__ import annotations

import pkgutil
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def blocks(language: str) -> list[object]:
    found = []
    for page in PAGES:
        for number, match in enumerate(
            re.finditer(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.M | re.S)
        ):
            found.append(pytest.param(match[1], id=f"{page.relative_to(ROOT)}-{number}"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("code", blocks("python"))
def test_python_in_the_docs_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reports").mkdir()
    for name in ("docs/architecture.md", "README.md"):
        (tmp_path / "reports" / Path(name).name).write_text((ROOT / name).read_text())
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "documentation", "exec"), {"__name__": "documentation"})  # noqa: S102


@pytest.mark.parametrize("code", blocks("console"))
def test_commands_in_the_docs_exist(code: str) -> None:
    import typer.main

    from citewell.cli import app

    root = typer.main.get_command(app)
    for line in code.splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ ") else []
        if words[:1] == ["make"]:
            assert all(
                re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.M) for target in words[1:]
            )
        if words[:1] == ["citewell"]:
            command = root
            for word in words[1:]:
                inner = getattr(command, "commands", {}).get(word)
                if inner is None:
                    break
                command = inner
            assert command is not root, line
            options = {name for parameter in command.params for name in parameter.opts}
            used = {word.split("=")[0] for word in words if word.startswith("--")}
            assert used <= options | {"--help", "--home"}, line


def commands() -> list[object]:
    import typer.main

    from citewell.cli import app

    def below(command: object, words: tuple[str, ...]) -> list[object]:
        inner = getattr(command, "commands", {})
        if not inner:
            return [pytest.param(" ".join(words), command, id="-".join(words))]
        return [found for name, child in inner.items() for found in below(child, (*words, name))]

    return below(typer.main.get_command(app), ("citewell",))


@pytest.mark.parametrize(("words", "command"), commands())
def test_every_command_is_documented(words: str, command: object) -> None:
    assert f"`{words}" in (ROOT / "docs" / "commands.md").read_text()


def test_the_readme_is_at_most_150_lines() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_architecture_draws_the_layers_that_lint_enforces() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    enforced = [
        {name.strip(" ()") for name in layer.split("|")} for layer in reversed(contracts[0]["layers"])
    ]
    page = (ROOT / "docs/architecture.md").read_text().split("## Who may import whom")[1]
    drawn = "\n".join(re.split(r" {3,}(?=\S)", line.strip())[0] for line in page.split("```")[1].splitlines())
    assert [set(layer.split()) for layer in drawn.split("<")] == enforced


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = re.findall(r"`((?:[\w.]+/)+\w+\.py)`", page.read_text())
    missing = [name for name in named if not any(ROOT.rglob(name))]
    assert not missing


def test_every_page_has_small_pictures_in_both_themes_and_widths() -> None:
    from benchmarks.pages import PICTURES, WIDTHS

    images = ROOT / "docs" / "images"
    taken = {
        f"{name}-{theme}{end}" for name in PICTURES for theme in ("light", "dark") for end in WIDTHS.values()
    }
    assert {path.name for path in images.glob("*.png")} == taken
    assert sum(path.stat().st_size for path in images.glob("*.png")) < 3_000_000
    gallery = (ROOT / "docs" / "pictures.md").read_text()
    assert [name for name in taken if f"(images/{name})" not in gallery] == []


def test_every_decision_and_measurement_is_listed() -> None:
    notes = {note: note.read_text().splitlines()[0] for note in (ROOT / "docs/decisions").glob("[0-9]*.md")}
    index = (ROOT / "docs/decisions/README.md").read_text()
    assert [note.name for note, title in notes.items() if f"[{title[2:]}]({note.name})" not in index] == []
    assert [note.name for note, title in notes.items() if not title.startswith(f"# {note.name[:3]} ")] == []
    measured = {page.name for page in (ROOT / "docs/measurements").glob("*.md")} - {"README.md"}
    index = (ROOT / "docs/measurements/README.md").read_text()
    assert [name for name in measured if f"({name})" not in index] == []


def test_make_bench_writes_every_measurement_that_is_listed() -> None:
    from benchmarks.__main__ import NEEDING_A_MODEL, NEEDING_OCR, NEEDING_TORCH, OVER_FILINGS, PLAIN

    run = {*PLAIN, *NEEDING_TORCH, *NEEDING_OCR, *NEEDING_A_MODEL, *OVER_FILINGS}
    written = {page.stem for page in (ROOT / "docs/measurements").glob("*.md")} - {"README"}
    assert written - run == {"pdf"}  # written by pdf_reading
    pages = {name: (ROOT / f"docs/measurements/{name}.md").read_text() for name in written}
    assert [name for name, page in pages.items() if f"benchmarks.{name}" not in page] == []
    assert [name for name in run if not (ROOT / f"benchmarks/{name}.py").is_file()] == []


@pytest.mark.slow
def test_what_docstrings_refer_to_is_there() -> None:
    missing = []
    for page in sorted((ROOT / "src").rglob("*.py")):
        for name in re.findall(r":(?:mod|class|func|meth):`~?(citewell[\w.]*)`", page.read_text()):
            try:
                pkgutil.resolve_name(name)
            except (ImportError, AttributeError):
                missing.append(f"{page.relative_to(ROOT)}: {name}")
    assert missing == []


def test_the_tree_in_the_readme_is_the_tree() -> None:
    drawn = (ROOT / "README.md").read_text().split("src/citewell/\n")[1].split("```")[0]
    inside = [line for line in drawn.splitlines() if line.startswith("  ")]
    named = [name for line in inside for name in re.split(r"\s{3,}", line.strip())[0].split()]
    assert [name for name in named if not (ROOT / "src/citewell" / name).exists()] == []
