"""Declares commands: on a home, with --json and --home, and an exit code for the result.

In: a function on an open KnowledgeBase (its first parameter is ``kb``), on its :class:`Home` (``home``), or
neither. Out: a command in a group. Its docstring is its help; after a blank line it may describe its options,
each as ``--name METAVAR: help``. Also what commands share: the home they work on (``--home`` before or after
the subcommand, ``CITEWELL_HOME``, ``.citewell``), groups, options, and helpers for users' files.
"""

from __future__ import annotations

import copy
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

import typer

from citewell.cli.errors import Commands
from citewell.cli.printing import OK, say_json
from citewell.core.config import Config
from citewell.core.errors import CitewellError, UsageError
from citewell.knowledge import opening
from citewell.knowledge.assembly import Assembly, load_config
from citewell.knowledge.home import KnowledgeBase

Function = TypeVar("Function", bound=Callable[..., Any])
Named = TypeVar("Named", bound=StrEnum)
_OPTION = re.compile(r"--(?P<name>[\w-]+)(?: (?P<metavar>\S+))?: (?P<help>.+)")


def options_in(text: str) -> dict[str, Any]:
    """Options by name, from lines ``--name METAVAR: help``; an indented line continues the previous one."""
    found = [_OPTION.fullmatch(line) for line in re.sub(r"\n +", " ", text.strip()).splitlines()]
    return {one["name"]: typer.Option(metavar=one["metavar"], help=one["help"]) for one in found if one}


SHARED = options_in("""\
--home DIR: The home folder; also set by CITEWELL_HOME. [default: .citewell]
--json: Print JSON on standard output.
--since WHEN: 30d, 12h, or a date.
--out FILE: Also write the result to FILE.
--html FILE: Also write the page here.
--by NAME: Who judges, for the record.
--seed: A different seed draws different ones.
--user U: Your name, for the record.
--reader U: Your name, for the record.
--reviewer U: Who decides, for the record.
--reason: Why, for the record.
--group G: A group the asker belongs to; repeatable.
--top-k: Passages to pass on. [default: 5]
--pool: Candidates to rank. [default: 50]
--document D: Search only this document.
--tag T: Search only documents with this label.
--host H: The address to listen on. [default: 127.0.0.1]
--port P: The port to listen on. [default: 8000]
--state: open, accepted, dismissed or all.
--cause: thumbs_down, relevance_gate_failed, ...
--cursor: The cursor that the previous page printed.
--writer LINE: Probe this writer (such as openai:MODEL) instead of the home's.
--judge LINE: Also measure this judge, such as openai:MODEL.
--answers FILE: Judge these recorded answers instead of asking.
""")
"""Options that a command need not describe itself."""

Id = Annotated[str, typer.Argument(metavar="ID", help="The record id that `ask` printed.")]
Words = list[str] | None
TopK = Annotated[int | None, typer.Option(min=1, max=10)]
Pool = Annotated[int | None, typer.Option(min=1, max=1000)]
Page = Annotated[int, typer.Option(min=1, max=1000)]
AtLeastOne = Annotated[int | None, typer.Option(min=1)]
Port = Annotated[int | None, typer.Option(min=0, max=65535)]


@dataclass(frozen=True)
class CommandResult:
    """A command's result: ``value`` for ``--json``; ``tell`` prints it for people."""

    value: Any
    tell: Callable[[], None]
    code: int = OK


DEFAULT = ".citewell"
STDIN = "-"


class Home(NamedTuple):
    """The home folder that a command works on; it need not exist."""

    context: typer.Context
    path: Path

    @classmethod
    def of(cls, context: typer.Context, home: str | None) -> Home:
        """The first one given: after the subcommand, before it, in the environment, or the default."""
        given = home or context.find_root().params.get("home") or os.environ.get("CITEWELL_HOME")
        return cls(context, Path(given or DEFAULT))

    def must_be_there(self) -> None:
        """Raises CitewellError with the remedy if the home does not exist or is a file."""
        home = self.path
        if not home.exists():
            raise CitewellError(f"no knowledge base at {home}", hint="create one with `citewell ingest PATH`")
        if not home.is_dir():
            raise CitewellError(f"the home {home} is a file, not a folder", hint="name a folder with --home")

    def config(self, said: Mapping[str, str] | None = None) -> Config:
        """``said`` overrides environment variables."""
        return load_config(self.path, said)

    def open(self, *, make: bool = False, config: Config | None = None) -> KnowledgeBase:
        """Opens the home, which must exist unless ``make`` is set, until the command ends. Raises
        CitewellError with the remedy."""
        if self.path.exists() or not make:
            self.must_be_there()
        found = opening.open(self.path, config=config or self.config())
        self.context.call_on_close(found.close)
        return found

    def parts(self) -> Assembly:
        """Its parts as configured, even if there is no home yet."""
        return Assembly(self.path, self.config())


app = typer.Typer(
    cls=Commands,
    name="citewell",
    help="Ask your documents questions. Every quote in an answer is checked, and every answer is recorded.",
    epilog='Start with `citewell ingest FOLDER`, then `citewell ask "QUESTION"`.',
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def group(name: str, help: str, under: typer.Typer = app, **more: Any) -> typer.Typer:
    """A group of commands; on its own it shows its help."""
    made = typer.Typer(help=help, rich_markup_mode=None, **{"no_args_is_help": True, **more})
    under.add_typer(made, name=name)
    return made


def command(
    group: typer.Typer,
    name: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    new_home: bool = False,
) -> Callable[[Function], Function]:
    """Adds the function to ``group``, with ``--home`` if its first parameter is ``kb`` or ``home``.

    The function returns :class:`CommandResult`, which adds ``--json`` to print its value, or an exit code, or
    None; one with its own parameter ``json`` does its own printing. ``options`` (all "" by default) are
    passed as one mapping, its last parameter; ``new_home``: the home need not exist yet.
    """

    def add(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = list(signature.parameters.values())
        first = own[0].name if own else ""
        over_home = first in ("kb", "home")
        table = own.pop().name if options is not None else ""
        prints = any(parameter.name == "json" for parameter in own)

        def run(context: typer.Context, **given: Any) -> None:
            json = given["json"] if prints else given.pop("json", False)
            if table:
                given[table] = {option: given.pop(option) for option in options or {}}
            if over_home:
                own_home = Home.of(context, given.pop("home"))
                found = function(own_home.open(make=new_home) if first == "kb" else own_home, **given)
            else:
                found = function(**given)
            if isinstance(found, CommandResult):
                say_json(found.value) if json else found.tell()
                found = found.code
            if found:
                raise typer.Exit(found)

        text, _, lines = (inspect.getdoc(function) or "").partition("\n\n--")
        described = SHARED | (options_in(f"--{lines}") if lines else {})
        parameters = [
            _parameter("context", Parameter.empty, typer.Context),
            *(_described(parameter, described) for parameter in own[over_home:]),
            *(_parameter(one, "", Annotated[str, option]) for one, option in (options or {}).items()),
        ]
        if signature.return_annotation is CommandResult:
            parameters.append(_described(_parameter("json", False, bool), described))
        if over_home:
            parameters.append(_described(_parameter("home", None, str | None), described))
        run.__name__, run.__doc__ = function.__name__, text
        run.__annotations__ = {}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        group.command(name)(run)
        return function

    return add


def _described(parameter: Parameter, options: Mapping[str, Any]) -> Parameter:
    """The parameter as an option with its help; an argument describes itself."""
    annotation, made = parameter.annotation, typer.Option()
    if get_origin(annotation) is Annotated:
        annotation, made = get_args(annotation)
    if isinstance(made, typer.models.ArgumentInfo):
        return parameter
    flag = made.default if isinstance(made.default, str) else f"--{parameter.name.replace('_', '-')}"
    made, said = copy.copy(made), options.get(flag.removeprefix("--"))
    made.default = flag  # for a bool too, so that it gets no --no-...
    if said is not None:
        made.metavar, made.help = said.metavar, said.help
    return parameter.replace(annotation=Annotated[annotation, made])


def _parameter(name: str, default: Any, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def members(kind: type[Named], given: list[str] | None, what: str) -> tuple[Named, ...]:
    """The members of ``kind`` with these values. Raises UsageError for an unknown one, as a ``what``."""
    for name in given or ():
        if name not in list(kind):
            raise UsageError(f"unknown {what} {name!r}", hint=f"use one of {', '.join(kind)}")
    return tuple(map(kind, given or ()))


def refuse_unwritable(path: Path | None) -> None:
    """Raises UsageError if no file can be written there, before the work rather than after it."""
    if path is None:
        return
    above = next(folder for folder in path.absolute().parents if folder.exists())
    # A folder; or a stream, which the file would replace.
    special = (path.exists() and not path.is_file()) or path.absolute().parts[1:2] in (("dev",), ("proc",))
    if special or not above.is_dir() or not os.access(above, os.W_OK):
        raise UsageError(f"{path} cannot be written", hint="name a file in a folder that you can write to")


def read_bytes(path: str | Path, *, hint: str = "check the path") -> bytes:
    """The file's bytes, or those of standard input for ``-``. Raises UsageError if it cannot be read."""
    try:
        return sys.stdin.buffer.read() if str(path) == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})", hint=hint) from error


def read_text(path: str | Path, *, hint: str = "check the path") -> str:
    """As :func:`read_bytes`, decoded; also raises UsageError if it is not UTF-8."""
    try:
        return read_bytes(path, hint=hint).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
