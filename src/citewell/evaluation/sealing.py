"""An evaluation in a home's log: what was measured, for what, and which requests were asked.

In: a run and the log. Out: one entry of kind ``evaluation``. Knows nothing about how anything was measured.
"""

from __future__ import annotations

from citewell.audit import EntryKind, Log
from citewell.core.identity import hash_value, plain
from citewell.evaluation.results import Run


def seal_run(log: Log, run: Run) -> str:
    """The entry's hash. ``hash`` in it is of the run without its timings. Raises LogError."""
    untimed = plain(run)
    del untimed["timings"]
    measures = [
        {key: value for key, value in plain(result).items() if key != "maker"} for result in run.measures
    ]
    body = {
        "measure": "eval run",
        "hash": hash_value(untimed),
        "config_hash": run.key.config,
        "index_version": run.key.index,
        "generation_model": run.key.model,
        "generation_prompt_hash": run.key.prompt,
        "cases": run.key.cases,
        "answers": run.key.answers,
        "runs": run.key.runs,
        "top_k": run.key.top_k,
        "judge": run.key.judge,
        "notes": run.notes,
        "n_cases": len(run.cases),
        "n_failed": sum(bool(outcome.error) for outcome in run.cases),
        "measures": measures,
        "requests": [{"request_id": timing.request_id} for timing in run.timings.cases.values()],
    }
    return log.note(EntryKind.EVALUATION, body)
