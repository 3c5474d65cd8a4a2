"""What an Office file says of itself: title, author, language, and when it was saved.

In: an open archive. Out: :class:`Metadata`. Read from the part itself, because the libraries that read
the rest fill in today's date and a title where a file gives none. Knows nothing about text.
"""

from __future__ import annotations

import zipfile

from citewell.documents.metadata import Metadata, found_author, found_date, found_language, found_title

_PART, _OTHER_NAME = "docProps/core.xml", ".psmdcp"


def office_metadata(archive: zipfile.ZipFile) -> Metadata:
    """Empty if the file has no such part. Raises lxml's error for one that is not XML."""
    from lxml import etree

    parts = [name for name in archive.namelist() if name == _PART or name.endswith(_OTHER_NAME)]
    if not parts:
        return Metadata()
    safe = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(archive.read(parts[0]), safe)
    values = {str(child.tag).rpartition("}")[2]: child.text or "" for child in root}
    return Metadata(
        title=found_title(values.get("title"), "metadata"),
        author=found_author(values.get("creator"), "metadata"),
        language=found_language(values.get("language"), "metadata"),
        saved_at=found_date(values.get("modified"), "metadata: modified")
        or found_date(values.get("created"), "metadata: created"),
    )
