"""A compound file (MS-CFB), the container of Outlook's messages, made from its streams.

In: the bytes of each stream by its path. Out: the file, of 512-byte sectors. Shared by ``tests/documents``
and ``benchmarks/hostile_files.py``.
"""

from __future__ import annotations

import struct

_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_IN_HEADER = 109
"""Sectors of the allocation table that the header can name: about 7 MB of file."""
_SHORTEST = 4096
"""Shorter streams would be stored elsewhere."""


def compound(tree: dict[str, bytes]) -> bytes:
    """``folder/stream`` is the deepest path; streams of less than 4,096 bytes, if not empty, are refused."""
    sectors: list[bytes] = []
    table: list[int] = []
    entries: list[list[object]] = [["Root Entry", 5, _FREE, _FREE, _FREE, _END, 0]]

    def stored(data: bytes) -> int:
        first = len(sectors)
        sectors.extend(data[at : at + 512].ljust(512, b"\0") for at in range(0, len(data), 512))
        table.extend([*range(first + 1, len(sectors)), _END])
        return first

    def added(names: list[tuple[str, bytes | None]]) -> int:
        """The middle entry, with those before it on its left and those after it on its right."""
        if not names:
            return _FREE
        middle = len(names) // 2
        name, data = names[middle]
        if data and len(data) < _SHORTEST:
            raise ValueError(f"{name} is shorter than {_SHORTEST} bytes")
        entry = [
            name,
            1 if data is None else 2,
            0,
            0,
            _FREE,
            stored(data) if data else _END,
            len(data or b""),
        ]
        number = len(entries)
        entries.append(entry)
        entry[2], entry[3] = added(names[:middle]), added(names[middle + 1 :])
        if data is None:
            entry[4] = added([*folders[name].items()])
        return number

    folders: dict[str, dict[str, bytes]] = {}
    top: dict[str, bytes | None] = {}
    for path, data in tree.items():
        folder, _, name = path.rpartition("/")
        if folder:
            folders.setdefault(folder, {})[name] = data
            top[folder] = None
        else:
            top[name] = data
    entries[0][4] = added([*top.items()])
    directory = b""
    for name, kind, left, right, child, start, size in entries:
        wide = (str(name) + "\0").encode("utf-16-le")
        directory += wide.ljust(64, b"\0") + struct.pack("<HBB", len(wide), kind, 1)
        directory += struct.pack("<III", left, right, child) + b"\0" * 36 + struct.pack("<IQ", start, size)
    first = stored(directory.ljust(-(-len(directory) // 512) * 512, b"\0"))
    own = 1
    while (len(table) + own + 127) // 128 > own:
        own += 1
    if own > _IN_HEADER:
        raise ValueError("the file would be too large")
    places = range(len(table), len(table) + own)
    table += [_TABLE] * own
    table += [_FREE] * (128 * own - len(table))
    sectors += [struct.pack("<128I", *table[at : at + 128]) for at in range(0, len(table), 128)]
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6)
    head += b"\0" * 6 + struct.pack("<9I", 0, own, first, 0, _SHORTEST, _END, 0, _END, 0)
    head += struct.pack(f"<{own}I", *places)
    return head.ljust(512, b"\xff") + b"".join(sectors)
