"""The tamper table: attacks on a sealed log, on a log whose key was stolen and rotated, and on a home.

    python -m benchmarks.audit_tamper

In: nothing. Out: ``docs/measurements/audit_tamper``. A *plain* tamperer changes what the database holds. A
*knowing* one also recomputes hashes and tree and lacks only the signing key. The *owner* has the key too:
only a checkpoint kept outside reveals what an owner did. A *thief* has the retired key. Each attack on a log
is checked twice: with the published keys alone, and with a checkpoint kept from before it. Attacks on the
rest of a home are in :mod:`benchmarks.audit_tamper_home`. Tested by ``tests/audit/test_tamper_table.py``,
which runs every row.
"""

from __future__ import annotations

import base64
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import audit_tamper_home
from benchmarks.reporting import table, write
from citewell.audit import CheckReport, EntryKind, SqliteLog
from citewell.audit.entries import encrypt, leaf
from citewell.audit.keys import FolderKeys
from citewell.audit.merkle import Frontier, leaf_hash
from citewell.audit.notes import handover
from citewell.audit.signing import Signer, checkpoint
from citewell.core.errors import EvidenceError
from citewell.core.identity import canonical_json, hash_bytes, hash_text
from citewell.core.records import Document

ENTRIES = 12
TEXT = "Revenue was 12 million. Costs were 7 million."
PROMPTS = {"answer": "sha256:p"}
FILE = "audit.sqlite"


@dataclass
class Scene:
    """A home with a log, its evidence and prompts, and what an outsider kept before the attack."""

    home: Path
    evidence: str
    prompts: dict[str, str]
    kept: str
    early: Path
    key: str
    stolen: Signer | None = None

    def run(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.home / FILE)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    def signer(self) -> Signer:
        return FolderKeys(self.home / "keys").signer()

    def rebuild(self, signer: Signer | None) -> None:
        """Recomputes body hashes, tree and checkpoint from the rows; signs if there is a key."""
        with closing(sqlite3.connect(self.home / FILE)) as connection:
            rows = connection.execute("SELECT seq, kind, timestamp, subject, body FROM entries ORDER BY seq")
            frontier, tree, bodies = Frontier(), [], []
            for seq, kind, timestamp, subject, body in rows.fetchall():
                digest = hash_bytes(body.encode())
                bodies.append((digest, seq))
                tree += frontier.append(leaf_hash(leaf(seq, kind, timestamp, subject, digest).data()))
            connection.executemany("UPDATE entries SET body_hash = ? WHERE seq = ?", bodies)
            connection.execute("DELETE FROM tree")
            connection.executemany("INSERT INTO tree VALUES(?, ?, ?)", tree)
            (old,) = connection.execute("SELECT checkpoint FROM head").fetchone()
            made = checkpoint(frontier.size, frontier.root(), signer or Signer(old.split("\n")[0], bytes(32)))
            connection.execute("UPDATE head SET size = ?, checkpoint = ?", (frontier.size, made))
            connection.commit()


Deed = Callable[[Scene], None]


def _edit(scene: Scene) -> None:
    scene.run("UPDATE entries SET body = replace(body, 'fine', 'nice') WHERE seq = 5")


def _delete_middle(scene: Scene) -> None:
    scene.run("DELETE FROM entries WHERE seq = 6")


def _close_ranks(scene: Scene) -> None:
    for seq in range(7, ENTRIES + 1):
        scene.run(f"UPDATE entries SET seq = {seq - 1} WHERE seq = {seq}")


def _make_room(scene: Scene) -> None:
    for seq in range(ENTRIES, 5, -1):
        scene.run(f"UPDATE entries SET seq = {seq + 1} WHERE seq = {seq}")


def _insert(scene: Scene) -> None:
    _make_room(scene)
    scene.run(
        'INSERT INTO entries SELECT 6, kind, timestamp, subject, \'{"text":"fine, too"}\', body_hash'
        " FROM entries WHERE seq = 5"
    )


def _reorder(scene: Scene) -> None:
    for old, new in ((4, 99), (8, 4), (99, 8)):
        scene.run(f"UPDATE entries SET seq = {new} WHERE seq = {old}")


def _duplicate(scene: Scene) -> None:
    scene.run(
        f"INSERT INTO entries SELECT {ENTRIES + 1}, kind, timestamp, subject, body, body_hash"
        " FROM entries WHERE seq = 6"
    )


def _prompt(scene: Scene) -> None:
    scene.prompts = {"answer": "sha256:q"}


def _evidence(scene: Scene) -> None:
    scene.evidence = TEXT.replace("12", "21")


def _older_checkpoint(scene: Scene) -> None:
    with closing(sqlite3.connect(scene.early)) as connection:
        (old,) = connection.execute("SELECT checkpoint FROM head").fetchone()
    scene.run(f"UPDATE head SET checkpoint = '{old}'")


def _other_checkpoint(scene: Scene) -> None:
    made = checkpoint(ENTRIES, leaf_hash(b"other"), Signer(scene.signer().name, bytes(32)))
    scene.run(f"UPDATE head SET checkpoint = '{made}'")


def _cut(*, last: int) -> Deed:
    def deed(scene: Scene) -> None:
        scene.run(f"DELETE FROM entries WHERE seq > {last}")

    return deed


def _sweep(*, last: int) -> Deed:
    """Also deletes whatever else refers to the deleted entries."""

    def deed(scene: Scene) -> None:
        tables = ("entries", "private", "requests")
        scene.run(*(f"DELETE FROM {name} WHERE seq > {last}" for name in tables))

    return deed


def _empty(*also: str) -> Deed:
    def deed(scene: Scene) -> None:
        scene.run(*(f"DELETE FROM {name}" for name in ("entries", "tree", "head", *also)))

    return deed


def _forge(scene: Scene) -> None:
    """Replaces words, encrypted under the key of the person they are attributed to."""
    log = SqliteLog(scene.home / FILE)
    entry = log.at(6)
    salt, texts = log.texts(entry)
    key = log.keys.key(entry.subject) or b""
    log.close()
    forged = {pointer: text.replace("fine", "nice") for pointer, text in (texts or {}).items()}
    sealed = encrypt(forged, salt, key, entry.body_hash, entry.subject)
    scene.run(f"UPDATE private SET sealed = x'{sealed.hex()}' WHERE seq = {entry.seq}")


def _roll_back(scene: Scene) -> None:
    for file in scene.home.glob(f"{FILE}*"):
        file.unlink()
    shutil.copy(scene.early, scene.home / FILE)


def _roll_back_and_go_on(scene: Scene) -> None:
    _roll_back(scene)
    log = SqliteLog(scene.home / FILE)
    for number in range(ENTRIES):
        log.note(EntryKind.NOTICE, {"text": f"otherwise {number}"})
    log.close()


def _rewrite(scene: Scene) -> None:
    scene.run("UPDATE entries SET body = replace(body, 'fine', 'nice')")


def _expire(seq: int, *, said: bool) -> Deed:
    """Removes an entry's content, silently or with an expiry that names it."""

    def deed(scene: Scene) -> None:
        if said:
            log = SqliteLog(scene.home / FILE)
            gone = {"class": "answers", "entries": [seq], "profiles": [], "records": []}
            log.note(EntryKind.EXPIRY, gone)
            log.close()
        scene.run(f"UPDATE entries SET body = NULL WHERE seq = {seq}")

    return deed


def _elsewhere(scene: Scene) -> None:
    scene.run("INSERT INTO requests VALUES('req_x', 6)")


def _after_kept(deed: Deed) -> Deed:
    """Appends five entries that no kept checkpoint covers, then attacks."""

    def whole(scene: Scene) -> None:
        log = SqliteLog(scene.home / FILE)
        for number in range(5):
            log.note(EntryKind.NOTICE, {"text": f"later {number}"})
        log.close()
        deed(scene)

    return whole


def _later_edit(scene: Scene) -> None:
    scene.run(f"UPDATE entries SET body = replace(body, 'later', 'never') WHERE seq > {ENTRIES}")


def _invent(scene: Scene) -> None:
    log = SqliteLog(scene.home / FILE)
    log.note(EntryKind.NOTICE, {"text": "never happened"})
    log.close()


def _stolen(scene: Scene, *, at: int, hand_over: bool) -> None:
    """Puts an entry at ``at``, nothing after it, signed by the retired key or by one it hands over to."""
    old, thief = scene.stolen, Signer(scene.signer().name, b"\x09" * 32)
    assert old is not None
    names = (old.public_text(), thief.public_text())
    signature = base64.b64encode(old.sign(handover(*names))).decode()
    body = {"old": names[0], "new": names[1], "signature": signature, "reason": "mine"}
    kind, said = (EntryKind.KEY, canonical_json(body).decode()) if hand_over else (EntryKind.NOTICE, "{}")
    scene.run(
        *(f"DELETE FROM {table} WHERE seq >= {at}" for table in ("entries", "private", "requests")),
        f"INSERT INTO entries SELECT {at}, '{kind}', timestamp, '', '{said}', '' FROM entries WHERE seq = 3",
    )
    scene.rebuild(thief if hand_over else old)


def _knowing(deed: Deed) -> Deed:
    def whole(scene: Scene) -> None:
        deed(scene)
        scene.rebuild(None)

    return whole


def _owner(deed: Deed) -> Deed:
    def whole(scene: Scene) -> None:
        deed(scene)
        scene.rebuild(scene.signer())

    return whole


def _then(*deeds: Deed) -> Deed:
    def whole(scene: Scene) -> None:
        for deed in deeds:
            deed(scene)

    return whole


STRANGER, THIEF, OPERATOR = "stranger", "thief of a retired key", "operator"
"""Can write to the files but has no key; has a key that was rotated away; has every key."""


@dataclass(frozen=True)
class Row:
    """``named``: the finding the check must report, "" if it cannot know; ``outside``: only with the
    checkpoint that an outsider kept."""

    kind: str
    who: str
    deed: Deed
    named: str
    outside: bool = False

    @property
    def least(self) -> str:
        """The least powerful attacker who can do it."""
        if self.who.startswith("thief"):
            return THIEF
        return OPERATOR if self.who.startswith(("owner", "holder")) else STRANGER


ROWS = (
    Row("edit", "plain", _edit, "edited"),
    Row("edit", "knowing", _knowing(_edit), "checkpoint"),
    Row("edit", "owner", _owner(_edit), "rewritten", outside=True),
    Row("delete middle", "plain", _delete_middle, "deleted"),
    Row("delete middle", "plain, renumbered", _then(_delete_middle, _close_ranks), "deleted"),
    Row("delete middle", "knowing", _knowing(_then(_delete_middle, _close_ranks)), "checkpoint"),
    Row("insert", "plain", _insert, "inserted"),
    Row("insert", "knowing", _knowing(_insert), "checkpoint"),
    Row("reorder", "plain", _reorder, "reordered"),
    Row("reorder", "knowing", _knowing(_reorder), "checkpoint"),
    Row("duplicate", "plain", _duplicate, "duplicated"),
    Row("duplicate", "knowing", _knowing(_duplicate), "checkpoint"),
    Row("change a prompt file", "plain", _prompt, "prompt"),
    Row("change evidence text", "plain", _evidence, "evidence"),
    Row("swap checkpoint", "an older one", _older_checkpoint, "checkpoint"),
    Row("swap checkpoint", "another log's", _other_checkpoint, "checkpoint"),
    Row("delete last", "plain", _cut(last=ENTRIES - 1), "deleted"),
    Row("delete last", "owner", _owner(_sweep(last=ENTRIES - 1)), "deleted", outside=True),
    Row("truncate", "plain", _cut(last=7), "truncated"),
    Row("truncate", "owner, in the entries alone", _owner(_cut(last=7)), "truncated"),
    Row("truncate", "owner", _owner(_sweep(last=7)), "rolled-back", outside=True),
    Row("forge a person's text", "holder of the keys", _forge, "edited"),
    Row("empty", "plain", _empty(), "truncated"),
    Row("empty", "plain, every table", _empty("private", "requests", "published"), "truncated"),
    Row("roll back", "owner", _roll_back, "rolled-back", outside=True),
    Row("roll back", "owner, gone on", _roll_back_and_go_on, "rewritten", outside=True),
    Row("rewrite whole", "owner", _owner(_rewrite), "rewritten", outside=True),
    Row("take out content", "plain", _expire(5, said=False), "withheld"),
    Row("expire an ingest entry", "owner", _expire(2, said=True), "expiry"),
    Row("expire the configuration", "owner", _expire(1, said=True), "expiry"),
    Row("list a request elsewhere", "plain", _elsewhere, "side-table"),
    Row("invent an entry", "owner", _invent, ""),
    Row("truncate behind the kept checkpoint", "owner", _after_kept(_owner(_sweep(last=ENTRIES))), ""),
    Row("edit behind the kept checkpoint", "owner", _after_kept(_owner(_later_edit)), ""),
)

HANDOVER = ENTRIES + 1
THEFTS = (
    Row("add an entry", "thief", partial(_stolen, at=HANDOVER + 2, hand_over=False), "checkpoint"),
    Row("hand over to an own key", "thief", partial(_stolen, at=HANDOVER + 2, hand_over=True), "signature"),
    Row(
        "hand over in place of the true one",
        "thief",
        partial(_stolen, at=HANDOVER, hand_over=True),
        "signature",
    ),
    Row("fork before the handover", "thief", partial(_stolen, at=HANDOVER - 3, hand_over=True), "signature"),
    Row("cut before the handover", "thief", partial(_stolen, at=HANDOVER - 3, hand_over=False), "truncated"),
    Row("replace the handover", "thief", partial(_stolen, at=HANDOVER, hand_over=False), "signature"),
)
"""On a log whose key was stolen and then rotated, checked with the keys published since."""


class _Evidence:
    def __init__(self, text: str) -> None:
        self._text = text

    def put(self, document: Document) -> None:
        raise NotImplementedError

    def get(self, version: str, document_id: str = "") -> Document:
        if version != "v":
            raise EvidenceError(f"{document_id} is not stored")
        return Document(
            document_id=document_id,
            version=version,
            text=self._text,
            text_hash=hash_text(self._text),
            reader="t",
            media_type="text/plain",
        )


def scene(home: Path) -> Scene:
    """A log of ``ENTRIES`` entries; ``early`` is a copy made at 5 entries, ``kept`` the last checkpoint."""
    log = SqliteLog(home / FILE)
    log.note(EntryKind.CONFIGURATION, {"prompts": PROMPTS})
    source = {"document_id": "a", "version": "v", "text_hash": hash_text(TEXT)}
    log.note(EntryKind.INGEST, {"documents": [source]})
    for number in range(ENTRIES - 2):
        if number == 3:
            log.database.overwrite()
            shutil.copy(home / FILE, home / "early.sqlite")
        log.note(EntryKind.NOTICE, {"text": f"fine {number}"}, subject="alice" if number % 2 else "")
    kept, key = log.checkpoint(), log.keys.published()
    log.close()
    return Scene(home, TEXT, PROMPTS, kept, home / "early.sqlite", key)


def judge(made: Scene, *, outside: bool) -> CheckReport:
    log = SqliteLog(made.home / FILE, readonly=True)
    try:
        return log.check(
            evidence=_Evidence(made.evidence),
            prompts=made.prompts,
            key=made.key,
            outside=[made.kept] if outside else [],
        )
    finally:
        log.close()


def rotated(home: Path) -> Scene:
    """As :func:`scene`, but the key has been stolen and rotated, and one entry added since."""
    made = scene(home)
    made.stolen = made.signer()
    log = SqliteLog(home / FILE)
    log.hand_over("stolen")
    log.note(EntryKind.NOTICE, {"text": "fine again"})
    made.key, made.kept = log.published(), log.checkpoint()
    log.close()
    return made


def run(row: Row) -> tuple[CheckReport, CheckReport]:
    """Reports after the attack, without and with a kept checkpoint; asserts that the log was sound before."""
    with tempfile.TemporaryDirectory() as folder:
        made = (rotated if row in THEFTS else scene)(Path(folder))
        before = judge(made, outside=True)
        assert before.ok, before
        row.deed(made)
        return judge(made, outside=False), judge(made, outside=True)


UNNAMED = """
## What no check can name

- **False entries.** A log proves that nothing was changed since, and to anyone who kept a checkpoint, since
  when. It does not prove that what was sealed was true, that the clock was right, or that a question was
  asked at all (*invent an entry*).
- **Changes after the last checkpoint that somebody else keeps**, or before the first one. Checkpoints should
  therefore be published often: `audit.publish_every_s`.
- **A question that was answered outside Citewell**, from a copy of the documents or the index: reading
  leaves no entry.
- **A missing trace, or one of a request without an entry.** Traces are for inspection only: losing the last
  ones is allowed, and a killed pass leaves one behind. The record in the log is the proof.
- **Words in feedback that are blank after an erasure.** Once somebody has been erased, an empty name or
  comment is not compared.
- **Feedback and flags from before the newest feedback that has expired**, if they are added by hand: they
  look like what has expired.
- **The search index's list of words** (BM25). Who writes to it can hide a passage from that search, not from
  those by vectors; what is found is still read from the evidence, word for word.
- **Which pages were shown and touched** (`no_engagement` is drawn from it), when a key was last used, and
  the files kept in `uploads/`: no entry commits to them, and nothing is answered from them.
- **A different program in place of `citewell audit check`.** Use the independent reader on an export, on
  another machine.
"""


def _kinds(report: CheckReport) -> str:
    return ", ".join(sorted({finding.kind for finding in report.findings})) or "nothing"


def main() -> None:
    rows: list[list[str]] = []
    values = []
    for row in (*ROWS, *THEFTS):
        alone, kept = (_kinds(report) for report in run(row))
        rows.append([row.kind, row.least, row.who, alone, "the same" if kept == alone else kept])
        held = not row.named or row.named in (kept if row.outside else alone).split(", ")
        found = kept != "nothing"
        values.append(
            {"kind": row.kind, "who": row.who, "alone": alone, "kept": kept, "named": found and held}
        )
    with tempfile.TemporaryDirectory() as folder:
        before = audit_tamper_home.pattern(Path(folder))
        report = audit_tamper_home.checked(before)
        assert report.ok, report
        for deed in audit_tamper_home.ROWS:
            alone = _kinds(audit_tamper_home.run(deed, before))
            rows.append([deed.kind, STRANGER, "plain", alone, "the same"])
            held = bool(deed.named) and deed.named in alone.split(", ")
            values.append({"kind": deed.kind, "who": "plain", "alone": alone, "kept": alone, "named": held})
    unnamed = [f"{value['kind']} ({value['who']})" for value in values if not value["named"]]
    body = (
        f"`python -m benchmarks.audit_tamper`: {len(values)} tamperings. {len(values) - len(unnamed)} are"
        f" found and named; {len(unnamed)} are not and cannot be: {'; '.join(unnamed)}.\n\n"
        + table(
            ["deed", "who needs the least for it", "how", "found without", "found with a kept checkpoint"],
            rows,
        )
        + "\n\nA *stranger* can write to the files and has no key. A *knowing* one makes hashes and tree anew"
        " but cannot sign: the check then says that the leaves are not those that were signed, not which. A"
        " *thief* has a signing key that was rotated away, and is checked by the keys that were published"
        " since. An *operator* has every key and signs anew: only a kept checkpoint shows it. An operator can"
        " do all that a stranger can. Deeds on a home's other stores are found by comparison with the log, so"
        " an operator who also writes the entry that would allow them is not found: the entry then stands in"
        " the log, under its time.\n" + UNNAMED
    )
    write("audit_tamper", "Tampering with the log", body, {"rows": values})


if __name__ == "__main__":
    main()
