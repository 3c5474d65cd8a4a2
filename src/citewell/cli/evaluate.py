"""``citewell eval``: the group, and the files that add commands to it.

Each file of :data:`FILES` has ``register(group)``, as the files of ``citewell audit`` do.
"""

from __future__ import annotations

from types import ModuleType

import typer

from citewell.cli import casefiles, drift, eval_run, eval_runs, probes, spotcheck

group = typer.Typer(help="Measure how good the answers are.", no_args_is_help=True, rich_markup_mode=None)
FILES: tuple[ModuleType, ...] = (eval_run, eval_runs, casefiles, probes, spotcheck, drift)


def register(app: typer.Typer) -> None:
    for file in FILES:
        file.register(group)
    app.add_typer(group, name="eval")
