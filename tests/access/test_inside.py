"""An e-mail attachment is no more accessible than its e-mail."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from benchmarks.access_world import fake_parts

from citewell.core.config import Config
from citewell.documents.evidence.catalogue import INDEXED, WITHDRAWN
from citewell.knowledge.home import KnowledgeBase


def test_what_is_attached_is_shared_withdrawn_and_restored_with_its_mail(tmp_path: Path) -> None:
    message = EmailMessage()
    message["From"], message["Message-ID"], message["Subject"] = "Ann <a@a.example>", "<1@a.example>", "Pay"
    message.set_content("See the list.")
    message.add_attachment("Ben earns 4,000 euros.\n", filename="pay.txt")
    message.add_attachment(b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "image", "png", filename="logo.png")
    path = tmp_path / "pay.eml"
    path.write_bytes(bytes(message))
    with KnowledgeBase(fake_parts(tmp_path / "home", Config())) as kb:
        kb.ingest(path)
        kb.share("pay.eml", ["board"])
        assert {entry.document_id: entry.acl for entry in kb.documents()} == {
            "pay.eml": ("board",),
            "pay.eml/pay.txt": ("board",),
        }
        kb.withdraw("pay.eml")
        assert {entry.state for entry in kb.documents()} == {WITHDRAWN}
        report = kb.ingest(path)
        assert {entry.state for entry in kb.documents()} == {INDEXED}
        assert not report.failed
