"""Issues a receipt for an answer from the log, its keys and its tree.

In: a log, a request id and, optionally, an older checkpoint that an outsider kept, with which they can verify
the receipt's origin. Out: a :class:`citewell.audit.receipts.Receipt`, checked before it is returned.
Independent of who may ask for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from citewell.audit.entries import Entry, EntryKind, kind_condition, salted_texts
from citewell.audit.merkle import Tree, in_base64
from citewell.audit.notes import read_checkpoint
from citewell.audit.receipt_check import check_receipt
from citewell.audit.receipts import (
    ABOUT,
    FORMAT,
    Opened,
    Proven,
    Receipt,
    may_be_shown,
    readable_answer,
    receipt_bytes,
)
from citewell.audit.writer import head, stored_tree
from citewell.core.errors import LogIntegrityError, UsageError

if TYPE_CHECKING:
    from citewell.audit.log import Log


def issue(
    log: Log, request_id: str, *, with_user: bool = False, hashes_only: bool = False, checkpoint: str = ""
) -> Receipt:
    """``with_user`` also opens who asked and with which rights; ``hashes_only`` opens nothing.

    ``checkpoint`` is an earlier one of this log. Raises UsageError if the content has expired, or if the
    checkpoint is not of this log or is older than the answer; LogIntegrityError if the receipt does not
    verify.
    """
    entry = log.get(request_id)
    if entry.body is None:
        raise UsageError(
            f"the content of {request_id} has expired",
            hint="`citewell audit prove` still proves its place in the log",
        )
    note = checkpoint or log.checkpoint()
    body: dict[str, Any] = msgspec.json.decode(entry.body)
    shown = {} if hashes_only else _opened(log, entry, with_user=with_user)
    settings = _configuration(log, entry, body["config_hash"])
    with log.database.reading() as rows:
        tree = stored_tree(rows, head(rows)[0])
        size = _covering(note, entry, tree, given=bool(checkpoint))
        configuration = None
        if settings is not None:
            configuration = Proven(
                entry=settings.leaf(),
                body=msgspec.json.decode(settings.body or ""),
                proof=in_base64(tree.inclusion(settings.seq - 1, size)),
            )
        proof = in_base64(tree.inclusion(entry.seq - 1, size))
    answer, annotations = readable_answer(body, shown, configuration)
    receipt = Receipt(
        format=FORMAT,
        about=ABOUT,
        entry=entry.leaf(),
        body=body,
        opened=shown,
        proof=proof,
        configuration=configuration,
        checkpoint=note,
        key=_issuer(log, note),
        answer=answer,
        annotations=annotations,
    )
    report = check_receipt(receipt_bytes(receipt))
    if not report.ok:
        raise LogIntegrityError(
            f"a receipt of {request_id} cannot be made: {'; '.join(report.findings)}",
            hint="run `citewell audit check`",
        )
    return receipt


def _covering(note: str, entry: Entry, tree: Tree, *, given: bool) -> int:
    """The size of the checkpoint, which must belong to this tree and cover the entry."""
    try:
        found = read_checkpoint(note)
    except ValueError as error:
        raise UsageError(f"the checkpoint cannot be read: {error}", hint="pass the file unchanged") from error
    if found.size < entry.seq:
        raise UsageError(
            f"the checkpoint covers {found.size} entries, but the answer is entry {entry.seq}",
            hint="give a later checkpoint, or none",
        )
    if given and (found.size > tree.size or tree.root(found.size) != found.root):
        raise UsageError(
            "the checkpoint does not belong to this log", hint="run `citewell audit check --checkpoint`"
        )
    return found.size


def _issuer(log: Log, note: str) -> str:
    """The public keys that signed ``note``, one per line: the log's own, or earlier ones handed over from."""
    known = {key.split("+")[1]: key for key in log.keys.published().split() if key.count("+") >= 2}
    for entry in log.entries(EntryKind.KEY):
        if entry.body is None:
            continue
        body = log.body(entry)
        known |= {key.split("+")[1]: key for key in (body["old"], body["new"]) if key}
    signed = [identity.hex() for _, identity, _ in read_checkpoint(note).signatures]
    if not all(identity in known for identity in signed):
        raise UsageError(
            "the checkpoint is not signed by a key of this log", hint="give another checkpoint, or none"
        )
    return "\n".join(known[identity] for identity in signed)


def _opened(log: Log, entry: Entry, *, with_user: bool) -> dict[str, Opened]:
    salt, texts = log.texts(entry)
    fields = {
        pointer: Opened(salt=own.hex(), text=text)
        for pointer, (own, text) in salted_texts(salt, texts or {}).items()
    }
    return {pointer: fields[pointer] for pointer in may_be_shown(fields, with_user=with_user)}


def _configuration(log: Log, answer: Entry, config_hash: str) -> Entry | None:
    """The last configuration sealed before the answer with the hash it names: other processes may have sealed
    theirs in between. None if there is none; the receipt's check says so."""
    condition = (
        f"{kind_condition(EntryKind.CONFIGURATION)} AND seq < ? AND body IS NOT NULL ORDER BY seq DESC"
    )
    for entry in log.select(condition, (answer.seq,)):
        if msgspec.json.decode(entry.body or "").get("config_hash") == config_hash:
            return entry
    return None
