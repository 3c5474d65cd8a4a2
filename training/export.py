"""`python -m training.export NAME...` writes the named models' graphs, tokenizers and cards into the
package.
"""

from __future__ import annotations

import importlib
import sys

MODULES = {
    "embedder": "training.export_embedder",
    "entailer": "training.export_entailer",
    "judge": "training.export_judge",
    "reading": "training.export_reading",
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in MODULES]
    if unknown or not names:
        raise SystemExit(f"unknown {unknown}; one or more of {', '.join(MODULES)}")
    for name in names:
        importlib.import_module(MODULES[name]).main()


if __name__ == "__main__":
    main(sys.argv[1:])
