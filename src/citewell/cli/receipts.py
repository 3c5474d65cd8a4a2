"""``citewell audit receipt`` and ``citewell receipt check | print``.

In: the id of an answer, or a receipt. Out: the file itself; what it proves and what it does not (5 if
it is not valid). ``receipt`` needs no home.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from citewell.cli.home import HomeOption, JsonOption, open_home
from citewell.cli.printing import FAILED, say, say_json
from citewell.core.errors import UsageError

group = typer.Typer(
    help="Check receipts offline, without a home.", no_args_is_help=True, rich_markup_mode=None
)
File = Annotated[Path, typer.Argument(metavar="FILE", help="A receipt file.")]


def register(audit: typer.Typer) -> None:
    audit.command("receipt")(receipt)


def receipt(
    context: typer.Context,
    id: Annotated[str, typer.Argument(metavar="ID", help="The record id that `ask` printed.")],
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
    reader: Annotated[str, typer.Option(metavar="U", help="Your name, for the record.")] = "",
    home: HomeOption = None,
) -> None:
    """Print the receipt of one answer: its proof, as JSON."""
    from citewell.audit.printed import as_html
    from citewell.audit.receipts import written

    found = open_home(context, home).audit.receipt(
        id,
        with_user=with_user,
        hashes_only=hashes_only,
        checkpoint=_text(checkpoint) if checkpoint else "",
        reader=reader,
    )
    # Not through `say`: a byte that is shown otherwise would no longer be proven.
    typer.echo(as_html(found).encode() if html else written(found), nl=False)


@group.command("check")
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
    json: JsonOption = False,
) -> None:
    """Check a receipt and say what it proves and what it does not. Exits with 5 if it is not valid."""
    from citewell.audit.receipt_check import check_receipt

    report = check_receipt(
        _bytes(file), key=_text(key) if key else "", outside=[_text(path) for path in checkpoint or ()]
    )
    if json:
        say_json(report)
    else:
        for finding in report.findings:
            say(f"WRONG: {finding}")
        for line in report.proves:
            say(f"proves {line}")
        for line in report.does_not_prove:
            say(f"does not prove {line}")
        say("The receipt is valid." if report.ok else "The receipt is NOT valid.")
    if not report.ok:
        raise typer.Exit(FAILED)


@group.command("print")
def print_(
    file: File,
    html: Annotated[bool, typer.Option("--html", help="Print one self-contained HTML page.")] = False,
) -> None:
    """Print a valid receipt for reading on paper or in a browser."""
    import msgspec

    from citewell.audit.printed import as_html, as_text
    from citewell.audit.receipt_check import check_receipt
    from citewell.audit.receipts import Receipt

    data = _bytes(file)
    report = check_receipt(data)
    if not report.ok:
        for finding in report.findings:
            say(f"WRONG: {finding}")
        raise typer.Exit(FAILED)
    found = msgspec.json.decode(data, type=Receipt)
    say((as_html(found) if html else as_text(found)).rstrip("\n"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="name a receipt file") from error


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="name a text file") from error
