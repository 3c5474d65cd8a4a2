"""``citewell eval``: the group, and the files that add commands to it."""

from __future__ import annotations

import typer

from citewell.cli import casefiles, drift, eval_run, probes, spotcheck

group = typer.Typer(help="Measure how good the answers are.", no_args_is_help=True, rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    for file in (eval_run, casefiles, probes, spotcheck, drift):
        file.register(group)
    app.add_typer(group, name="eval")
