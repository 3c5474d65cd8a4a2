"""`python -m training.card` updates the cards with what was measured, and writes the figures of CARD.md.

In: each model's card.json, docs/measurements, the entailer's support.json. Out: card.json with metrics, and
CARD.md: in full for the entailer and the judge, between the marks for the others. Figures of other weights
are refused: a measurement names the hash it was made with. Exports write their cards by this module too: new
weights start without figures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.judged import GROUNDING
from benchmarks.swaps import DOCUMENTS

from citewell.core.identity import hash_file
from citewell.core.weights import WEIGHTS, judge_folder, read_card
from citewell.verification.support import FILE
from training.card_figures import embedder_metrics, embedder_text, reading_metrics, reading_text
from training.measured import measured

FOLDER = WEIGHTS / "entailer"
MARKS = ("<!-- figures: written by `python -m training.card` -->", "<!-- end of figures -->")
HOW = ("alone", "full verifier")
FIGURES = {"embedder": (embedder_metrics, embedder_text), "reading": (reading_metrics, reading_text)}


def save(folder: Path, card: dict[str, Any]) -> None:
    text = json.dumps(card, indent=2, ensure_ascii=False)
    (folder / "card.json").write_text(text + "\n", encoding="utf-8")


def save_exported(folder: Path, card: dict[str, Any]) -> None:
    """card.json with the hashes of the model's files. The metrics of an older card are kept only if they were
    made with these very files."""
    files = {path.name: hash_file(path) for path in sorted(folder.glob("model.onnx*"))}
    files["tokenizer.json"] = hash_file(folder / "tokenizer.json")
    old = read_card(folder) if (folder / "card.json").exists() else {"files": {}}
    if old["files"].items() >= files.items():
        files = old["files"]
        card = card | {name: old[name] for name in ("metrics",) if name in old}
    else:
        print(f"{card['id']} has new files and no figures yet: training/README.md says what to run")
    save(folder, card | {"files": files})


def state_hash(folder: Path, file: Path) -> None:
    """Records in the card the hash of a file that belongs to the model."""
    card = read_card(folder)
    card["files"][file.name] = hash_file(file)
    save(folder, card)


def metrics(card: dict[str, Any]) -> dict[str, Any]:
    support = json.loads((FOLDER / FILE).read_text(encoding="utf-8"))
    fitted, weights = support["entailer"]["hash"], card["files"]["model.onnx"]
    if fitted != weights or card["files"].get(FILE) != hash_file(FOLDER / FILE):
        raise SystemExit(
            f"support.json was fitted to {fitted}, {card['id']} is {weights}: "
            "run `python -m training.support`, `python -m benchmarks.verification`, `python -m training.card`"
        )
    found = measured("verification", card, "entailer")
    joined = card["files"][FILE]
    if found.get("support", joined) != joined:
        raise SystemExit(
            "verification.json was measured with other coefficients of support: "
            "run `python -m benchmarks.verification`, then `python -m training.card`"
        )
    return {
        "measure": "balanced accuracy (95 % bootstrap interval) and AUROC; threshold fixed beforehand",
        "threshold": support["entailer"]["threshold"],
        "code": found.get("code", ""),
        **{part: _scores(found[part]) for part in ("sets", "edits")},
    }


def _scores(part: dict[str, Any]) -> dict[str, Any]:
    return {
        name: {
            method: {key: round(value, 4) for key, value in line[method].items()}
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
        "(`support.json`).\n",
        "**Measured** on sets that shaped neither weights nor thresholds: "
        f"{scores['measure']} (entailer alone {scores['threshold']}, full verifier 0.5). "
        f"The full verifier's exact checks: commit {scores['code'] or 'not recorded'}.\n",
        "| set | n | entailer alone | full verifier |\n|---|---|---|---|",
        *(_line(name, line, bold=name in GROUNDING) for name, line in scores["sets"].items()),
        "\nOne thing changed in a real sentence, of kinds that training changes too, by the same code. The "
        f"documents are those of {', '.join(f'`{name}`' for name in DOCUMENTS)}, rows of which stand in the "
        "table above; no sentence of them was looked at when the checks were written:\n",
        "| what changed | n | entailer alone | full verifier |\n|---|---|---|---|",
        *(_line(name, line) for name, line in scores["edits"].items()),
        "\nGrounding sets in bold. Every set and method: `docs/measurements/verification.md`.\n",
        "**Bad at** " + "; ".join(card["bad_at"]) + ".\n",
        "**Trained on** (what each origin states; *unclear*: its repository states none)\n",
        "| set | may ship | licence |\n|---|---|---|",
        *(f"| {each['name']} | {each['ship']} | {each['licence']} |" for each in card["trained_on"]),
    ]
    return "\n".join(parts) + "\n"


def judge_text(card: dict[str, Any]) -> str:
    """CARD.md of the judge."""
    scores = card["metrics"]
    lines = [
        (name, *(f"{line[how]['balanced_accuracy']:.3f} / {line[how]['auroc']:.2f}" for how in HOW))
        for name, line in scores["sets"].items()
    ]
    means = [f"**{b:.3f}** ({low:.3f}–{high:.3f}) / {a:.2f}" for b, low, high, a in scores["means"].values()]
    parts = [
        f"# {card['id']}\n",
        "Does a text entail a claim: entailment, neutral, contradiction. English. 109 million parameters.\n",
        f"**Base and licence.** {card['base']['name']}: {card['base']['licence']}.\n",
        f"**Recipe.** {card['recipe'].capitalize()}. `{card['command']}` (seed {card['seed']}).\n",
        f"**Use.** Premises of any length, read in windows ({_rule(card['windows'])}).",
        f"{card['combination'].capitalize()}. Its probability is calibrated by `support.json`.\n",
        f"**Measured** on sets that shaped neither weights nor thresholds (`{scores['command']}`): balanced "
        "accuracy / AUROC; the means with a 95 % bootstrap interval. Written examples kept for reporting: "
        f"AUROC {scores['written']:.3f}. More: `docs/measurements/judge.md`.\n",
        "| set | judge alone | full verifier |\n|---|---|---|",
        *(f"| {' | '.join(line)} |" for line in (*lines, ("**mean**", *means))),
        "\n**Bad at** " + "; ".join(card["bad_at"]) + ".\n",
        "**Trained on** the written examples of `training/data` (Apache-2.0, by a large language model) and "
        "public sets (what each origin states; *unclear*: its repository states none)\n",
        "| set | may ship | licence |\n|---|---|---|",
        *(f"| {each['name']} | {each['ship']} | {each['licence']} |" for each in card["trained_on"]),
    ]
    return "\n".join(parts) + "\n"


def judge_metrics(card: dict[str, Any]) -> dict[str, Any]:
    found = measured("judge", card)
    sets = {name: {how: _rounded(line[how]) for how in HOW} for name, line in found["sets"].items()}
    return {
        "command": "python -m benchmarks.judge",
        "sets": sets,
        "means": {how: found["means"][how] for how in HOW},
        "written": found["written"]["auroc"],
    }


def _rounded(scores: dict[str, Any]) -> dict[str, float]:
    return {key: round(scores[key], 4) for key in ("balanced_accuracy", "low", "high", "auroc", "n")}


def _rule(windows: dict[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in windows.items())


def _line(name: str, line: dict[str, Any], *, bold: bool = False) -> str:
    shown = "{balanced_accuracy:.3f} ({low:.2f}–{high:.2f}) / {auroc:.2f}"
    cells = [shown.format(**scores) for scores in line.values()]
    head = f"**{name}**" if bold else name
    return f"| {head} | {line['entailer']['n']} | " + " | ".join(cells) + " |"


def with_figures(page: str, figures: str) -> str:
    """The card's page with these figures between the marks."""
    before, _, rest = page.partition(MARKS[0])
    return f"{before}{MARKS[0]}\n\n{figures}\n\n{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def main() -> None:
    judge = judge_folder()
    if judge:
        card = read_card(judge)
        card["metrics"] = judge_metrics(card)
        save(judge, card)
        (judge / "CARD.md").write_text(judge_text(card), encoding="utf-8")
    card = read_card(FOLDER)
    card["metrics"] = metrics(card)
    save(FOLDER, card)
    (FOLDER / "CARD.md").write_text(text(card), encoding="utf-8")
    for name, (metrics_of, figures_of) in FIGURES.items():
        card = read_card(WEIGHTS / name)
        card["metrics"] = metrics_of(card)
        save(WEIGHTS / name, card)
        page = WEIGHTS / name / "CARD.md"
        told = with_figures(page.read_text(encoding="utf-8"), figures_of(card["metrics"]))
        page.write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
