"""``citewell audit receipt`` and ``citewell receipt check | print``.

In: the id of an answer, or a receipt. Out: the file itself; what it proves and what it does not (5 if
it is not valid). ``receipt`` needs no home.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from citewell.cli.commands import Found, Id, command, group, text_of
from citewell.cli.printing import FAILED, OK, say
from citewell.core.errors import UsageError
from citewell.knowledge.home import KnowledgeBase

receipts = group("Check receipts offline, without a home.")
File = Annotated[Path, typer.Argument(metavar="FILE", help="A receipt file.")]


def register(audit: typer.Typer) -> None:
    command(audit)(receipt)


def receipt(
    kb: KnowledgeBase,
    id: Id,
    with_user: Annotated[bool, typer.Option("--with-user", help="Also show who asked.")] = False,
    hashes_only: Annotated[
        bool, typer.Option("--hashes-only", help="Replace question and answer with salted hashes.")
    ] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prove it against this older checkpoint.")
    ] = None,
    html: Annotated[
        bool, typer.Option("--html", help="Write a page to print instead; it proves nothing by itself.")
    ] = False,
    reader: str = "",
) -> None:
    """Print the receipt of one answer: its proof, as JSON."""
    from citewell.audit.printed import as_html
    from citewell.audit.receipts import written

    found = kb.audit.receipt(
        id,
        with_user=with_user,
        hashes_only=hashes_only,
        checkpoint=text_of(checkpoint) if checkpoint else "",
        reader=reader,
    )
    # Not through `say`: a byte that is shown otherwise would no longer be proven.
    typer.echo(as_html(found).encode() if html else written(found), nl=False)


@command(receipts)
def check(
    file: File,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The issuer's public keys, obtained separately.")
    ] = None,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="A checkpoint of the issuer's that you kept elsewhere; repeatable."
        ),
    ] = None,
) -> Found:
    """Check a receipt and say what it proves and what it does not. Exits with 5 if it is not valid."""
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


@command(receipts, "print")
def print_(
    file: File,
    html: Annotated[bool, typer.Option("--html", help="Print one self-contained HTML page.")] = False,
) -> int:
    """Print a valid receipt for reading on paper or in a browser."""
    from citewell.audit.printed import as_html, as_text
    from citewell.audit.receipt_check import check_receipt
    from citewell.audit.receipts import Receipt

    data = _bytes(file)
    report = check_receipt(data)
    if not report.ok:
        for finding in report.findings:
            say(f"WRONG: {finding}")
        return FAILED
    found = msgspec.json.decode(data, type=Receipt)
    say((as_html(found) if html else as_text(found)).rstrip("\n"))
    return OK


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="name a receipt file") from error
