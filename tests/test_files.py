"""Files that are replaced as a whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from citewell.core.files import replace_file


@pytest.mark.parametrize("synced", [False, True])
def test_who_writes_a_file_at_once_with_others_leaves_it_whole(tmp_path: Path, synced: bool) -> None:
    path = tmp_path / "made" / "card.json"
    versions = [letter * 300_000 for letter in (b"a", b"b", b"c", b"d")]
    with ThreadPoolExecutor(len(versions)) as pool:
        list(pool.map(lambda data: replace_file(path, data, synced=synced), versions * 5))
    assert path.read_bytes() in versions
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_cannot_be_replaced_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.mkdir()
    (path / "full").touch()
    with pytest.raises(OSError, match="card"):
        replace_file(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_file_is_to_others_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    replace_file(tmp_path / "card.json", b"new")
    assert (tmp_path / "card.json").stat().st_mode & 0o777 == 0o600


def test_a_device_keeps_its_place() -> None:
    with pytest.raises(OSError, match="not a file"):
        replace_file(Path("/dev/null"), b"new")
