"""``python -m benchmarks [HOME]``: runs every measurement in turn, each in its own process.

In: CITEWELL_DATA; HOME is where the filings are ingested (default ``.bench``). Out: docs/measurements.
Exits with 1 if any fails. Allow a day: killing writers and checking a million entries alone take hours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLAIN = (
    "verification", "judge", "rules", "structure", "overstated", "plain_statements", "batteries",
    "superseded", "lies", "parts",
    "linear_time",
    "model_speed", "ranker", "reader", "poison", "pdf_reading", "pdf_writers", "labelled_pages",
    "llm_writers", "injections", "retrieval_beir", "prose_answers", "worked_out", "ingest", "pass_latency",
    "audit_queries",
    "audit_tamper", "fuzzing", "audit_append", "audit_check", "audit_crash",
    "turns", "card_promise",
    "faithfulness", "poisoning", "detectors", "citations", "citation_agreement", "canary",
    "access", "serving", "proxy_latency", "pages", "tasks", "install",
)  # fmt: skip
NEEDING_TORCH = ("quote_decoding", "embedder")  # `make extras trainer` installs it and the base encoder
NEEDING_OCR = ("ocr",)  # `pip install 'citewell[ocr]'`
NEEDING_A_MODEL = ("real_writer",)  # and its server: run separately
OVER_FILINGS = ("retrieval_financebench", "financebench_answers")


def main(home: str) -> int:
    data = os.environ.get("CITEWELL_DATA")
    if not data:
        raise SystemExit("CITEWELL_DATA is unset: point it at the public data")
    filings = Path(data) / "financebench" / "pdfs"
    commands = [["-m", f"benchmarks.{name}"] for name in (*PLAIN, *NEEDING_TORCH, *NEEDING_OCR)]
    commands.append(["-m", "citewell.cli", "--home", home, "ingest", str(filings)])
    commands += [["-m", f"benchmarks.{name}", "--home", home] for name in OVER_FILINGS]
    failed = []
    for command in commands:
        print(" ".join(command), flush=True)
        if subprocess.run([sys.executable, *command], check=False).returncode:
            failed.append(command[1])
    print(f"{len(commands) - len(failed)} done, {len(failed)} failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ".bench"))
