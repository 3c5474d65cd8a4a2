"""What Office files have in common: parts in XML, and what a file says of itself.

In: an open archive. Out: parsed parts, and :class:`Metadata`: title, author, language, and when it was saved.
Read from the part itself, because the libraries that read the rest fill in today's date and a title where a
file gives none. Knows nothing about text.
"""

from __future__ import annotations

import contextlib
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from citewell.core.errors import DamagedError
from citewell.documents.metadata import Metadata, found_author, found_date, found_language, found_title

_PARTS = re.compile(r"docProps/core\.xml|meta\.xml|.*\.psmdcp", re.S)


def parsed(archive: zipfile.ZipFile, part: str) -> Any:
    """The root of a part. Raises KeyError where there is none, lxml's error for one that is not XML."""
    return root_of(archive.read(part))


def root_of(data: bytes) -> Any:
    """The root of XML, which may not reach outside itself. Raises lxml's error for what is none."""
    from lxml import etree

    safe = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(data, safe)


@contextlib.contextmanager
def readable(kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Makes a DamagedError of what parts that are missing, torn or not as they should be cause inside, and of
    a library's own ``errors``."""
    from lxml import etree

    try:
        yield
    except errors + (  # noqa: RUF005 - as the type checker reads it
        LookupError,
        SyntaxError,  # what the standard library's XML reader raises
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        etree.LxmlError,
    ) as error:
        raise DamagedError(
            f"its parts do not form a readable {kind} ({type(error).__name__}: {error})",
            hint="open it in the program it was made with and save it again",
        ) from error


def office_metadata(archive: zipfile.ZipFile) -> Metadata:
    """Empty if the file has no such part. Raises lxml's error for one that is not XML."""
    part = next(filter(_PARTS.fullmatch, archive.namelist()), None)
    if part is None:
        return Metadata()
    values = {str(child.tag).rpartition("}")[2]: child.text or "" for child in parsed(archive, part).iter()}
    return Metadata(
        title=found_title(values.get("title"), "metadata"),
        author=found_author(values.get("creator"), "metadata"),
        language=found_language(values.get("language"), "metadata"),
        saved_at=found_date(values.get("modified") or values.get("date"), "metadata: modified")
        or found_date(values.get("created"), "metadata: created"),
    )
