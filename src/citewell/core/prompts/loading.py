"""Prompt files: checked for their variables when they are loaded, hashed into the record.

In: the name of a ``.txt`` file next to this module and the variables it must have (``$name``). Out: a Prompt.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from pathlib import Path

from citewell.core.errors import ConfigError
from citewell.core.identity import hash_text, hash_value
from citewell.core.records import Record

FOLDER = Path(__file__).parent


class Prompt(Record, frozen=True, kw_only=True):
    """``hash`` covers the file's text as it is on disk."""

    name: str
    text: str
    hash: str

    def fill(self, **values: str) -> str:
        """The text with every variable replaced; a missing or unknown one raises ConfigError."""
        wanted = set(string.Template(self.text).get_identifiers())
        if wanted != set(values):
            raise ConfigError(f"prompt {self.name} takes {sorted(wanted)} but was given {sorted(values)}")
        return string.Template(self.text).substitute(values)


def packaged_prompts() -> tuple[Prompt, ...]:
    """Every prompt file as it is on disk now, sorted by name."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))}
    return tuple(Prompt(name=name, text=text, hash=hash_text(text)) for name, text in texts.items())


def hash_prompts(prompts: Iterable[Prompt]) -> str:
    """One hash over several files, whatever their order."""
    return hash_value({prompt.name: prompt.hash for prompt in prompts})


def load_prompt(name: str, variables: Iterable[str]) -> Prompt:
    """The prompt file ``name``; raises ConfigError when its variables are not exactly ``variables``."""
    path = FOLDER / f"{name}.txt"
    if not path.is_file():
        known = ", ".join(sorted(other.stem for other in FOLDER.glob("*.txt")))
        raise ConfigError(f"there is no prompt {name!r}", hint=f"use one of: {known}")
    text = path.read_text(encoding="utf-8")
    template = string.Template(text)
    if not template.is_valid() or set(template.get_identifiers()) != set(variables):
        raise ConfigError(
            f"prompt {name} has the variables {sorted(template.get_identifiers())}, "
            f"the code fills {sorted(variables)}",
            hint=f"fix {path.name}",
        )
    return Prompt(name=name, text=text, hash=hash_text(text))
