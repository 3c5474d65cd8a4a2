"""`python -m training.card` brings the entailer's card up to what was measured, and writes CARD.md.

In: weights/entailer/card.json, docs/measurements/verification.json, verification/support.json. Out:
card.json with metrics, and CARD.md. Figures of other weights are refused: the measurement names the hash
it was made with. An export writes its card by this module too: new weights begin without figures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.judged import GROUNDING

from citewell.identity import hash_file
from citewell.verification.support import COEFFICIENTS
from citewell.weights import WEIGHTS, read_card

FOLDER = WEIGHTS / "entailer"
MEASURED = Path(__file__).parents[1] / "docs/measurements"


def save(folder: Path, card: dict[str, Any]) -> None:
    text = json.dumps(card, indent=2, ensure_ascii=False)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")


def save_exported(folder: Path, card: dict[str, Any]) -> None:
    """card.json with the hashes of the model's files. What an older card says was measured or fitted beside
    it stays only where it was made with these very files."""
    files = {name: hash_file(folder / name) for name in ("model.onnx", "tokenizer.json")}
    old = read_card(folder) if (folder / "card.json").exists() else {"files": {}}
    if old["files"].items() >= files.items():
        files = old["files"]
        card = card | {name: old[name] for name in ("metrics",) if name in old}
    save(folder, card | {"files": files})


def state_hash(folder: Path, file: Path) -> None:
    """States in the card the hash of a file that belongs to the model."""
    card = read_card(folder)
    card["files"][file.name] = hash_file(file)
    save(folder, card)


def measured(name: str, card: dict[str, Any], key: str = "model") -> dict[str, Any]:
    """Of docs/measurements. Ends the run with what to do when the figures are of other weights."""
    found: dict[str, Any] = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    weights = card["files"]["model.onnx"]
    if found[key] != weights:
        raise SystemExit(
            f"{name}.json was measured with {found[key]}, {card['id']} is {weights}: "
            f"run `python -m benchmarks.{name}`, then `python -m training.card`"
        )
    return found


def metrics(card: dict[str, Any]) -> dict[str, Any]:
    support = json.loads(COEFFICIENTS.read_text(encoding="utf-8"))
    fitted, weights = support["entailer"]["hash"], card["files"]["model.onnx"]
    if fitted != weights or card["files"].get(COEFFICIENTS.name) != hash_file(COEFFICIENTS):
        raise SystemExit(
            f"support.json was fitted to {fitted}, {card['id']} is {weights}: "
            "run `python -m training.support`, `python -m benchmarks.verification`, `python -m training.card`"
        )
    found = measured("verification", card, "entailer")
    return {
        "measure": "balanced accuracy (95 % bootstrap interval) and AUROC; threshold fixed beforehand",
        "threshold": support["entailer"]["threshold"],
        **{part: _scores(found[part]) for part in ("sets", "edits")},
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
    scores = card["metrics"]
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
        f"{scores['measure']} (entailer alone {scores['threshold']}, full verifier 0.5).\n",
        "| set | n | entailer alone | full verifier |\n|---|---|---|---|",
        *(_line(name, line, bold=name in GROUNDING) for name, line in scores["sets"].items()),
        "\nOne thing changed in a real sentence (of kinds that training changes too, in documents nobody "
        "looked at):\n",
        "| what changed | n | entailer alone | full verifier |\n|---|---|---|---|",
        *(_line(name, line) for name, line in scores["edits"].items()),
        "\nGrounding sets in bold. Every set and method: `docs/measurements/verification.md`.\n",
        "**Bad at** " + "; ".join(card["bad_at"]) + ".\n",
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
    card = read_card(FOLDER)
    card["metrics"] = metrics(card)
    save(FOLDER, card)
    (FOLDER / "CARD.md").write_text(text(card), encoding="utf-8")


if __name__ == "__main__":
    main()
