"""The tamper table: fourteen kinds of deed, done to a sealed log in several ways, found and named or not.

    python -m benchmarks.audit_tamper

In: nothing. Out: ``docs/measurements/audit_tamper``. A *plain* tamperer changes what the database holds. A
*knowing* one also makes hashes and tree anew and lacks only the signing key. The *owner* has the key too:
only a checkpoint that left the house shows what an owner did, and where that is so the check gets one.
Guarded by ``tests/audit/test_tamper_table.py``, which runs every row.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reporting import table, write
from citewell.audit import CheckReport, EntryKind, SqliteLog
from citewell.audit.bodies import encrypt
from citewell.audit.checkpoints import checkpoint
from citewell.audit.entries import leaf
from citewell.audit.keys import FolderKeys, Signer
from citewell.audit.merkle import Frontier, leaf_hash
from citewell.core.errors import EvidenceError
from citewell.core.identity import hash_bytes, hash_text
from citewell.core.records import Document

ENTRIES = 12
TEXT = "Revenue was 12 million. Costs were 7 million."
PROMPTS = {"answer": "sha256:p"}
FILE = "audit.sqlite"


@dataclass
class Scene:
    """A home with a log, its evidence and prompts, and what an outsider kept before the deed."""

    home: Path
    evidence: str
    prompts: dict[str, str]
    kept: str
    early: Path
    key: str

    def run(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.home / FILE)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    def signer(self) -> Signer:
        return FolderKeys(self.home / "keys").signer()

    def rebuild(self, signer: Signer | None) -> None:
        """Body hashes, tree and checkpoint made anew from the rows, signed when there is a key."""
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
    """Also whatever else speaks of the entries that went."""

    def deed(scene: Scene) -> None:
        tables = ("entries", "private", "requests")
        scene.run(*(f"DELETE FROM {name} WHERE seq > {last}" for name in tables))

    return deed


def _empty(*also: str) -> Deed:
    def deed(scene: Scene) -> None:
        scene.run(*(f"DELETE FROM {name}" for name in ("entries", "tree", "head", *also)))

    return deed


def _forge(scene: Scene) -> None:
    """Other words under the key of the person they are put into the mouth of."""
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


@dataclass(frozen=True)
class Row:
    """``named``: what the check must say; ``outside``: it is given the checkpoint that an outsider kept."""

    kind: str
    who: str
    deed: Deed
    named: str
    outside: bool = False


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
)


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
    """A log of ``ENTRIES``; ``early`` is a copy made at 5 entries, ``kept`` the last checkpoint."""
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


def run(row: Row) -> CheckReport:
    """The log is sound before the deed; what the check says after it."""
    with tempfile.TemporaryDirectory() as folder:
        made = scene(Path(folder))
        before = judge(made, outside=True)
        assert before.ok, before
        row.deed(made)
        return judge(made, outside=row.outside)


def main() -> None:
    rows, values = [], []
    for row in ROWS:
        report = run(row)
        kinds = sorted({finding.kind for finding in report.findings})
        found, named = not report.ok, row.named in kinds
        against = "a kept checkpoint" if row.outside else "itself"
        rows.append([row.kind, row.who, against, "yes" if found else "NO", ", ".join(kinds)])
        values.append(
            {
                "kind": row.kind,
                "who": row.who,
                "outside": row.outside,
                "found": found,
                "named": named,
                "kinds": kinds,
            }
        )
    kinds_of_deed = {row.kind for row in ROWS}
    lost = {value["kind"] for value in values if not (value["found"] and value["named"])}
    body = (
        f"`python -m benchmarks.audit_tamper`: {len(kinds_of_deed)} kinds of tampering in {len(ROWS)} ways;"
        f" {len(kinds_of_deed - lost)} kinds found and named in every way tried.\n\n"
        + table(["deed", "by", "log checked against", "found", "named"], rows)
        + "\n\nA knowing tamperer makes hashes and tree anew but cannot sign: the check then says that the"
        " leaves are not those that were signed, not which. An owner signs anew: only a kept checkpoint"
        " shows it."
    )
    write("audit_tamper", "Tampering, found and named", body, {"rows": values})


if __name__ == "__main__":
    main()
