"""The figures of docs/measurements for the embedder, the ranker and the reader, as their cards show them.

In: the card, and the measurements of its weights. Out: the card's `metrics`, and the same as Markdown. Every
figure has its n; what was not measured is left out.
"""

from __future__ import annotations

from typing import Any

from benchmarks.reporting import shown, table

from training.measured import measured

RATES = {
    "exact": "exact match",
    "f1": "F1",
    "f1_with_no_answer": "F1, no answer at 0.5",
    "answered_kept_at_half": "answered kept",
    "unanswered_refused_at_half": "unanswered refused",
    "auroc_answerable": "AUROC",
}
STRICT = {"false_positives": "false positives at strict", "recall": "recall at strict"}


def embedder_metrics(card: dict[str, Any]) -> dict[str, Any]:
    found = measured("embedder", card)
    fidelity = rounded({name: found[name] for name in ("command", "n", "documents", "weights")})
    metrics: dict[str, Any] = card.get("metrics", {}) | {"fidelity_to_float32": fidelity}
    return metrics


def embedder_text(metrics: dict[str, Any]) -> str:
    fidelity = metrics["fidelity_to_float32"]
    heads = ["weights", "five nearest shared with float32", "same nearest", "mean cosine", "least cosine"]
    rows = [
        [
            name,
            *(_closely(line[key]) for key in ("top5_overlap", "top1_same")),
            *(f"{line[key]:.4f}" for key in ("cosine_mean", "cosine_min")),
        ]
        for name, line in fidelity["weights"].items()
    ]
    return (
        f"{fidelity['n']:,} chunks from {fidelity['documents']} filings, 95 % bootstrap intervals "
        f"(`{fidelity['command']}`):\n\n{table(heads, rows)}"
    )


def reading_metrics(card: dict[str, Any]) -> dict[str, Any]:
    ranked, read = measured("ranker", card), measured("reader", card)
    found: dict[str, Any] = rounded(
        {
            "ranker": {
                "command": ranked["command"],
                "strict_threshold": ranked["strict_threshold"],
                "pairs": {name: line["ranker"] for name, line in ranked["pairs"].items()},
                "nDCG@10 of the first 30 by BM25": ranked["collections"],
            },
            "reader": {"command": read["command"], "sets": read["sets"]},
        }
    )
    return found


def reading_text(metrics: dict[str, Any]) -> str:
    ranker, reader = metrics["ranker"], metrics["reader"]
    rows = [
        [name, _told(line["auroc"]), *(_told(line["at"]["strict"][key]) for key in STRICT)]
        for name, line in ranker["pairs"].items()
    ]
    orders = ranker["nDCG@10 of the first 30 by BM25"]
    ways = list(next(iter(orders.values())))
    return "\n\n".join(
        [
            "Ranker, 95 % bootstrap intervals (n); strict is its threshold of "
            f"{ranker['strict_threshold']} (`{ranker['command']}`):",
            table(["set", "AUROC", *STRICT.values()], rows),
            table(
                ["nDCG@10 of the first 30 by BM25", *ways],
                [[name, *(_told(line[way]) for way in ways)] for name, line in orders.items()],
            ),
            f"Reader (`{reader['command']}`):",
            table(
                ["set", *RATES.values()],
                [[name, *(_told(line.get(key)) for key in RATES)] for name, line in reader["sets"].items()],
            ),
        ]
    )


def rounded(value: Any) -> Any:
    """Rounded to four places, without what was not measured."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items() if _there(each)}
    return round(value, 4) if isinstance(value, float) else value


def _there(value: Any) -> bool:
    return not (isinstance(value, dict) and "value" in value and value["value"] is None)


def _closely(measure: dict[str, Any]) -> str:
    return f"{measure['value']:.3f} [{measure['low']:.3f}, {measure['high']:.3f}]"


def _told(measure: dict[str, Any] | None) -> str:
    return f"{shown(measure)} ({measure['n']:,})" if measure else "not measured"
