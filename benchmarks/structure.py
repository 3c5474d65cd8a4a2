"""How deep is the code? Lines and files per folder, and the modules that a question passes through.

    python -m benchmarks.structure

In: nothing. Out: docs/measurements/structure. A *module visited* is a file of the package in which a function
ran; a *hop* is a call from a function in one module to one in another. Counted on the second call, when
everything is loaded and cached: `verify` of an answer of two sentences, `ask` over three small documents, and
`ingest` of one of them.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import citewell
from benchmarks.reporting import table, write

SOURCE = Path(citewell.__file__).parent
BEFORE = {"verify": (49, 244), "ask": (86, 365), "ingest": (32, 96)}  # this script, commit 0141645
PAPERS = {
    "leave.md": "# Leave\n\nEverybody has 25 days of leave a year. Up to five days may be carried over.\n",
    "lease.md": "# Lease\n\nThe landlord returns the deposit within 30 days after the tenant has left.\n",
    "prices.csv": "Item,Price (EUR)\nHelmet,49\nLamp,19\n",
}
ANSWER = "Everybody has 25 days of leave [1]. Five of them may be carried over [1]."


class Visits:
    """A profiler's hook: which modules ran, and how often one called another."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.hops = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(SOURCE)):
            return
        self.modules.add(name)
        caller = frame.f_back.f_code.co_filename if frame.f_back else ""
        self.hops += caller.startswith(str(SOURCE)) and caller != name

    def of(self, work: Callable[[], object]) -> tuple[int, int]:
        """Modules and hops of one call, including its threads."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
        return len(self.modules), self.hops


def visited(work: Callable[[], object]) -> tuple[int, int]:
    work()
    return Visits().of(work)


def measured() -> dict[str, tuple[int, int]]:
    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder, "papers")
        papers.mkdir()
        for name, text in PAPERS.items():
            (papers / name).write_text(text)
        with citewell.open(Path(folder, "home")) as kb:
            kb.ingest(papers)
            found = {
                "verify": visited(lambda: citewell.verify(answer=ANSWER, sources=[PAPERS["leave.md"]])),
                "ask": visited(lambda: kb.ask("How many days of leave are there?")),
            }
            (papers / "leave.md").write_text(PAPERS["leave.md"].replace("25", "26"))
            found["ingest"] = Visits().of(lambda: kb.ingest(papers))
            return found


def folders() -> list[tuple[str, int, int, int]]:
    """Name, lines, files, and the lines of the longest file."""
    found = []
    for folder in sorted(path for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"):
        lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py")]
        if lines:
            found.append((folder.name, sum(lines), len(lines), max(lines)))
    return found


def main() -> None:
    counts, parts = measured(), folders()
    total = sum(lines for _, lines, _, _ in parts)
    rows = [
        (name, str(modules), str(hops), *map(str, BEFORE[name])) for name, (modules, hops) in counts.items()
    ]
    body = f"""`python -m benchmarks.structure`: a *module visited* is a file in which a function ran, a *hop*
a call from one module into another; counted on the second call, when everything is loaded.

{table(("", "modules", "hops", "modules before", "hops before"), rows)}

"Before" is the commit 0141645: 62,744 lines in 26 loose files and 22 folders under 22 import layers.
Since then the tree stands in the order of the flow.
Today {total:,} lines stand in {len(parts)} folders under nine.

{table(("folder", "lines", "files", "longest file"), [(n, f"{a:,}", str(b), str(c)) for n, a, b, c in parts])}

Aimed at: at most 48,000 lines, `ask` at most 55 modules, `verify` at most 30, no file over 400 lines without
a reason in its head."""
    values = {"visited": counts, "folders": parts}
    write("structure", "Structure of the code", body, values)
    print(body)


if __name__ == "__main__":
    main()
