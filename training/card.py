"""`python -m training.card` brings the entailer's card up to what was measured, and writes CARD.md.

In: weights/entailer/card.json, docs/measurements/verification.json, verification/support.json. Out:
card.json with metrics, and CARD.md. Figures of other weights are refused: the measurement names the hash
it was made with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.judged import GROUNDING

from training.export_entailer import BAD_AT, FOLDER

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "docs/measurements/verification.json"
SUPPORT = ROOT / "src/citewell/verification/support.json"


def metrics(card: dict[str, Any]) -> dict[str, Any]:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    support = json.loads(SUPPORT.read_text(encoding="utf-8"))
    weights = card["files"]["model.onnx"]
    for name, found in (("measurement", measured["entailer"]), ("support.json", support["entailer"]["hash"])):
        if found != weights:
            raise SystemExit(f"the {name} was made with {found}, these weights are {weights}: make it again")
    return {
        "measure": "balanced accuracy (95 % bootstrap interval) and AUROC; threshold fixed beforehand",
        "threshold": support["entailer"]["threshold"],
        **{part: _scores(measured[part]) for part in ("sets", "edits")},
    }


def _scores(part: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {
            method: {key: round(value, 3) for key, value in line[method].items()}
            for method in ("entailer", "full verifier")
        }
        for name, line in part.items()
    }


def text(card: dict[str, Any]) -> str:
    measured = card["metrics"]
    parts = [
        f"# {card['id']}\n",
        "Does a text entail a claim: entailment, neutral, contradiction. English. 22.7 million parameters.\n",
        f"**Base and licence.** {card['base']['name']}: {card['base']['licence']}.\n",
        f"**Recipe.** {card['recipe'].capitalize()}. `{card['command']}` (seed {card['seed']}).\n",
        f"**Use.** Premises of any length, read in windows ({_rule(card['windows'])}).",
        f"{card['combination'].capitalize()}.",
        "In the product its probability is joined with exact checks of numbers and names and calibrated",
        "(`verification/support.json`).\n",
        "**Measured** on sets that shaped neither weights nor thresholds: "
        f"{measured['measure']} (entailer alone {measured['threshold']}, full verifier 0.5).\n",
        "| set | n | entailer alone | full verifier |\n|---|---|---|---|",
        *(_line(name, line, bold=name in GROUNDING) for name, line in measured["sets"].items()),
        "\nOne thing changed in a real sentence (of kinds that training changes too, in documents nobody "
        "looked at):\n",
        "| what changed | n | entailer alone | full verifier |\n|---|---|---|---|",
        *(_line(name, line) for name, line in measured["edits"].items()),
        "\nGrounding sets in bold. Every set and method: `docs/measurements/verification.md`.\n",
        "**Bad at** " + "; ".join(BAD_AT) + ".\n",
        "**Trained on** (what each origin states; *unclear*: its repository states none)\n",
        "| set | may ship | licence |\n|---|---|---|",
        *(f"| {each['name']} | {each['ship']} | {each['licence']} |" for each in card["trained_on"]),
    ]
    return "\n".join(parts) + "\n"


def _rule(windows: dict[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in windows.items())


def _line(name: str, line: dict[str, Any], *, bold: bool = False) -> str:
    shown = "{balanced_accuracy:.3f} ({low:.2f}–{high:.2f}) / {auroc:.2f}"
    cells = [shown.format(**scores) for scores in line.values()]
    head = f"**{name}**" if bold else name
    return f"| {head} | {line['entailer']['n']} | " + " | ".join(cells) + " |"


def main() -> None:
    path = FOLDER / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    card["metrics"] = metrics(card)
    path.write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (FOLDER / "CARD.md").write_text(text(card), encoding="utf-8")


if __name__ == "__main__":
    main()
