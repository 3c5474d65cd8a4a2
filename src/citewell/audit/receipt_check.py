"""Checks a receipt offline, without a store.

In: the file's bytes; from independent sources, the issuer's public key and checkpoints of the issuer's log.
Out: a :class:`ReceiptReport`: what the file proves, what it does not, what is wrong with it. Everything is
recomputed: the body's hash, each opened text's salted hash, the leaf, the path to the root, the signature and
all readable parts. Without an independent key or checkpoint a receipt proves integrity, not origin: its maker
could have made a log of one entry for it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from citewell.audit.entries import SEALED, Leaf, member, steps
from citewell.audit.merkle import leaf_hash, verify_inclusion
from citewell.audit.notes import Checkpoint, TrustedKeys, checkpoints_in, read_checkpoint, read_key, verify
from citewell.audit.receipts import ABOUT, FORMAT, Receipt, may_be_shown, readable_answer, receipt_bytes
from citewell.core.identity import canonical_json, hash_bytes, hash_value, opens
from citewell.core.records import Record

MAX_BYTES = 64 << 20
_NAMED = 5
"""Texts that are listed; the rest are only counted."""


class ReceiptReport(Record, frozen=True, kw_only=True):
    """``ok``: no findings. ``origin``: the issuer is proven too; ``issuer`` is then the name of its key, else
    the one that the file claims."""

    ok: bool
    origin: bool
    issuer: str
    findings: tuple[str, ...]
    proves: tuple[str, ...]
    does_not_prove: tuple[str, ...]


NEVER_PROVEN = (
    "that the answer is true: only what was answered, on which spans, and what was checked",
    "that the documents are genuine: it names their versions by hash, so compare them with your own",
    "that nothing else was asked or answered: that needs the whole log",
)

RETIRED = (
    "that it was made before its key was retired: anyone who has that key now can make one like"
    " it. A checkpoint"
    " that you kept, or a receipt against a newer checkpoint, proves it"
)


def check_receipt(data: bytes, *, key: str = "", outside: Sequence[str] = ()) -> ReceiptReport:
    """``key``: verifier keys (``name+id+base64``), one per line; ``outside``: checkpoints kept by others."""
    try:
        receipt = _read(data)
    except ValueError as error:
        return _report([f"this is not a receipt: {error}"], None, "", False)
    findings = _findings(receipt)
    checkpoint = _checkpoint(receipt, findings)
    if checkpoint is not None:
        findings += _inclusion("the answer", receipt.entry, receipt.proof, checkpoint)
        if receipt.configuration is not None:
            proven = receipt.configuration
            findings += _inclusion("the configuration", proven.entry, proven.proof, checkpoint)
    origin = retired = False
    if checkpoint is not None and key:
        trusted = TrustedKeys(key)
        fault = trusted.fault(checkpoint)
        findings += [f"with the key you gave: {fault}"] if fault else []
        origin = not fault
        retired = origin and trusted.by_retired(checkpoint)
    for text in outside:
        fault = _against(checkpoint, text)
        findings += [fault] if fault else []
        origin = origin or not fault
        retired = retired and bool(fault)
    issuer = checkpoint.origin if checkpoint else ""
    return _report(findings, receipt, issuer, origin and not findings, retired=retired)


def _read(data: bytes) -> Receipt:
    """Raises ValueError with the reason if it is not a receipt."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is too large ({len(data)} bytes)")
    try:
        # Rejects what a lenient parser would hide: a member that appears twice.
        value = json.loads(data, object_pairs_hook=_once, parse_constant=_no_number)
        receipt = msgspec.convert(value, Receipt)
    except (UnicodeDecodeError, json.JSONDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if receipt_bytes(receipt).rstrip(b"\n") != data.rstrip(b"\n"):
        raise ValueError("it is not in canonical form (RFC 8785), so Citewell did not write it")
    return receipt


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a member appears twice")
    return found


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _findings(receipt: Receipt) -> list[str]:
    """The checks that need no checkpoint."""
    findings = []
    if receipt.format != FORMAT:
        return [f"its format is {receipt.format!r}, but this Citewell only knows {FORMAT}"]
    if receipt.about != ABOUT:
        findings.append("`about` is not the fixed sentence of this format")
    if hash_bytes(canonical_json(receipt.body)) != receipt.entry.body:
        findings.append("the body is not the one that was sealed")
    for pointer, opened in receipt.opened.items():
        sealed = _at(receipt.body, pointer)
        try:
            salt = bytes.fromhex(opened.salt)
        except ValueError:
            salt = b""
        if opened.salt != salt.hex() or not opens(salt, opened.text, sealed):
            findings.append(f"the text shown for {pointer} is not the one that was sealed")
    findings += _settings(receipt)
    try:
        answer, annotations = readable_answer(receipt.body, receipt.opened, receipt.configuration)
    except (KeyError, TypeError, AttributeError) as error:
        return [*findings, f"the body is not a valid record: {error!r}"]
    if canonical_json(answer) != canonical_json(receipt.answer):
        findings.append("`answer` does not match the sealed body")
    if canonical_json(annotations) != canonical_json(receipt.annotations):
        findings.append("`annotations` do not match the citations of the sealed body")
    return findings


def _settings(receipt: Receipt) -> list[str]:
    proven = receipt.configuration
    if proven is None:
        return []
    findings = []
    if proven.entry.kind != "configuration" or hash_bytes(canonical_json(proven.body)) != proven.entry.body:
        findings.append("the configuration is not the one that was sealed")
    if hash_value(proven.body.get("config")) != receipt.body.get("config_hash"):
        findings.append("the configuration is not the one that the answer was made with")
    return findings


_PLACE = re.compile(r"[0-9]{1,9}")  # Python refuses to read numbers of thousands of digits


def _at(body: Any, pointer: str) -> str:
    """The salted hash at a JSON pointer, "" if there is none."""
    value = body
    for step in steps(pointer):
        if type(value) is dict and step in value:
            value = value[step]
        elif type(value) is list and _PLACE.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return ""
    found = value.get(SEALED) if type(value) is dict else None
    return found if isinstance(found, str) and pointer.startswith("/") else ""


def _sealed(value: Any, path: str) -> Iterator[str]:
    """The JSON pointers of the salted hashes in a body."""
    if type(value) is dict and SEALED in value:
        yield path
    elif type(value) is dict:
        for name, item in value.items():
            yield from _sealed(item, member(path, name))
    elif type(value) is list:
        for place, item in enumerate(value):
            yield from _sealed(item, f"{path}/{place}")


def _checkpoint(receipt: Receipt, findings: list[str]) -> Checkpoint | None:
    """The receipt's own checkpoint, which each key it names must have signed."""
    try:
        checkpoint = read_checkpoint(receipt.checkpoint)
        keys = [read_key(line) for line in receipt.key.split("\n")]
    except ValueError as error:
        findings.append(f"its checkpoint or key cannot be read: {error}")
        return None
    if not _plainly_written(receipt, checkpoint, keys):
        findings.append("its checkpoint or key does not have the form of a signed note")
    fault = TrustedKeys(receipt.key).fault(checkpoint)
    if not fault and not all(
        verify(public, signature, checkpoint.signed)
        for (_, _, signature), (_, _, public) in zip(checkpoint.signatures, keys, strict=False)
    ):
        fault = "one of its signatures is not valid"
    if fault:
        findings.append(f"its checkpoint: {fault}")
    return checkpoint


def _plainly_written(
    receipt: Receipt, checkpoint: Checkpoint, keys: Sequence[tuple[str, bytes, bytes]]
) -> bool:
    """Whether they are in canonical form: no alternative base64 and no lines that nobody checks. Two keys
    sign if one hands over to the next."""
    lines = [
        f"\u2014 {name} {base64.b64encode(identity + signature).decode()}\n"
        for name, identity, signature in checkpoint.signatures
    ]
    root = base64.b64encode(checkpoint.root).decode()
    note = f"{checkpoint.origin}\n{checkpoint.size}\n{root}\n\n{''.join(lines)}"
    told = [
        f"{name}+{identity.hex()}+{base64.b64encode(bytes([1]) + public).decode()}"
        for name, identity, public in keys
    ]
    signers = [(name, identity) for name, identity, _ in checkpoint.signatures]
    return (
        note == receipt.checkpoint
        and "\n".join(told) == receipt.key
        and signers == [(name, identity) for name, identity, _ in keys]
    )


def _inclusion(what: str, entry: Leaf, proof: Sequence[str], checkpoint: Checkpoint) -> list[str]:
    try:
        path = [base64.b64decode(digest, validate=True) for digest in proof]
    except ValueError:
        return [f"the proof of {what} is not base64"]
    if [base64.b64encode(digest).decode() for digest in path] != list(proof):
        return [f"the proof of {what} is not plain base64"]
    if entry.format != 1:
        return [f"{what} has leaf format {entry.format}, but this Citewell only knows 1"]
    if not verify_inclusion(leaf_hash(entry.data()), entry.seq - 1, checkpoint.size, path, checkpoint.root):
        return [f"{what} is not entry {entry.seq} of the log that the checkpoint belongs to"]
    return []


def _against(checkpoint: Checkpoint | None, text: str) -> str:
    """Why the checkpoints of a file kept elsewhere do not confirm the receipt; "" if they do."""
    try:
        every = [read_checkpoint(one) for one in checkpoints_in(text)]
    except ValueError as error:
        return f"the checkpoint you gave cannot be read: {error}"
    if checkpoint is None:
        return "the checkpoint you gave cannot be compared: the receipt's own checkpoint is unreadable"
    of_one_size = [kept for kept in every if (kept.origin, kept.size) == (checkpoint.origin, checkpoint.size)]
    if not of_one_size:
        return (
            f"the checkpoint you gave covers {every[-1].size} entries of {every[-1].origin},"
            f" the receipt's covers"
            f" {checkpoint.size} of {checkpoint.origin}: ask for a receipt made against yours"
        )
    if any(kept.root != checkpoint.root for kept in of_one_size):
        return "the checkpoint you gave belongs to a different log"
    return ""


def _report(
    findings: list[str], receipt: Receipt | None, issuer: str, origin: bool, *, retired: bool = False
) -> ReceiptReport:
    proves: list[str] = []
    open_ = list(NEVER_PROVEN)
    if receipt is not None and not findings:
        proves.append("integrity: this file contains what was sealed")
        proves.append(f"its place: entry {receipt.entry.seq} of a signed log")
        if receipt.configuration is not None:
            proves.append("the settings and prompt files that the log says were in force")
        if origin:
            proves.append(f"origin: {issuer} sealed it")
    if origin and retired:
        open_.insert(0, RETIRED)
    if not origin:
        open_.insert(
            0,
            "origin: to prove it, pass --key with the issuer's key, or a checkpoint, that you got elsewhere",
        )
    if receipt is not None:
        shut = may_be_shown(set(_sealed(receipt.body, "")) - set(receipt.opened), with_user=False)
        if shut:
            named = f"{', '.join(shut[:_NAMED])}{' and others' if len(shut) > _NAMED else ''}"
            open_.append(f"{len(shut)} texts that this file contains only as salted hashes: {named}")
        if receipt.configuration is None:
            open_.append("the settings and prompt files: this file contains no configuration")
    return ReceiptReport(
        ok=not findings,
        origin=origin,
        issuer=issuer,
        findings=tuple(findings),
        proves=tuple(proves),
        does_not_prove=tuple(open_),
    )
