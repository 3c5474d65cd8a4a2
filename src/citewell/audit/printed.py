"""A receipt to be read on paper or in a browser: one HTML page that needs nothing else, or plain text.

In: a receipt. Out: HTML or text. The page proves nothing by itself and says so; the JSON file does.
Everything from documents and people is escaped. Knows nothing about proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from citewell.audit.bodies import SEALED
from citewell.audit.receipts import Receipt

_STYLE = (
    "body{font:16px/1.5 serif;max-width:46em;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:1.6em}"
    "blockquote{margin:.4em 0 .4em 1.5em;padding-left:.8em;border-left:3px solid}"
    "code,td{overflow-wrap:anywhere}td,th{text-align:left;vertical-align:top;padding:.1em .8em .1em 0}"
    "@media print{body{margin:0;max-width:none}}"
)
_POLICY = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)
NOTE = (
    "This page is for reading. The proof is the receipt's JSON file: anyone can check it offline with"
    " `citewell receipt check FILE`."
)


def as_text(receipt: Receipt) -> str:
    """Lines of at most what the texts themselves have; no markup."""
    answer = receipt.answer
    lines = [f"Receipt of {answer['request_id']}", NOTE, ""]
    lines += [f"{name}: {value}" for name, value in _facts(receipt)]
    lines += ["", f"Question: {_said(answer['question'])}", f"Answer: {_said(answer['text'])}", ""]
    for number, claim in enumerate(answer["claims"], 1):
        lines.append(f"{number}. {_state(claim)}: {_said(claim['text'])}")
        lines.append(f"   why: {_said(claim['reason'])}")
        lines += [f"   {where}: “{_said(exact)}”" for where, exact in _spans(receipt, number)]
    lines += ["", "Documents:"]
    lines += [f"   {document['document_id']} {document['version']}" for document in answer["documents"]]
    lines += ["", "Made by:"]
    lines += [f"   {maker['name']} {maker.get('hash', '')}" for maker in answer["models"]]
    lines += ["", "Checkpoint:", receipt.checkpoint.rstrip("\n"), "", f"Issuer's key: {receipt.key}"]
    return "\n".join(lines) + "\n"


def as_html(receipt: Receipt) -> str:
    """One page, no script, no address outside itself."""
    answer = receipt.answer
    title = f"Receipt of {answer['request_id']}"
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        _POLICY,
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1><p>{escape(NOTE)}</p><table>",
        *(f"<tr><th>{escape(name)}<td>{escape(value)}" for name, value in _facts(receipt)),
        f"</table><h2>Question</h2><p>{escape(_said(answer['question']))}</p>",
        f"<h2>Answer</h2><p>{escape(_said(answer['text']))}</p><h2>Claims</h2><ol>",
    ]
    for number, claim in enumerate(answer["claims"], 1):
        parts.append(f"<li><strong>{escape(_state(claim))}</strong>: {escape(_said(claim['text']))}")
        parts.append(f"<br><small>{escape(_said(claim['reason']))}</small>")
        parts += [
            f"<blockquote>{escape(_said(exact))}<br><small>{escape(where)}</small></blockquote>"
            for where, exact in _spans(receipt, number)
        ]
    parts.append("</ol><h2>Documents</h2><table>")
    parts += [
        f"<tr><td>{escape(document['document_id'])}<td><code>{escape(document['version'])}</code>"
        for document in answer["documents"]
    ]
    parts.append("</table><h2>Made by</h2><table>")
    parts += [
        f"<tr><td>{escape(maker['name'])}<td><code>{escape(maker.get('hash', ''))}</code>"
        for maker in answer["models"]
    ]
    parts.append(f"</table><h2>Checkpoint</h2><pre>{escape(receipt.checkpoint)}</pre>")
    parts.append(f"<p>Issuer's key: <code>{escape(receipt.key)}</code></p></body></html>\n")
    return "".join(parts)


def _facts(receipt: Receipt) -> Iterator[tuple[str, str]]:
    answer = receipt.answer
    confidence = answer["confidence"]
    yield "time", str(answer["timestamp"])
    yield "decision", str(answer["decision"] or "error")
    yield "confidence", "not measured" if confidence is None else f"{confidence:.2f}"
    if answer["failure"]:
        yield "failure", str(answer["failure"])
    if answer["calibration_card"]:
        yield "calibration card", _said(answer["calibration_card"])
    yield "index version", str(answer["index_version"])
    yield "configuration", str(answer["config_hash"])
    yield "entry", f"{receipt.entry.seq} of {receipt.checkpoint.splitlines()[0]}"


def _spans(receipt: Receipt, number: int) -> Iterator[tuple[str, Any]]:
    """Where and what, of one claim's citations."""
    start = f"urn:citewell:{receipt.answer['request_id']}:{number}:"
    for annotation in receipt.annotations:
        if annotation["id"].startswith(start):
            quote, place = annotation["target"]["selector"]
            yield f"{annotation['target']['source']} [{place['start']}:{place['end']}]", quote["exact"]


def _state(claim: dict[str, Any]) -> str:
    shown = "" if claim["shown"] else ", not shown"
    failure = f" ({claim['failure']})" if claim["failure"] else ""
    proof = f" by {claim['proof']}" if claim["proof"] else ""
    return f"{claim['status']}{failure}{proof}{shown}"


def _said(value: Any) -> str:
    """A text, or the words for one that is not shown here."""
    if type(value) is dict and SEALED in value:
        return f"[not shown: {value[SEALED]}]"
    return str(value)
