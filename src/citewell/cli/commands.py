"""How a command is declared: over a home, with --json and --home, and an exit code for what it found.

In: a function over an open KnowledgeBase (its first parameter ``kb``), over its :class:`Home` (``home``) or
over neither. Out: a command of a group. Also what several commands share: a table of options, and files of
their users.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_origin

import typer

from citewell.cli.home import Home, HomeOption, JsonOption, home_of
from citewell.cli.printing import OK, say_json
from citewell.core.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS: dict[str, Any] = {
    name: typer.Option(metavar=metavar, help=help)
    for name, metavar, help in (
        ("since", "WHEN", "30d, 12h, or a date."),
        ("out", "FILE", "Also write the result to FILE."),
        ("html", "FILE", "Also write the page here."),
        ("labels", "FILE", "Read such a file back once it is filled in."),
        ("by", "NAME", "Who judges, for the record."),
        ("seed", None, "A different seed draws different ones."),
        ("reader", "U", "Your name, for the record."),
        ("reviewer", "U", "Who decides, for the record."),
        ("state", None, "open, accepted, dismissed or all."),
        ("topic", None, "A topic as `review groups --by topic` names it."),
        ("cause", None, "thumbs_down, relevance_gate_failed, ..."),
        ("cursor", None, "The cursor that the previous page printed."),
        ("writer", "LINE", "Probe this writer (such as openai:MODEL) instead of the home's."),
        ("judge", "LINE", "Also measure this judge, such as openai:MODEL."),
    )
}
"""Options of several commands, and single ones, by their parameter's name; one that says more about itself in
its annotation is not looked up."""

Id = Annotated[str, typer.Argument(metavar="ID", help="The record id that `ask` printed.")]
Groups = Annotated[
    list[str] | None, typer.Option("--group", metavar="G", help="A group the asker belongs to; repeatable.")
]


@dataclass(frozen=True)
class Found:
    """What a command has to say: ``value`` for ``--json``, ``tell`` prints it for people."""

    value: Any
    tell: Callable[[], None]
    code: int = OK


def group(help: str, **more: Any) -> typer.Typer:
    """Of commands; without one of them its help is shown."""
    return typer.Typer(help=help, rich_markup_mode=None, **{"no_args_is_help": True, **more})


def command(
    group: typer.Typer,
    name: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    new_home: bool = False,
) -> Callable[[Function], Function]:
    """Adds the function to ``group``, with ``--home`` if its first parameter is ``kb`` or ``home``.

    It returns what it :class:`Found`, then ``--json`` prints its value, or else an exit code or nothing.
    ``options`` (name -> annotation, all "" by default) reach it as one mapping, its last parameter;
    ``new_home`` is for a home that need not be there yet.
    """

    def add(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = list(signature.parameters.values())
        first = own[0].name if own else ""
        over_home = first in ("kb", "home")
        table = own.pop().name if options is not None else ""

        def run(context: typer.Context, json: bool = False, **given: Any) -> None:
            if table:
                given[table] = {option: given.pop(option) for option in options or {}}
            if over_home:
                home = given.pop("home")
                own_home = Home(context, home_of(context, home))
                found = function(own_home.open(make=new_home) if first == "kb" else own_home, **given)
            else:
                found = function(**given)
            if isinstance(found, Found):
                say_json(found.value) if json else found.tell()
                found = found.code
            if found:
                raise typer.Exit(found)

        parameters = [
            _option("context", Parameter.empty, typer.Context),
            *map(_described, own[over_home:]),
            *(_option(option, "", annotation) for option, annotation in (options or {}).items()),
        ]
        if signature.return_annotation is Found:
            parameters.append(_option("json", False, JsonOption))
        if over_home:
            parameters.append(_option("home", None, HomeOption))
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__annotations__ = {}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer asks for it
        group.command(name)(run)
        return function

    return add


def _described(parameter: Parameter) -> Parameter:
    """With what the table says of it."""
    if get_origin(parameter.annotation) is Annotated or parameter.name not in OPTIONS:
        return parameter
    return parameter.replace(annotation=Annotated[parameter.annotation, OPTIONS[parameter.name]])


def _option(name: str, default: Any, annotation: Any) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


evaluation = group("Measure how good the answers are.")
probe = group("Change what the pipeline reads and see how the answer changes.")
evaluation.add_typer(probe, name="probe")


def refuse_unwritable(path: Path | None) -> None:
    """Raises UsageError if no file can be written there, before the work rather than after it."""
    if path is None:
        return
    above = next(folder for folder in path.absolute().parents if folder.exists())
    # A folder; or a stream, whose place a file would take.
    special = (path.exists() and not path.is_file()) or path.absolute().parts[1:2] in (("dev",), ("proc",))
    if special or not above.is_dir() or not os.access(above, os.W_OK):
        raise UsageError(f"{path} cannot be written", hint="name a file in a folder that you can write to")


def text_of(path: Path, *, hint: str = "name a text file") -> str:
    """Raises UsageError for a file that cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint=hint) from error
