"""``citewell audit receipt`` and ``citewell receipt check``.

In: the id of an answer, or a receipt. Out: the file itself; what it proves and what it does not (5 if
it is not valid). ``receipt`` needs no home.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.audit import audit
from citewell.cli.commands import Found, Id, command, group, text_of
from citewell.cli.printing import FAILED, OK, say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

receipts = group("receipt", "Check receipts offline, without a home.")
File = Annotated[Path, typer.Argument(metavar="FILE", help="A receipt file.")]


@command(audit)
def receipt(
    kb: KnowledgeBase,
    id: Id,
    with_user: bool = False,
    hashes_only: bool = False,
    checkpoint: Path | None = None,
    reader: str = "",
) -> None:
    """Print the receipt of one answer: its proof, as JSON.

    --with-user: Also show who asked.
    --hashes-only: Replace question and answer with salted hashes.
    --checkpoint FILE: Prove it against this older checkpoint.
    """
    from citewell.audit.receipts import written

    found = kb.audit.receipt(
        id,
        with_user=with_user,
        hashes_only=hashes_only,
        checkpoint=text_of(checkpoint) if checkpoint else "",
        reader=reader,
    )
    # Not through `say`: a byte that is shown otherwise would no longer be proven.
    typer.echo(written(found), nl=False)


@command(receipts)
def check(file: File, key: Path | None = None, checkpoint: list[Path] | None = None) -> Found:
    """Check a receipt and say what it proves and what it does not. Exits with 5 if it is not valid.

    --key FILE: The issuer's public keys, obtained separately.
    --checkpoint FILE: A checkpoint of the issuer's that you kept elsewhere; repeatable.
    """
    from citewell.audit.receipt_check import check_receipt

    outside = [text_of(path) for path in checkpoint or ()]
    report = check_receipt(_bytes(file), key=text_of(key) if key else "", outside=outside)
    lines = [
        *(f"WRONG: {finding}" for finding in report.findings),
        *(f"proves {line}" for line in report.proves),
        *(f"does not prove {line}" for line in report.does_not_prove),
        "The receipt is valid." if report.ok else "The receipt is NOT valid.",
    ]
    return Found(report, lambda: say("\n".join(lines)), OK if report.ok else FAILED)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="name a receipt file") from error
