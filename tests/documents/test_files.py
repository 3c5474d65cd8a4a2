"""Walking folders: stable ids, and a failure with a reason for anything that is not a readable file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.core.errors import LimitError, UnreadableError, UsageError
from citewell.core.identity import hash_bytes
from citewell.documents import files
from citewell.documents.files import FileFailure, SourceFile, hash_contents, read_file, walk


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    for name in ("b.txt", "a/one.txt", "a/two.txt", ".hidden/x.txt", ".secret", "~$lock.docx"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def ids(*paths: Path) -> list[str]:
    return [item.document_id for item in walk(paths) if isinstance(item, SourceFile)]


def failures(*paths: Path) -> list[FileFailure]:
    found = [item for item in walk(paths) if isinstance(item, FileFailure)]
    assert all(failure.error.hint for failure in found)
    return found


def test_ids_are_relative_to_the_parent_of_the_folder(library: Path) -> None:
    assert ids(library) == ["library/a/one.txt", "library/a/two.txt", "library/b.txt"]


def test_ids_do_not_depend_on_where_one_stands(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(library)
    assert ids(Path()) == ids(library)
    monkeypatch.chdir(library / "a")
    assert ids(Path("..")) == ids(library)


def test_a_file_named_itself_has_its_name_and_may_be_hidden(library: Path) -> None:
    assert ids(library / "a" / "one.txt", library / ".secret") == ["one.txt", ".secret"]


def test_an_id_can_be_given_to_one_file_only(library: Path) -> None:
    given = list(walk([library / "b.txt"], document_id="contract"))
    assert given == [SourceFile(library / "b.txt", "contract", library / "b.txt")]
    for paths in ([library], [library / "b.txt", library / "a" / "one.txt"], []):
        with pytest.raises(UsageError):
            list(walk(paths, document_id="contract"))


def test_two_files_that_would_share_an_id_are_refused(library: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "library"
    other.mkdir(parents=True)
    (other / "b.txt").write_text("another")
    (failure,) = failures(library, other)
    assert failure.path == other / "b.txt"
    assert "library/b.txt" in str(failure.error)


def test_the_same_file_twice_is_read_once(library: Path) -> None:
    assert failures(library, library) == []
    assert ids(library, library) == ids(library)


def test_a_loop_of_folders_ends(library: Path) -> None:
    (library / "a" / "again").symlink_to(library)
    (failure,) = failures(library)
    assert isinstance(failure.error, UnreadableError)
    assert "leads back" in str(failure.error)
    assert len(ids(library)) == 3


def test_a_maze_of_links_ends(library: Path) -> None:
    for level in range(30):
        (library / f"m{level:02}").mkdir()
    for level in range(29):
        for name in ("x", "y"):
            (library / f"m{level:02}" / name).symlink_to(library / f"m{level + 1:02}")
    (library / "m29" / "f.txt").write_text("f")
    assert any(isinstance(failure.error, LimitError) for failure in failures(library))


def test_links_to_files_are_followed_and_broken_ones_reported(library: Path) -> None:
    (library / "link.txt").symlink_to(library / "b.txt")
    (library / "lost.txt").symlink_to(library / "nowhere")
    (library / "self.txt").symlink_to(library / "self.txt")
    assert "library/link.txt" in ids(library)
    assert [failure.path.name for failure in failures(library)] == ["lost.txt", "self.txt"]


def test_devices_and_pipes_are_never_opened(library: Path) -> None:
    os.mkfifo(library / "pipe")
    assert [str(failure.error) for failure in failures(library, Path("/dev/zero"))] == [
        "it is a pipe: name a regular file",
        "it is a device: name a regular file",
    ]
    for path in (library / "pipe", Path("/dev/zero"), library):
        with pytest.raises(UnreadableError):
            read_file(path, max_bytes=100)


def test_missing_and_empty_places_are_reported(tmp_path: Path) -> None:
    (tmp_path / "void").mkdir()
    missing, void = failures(tmp_path / "missing", tmp_path / "void")
    assert "no such file" in str(missing.error)
    assert "no files" in str(void.error)


@pytest.fixture
def ordinary() -> Iterator[Path]:
    """A new folder of a user bound by permissions: tests may run as root, who can read everything."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.setresuid(65534, 65534, 0)
    try:
        yield folder
    finally:
        if root:
            os.setresuid(0, 0, 0)
        for inner in [folder, *(path for path in folder.iterdir() if path.is_dir())]:
            inner.chmod(0o700)
        shutil.rmtree(folder)


def test_what_may_not_be_read_is_reported_and_the_rest_is_found(ordinary: Path) -> None:
    for name in ("a/x.txt", "b.txt", "listed/x.txt", "open.txt"):
        (ordinary / name).parent.mkdir(exist_ok=True)
        (ordinary / name).write_text(name)
    (ordinary / "a").chmod(0)
    (ordinary / "b.txt").chmod(0)
    (ordinary / "listed").chmod(0o444)
    assert [str(failure.path.relative_to(ordinary)) for failure in failures(ordinary)] == [
        "a",
        "b.txt",
        "listed/x.txt",
    ]
    assert ids(ordinary / "a" / "x.txt", ordinary / "open.txt") == ["open.txt"]
    assert "permission denied" in str(failures(ordinary / "a" / "x.txt")[0].error)


def test_a_name_that_no_file_can_have_is_reported_and_the_rest_is_found(library: Path) -> None:
    long = library / ("n" * 300)
    assert ids(long, library / "b.txt") == ["b.txt"]
    assert "too long" in str(failures(long)[0].error)
    with pytest.raises(UsageError):
        list(walk([long, library], document_id="contract"))
    assert list(walk([long], document_id="contract"))


def test_a_place_keeps_the_names_of_links_and_not_of_the_folders_above(library: Path, tmp_path: Path) -> None:
    (library / "link.txt").symlink_to(library / "b.txt")
    (library / "more").symlink_to(library / "a")
    (tmp_path / "other").symlink_to(tmp_path)
    places = {str(item.place) for item in walk([tmp_path / "other" / "library"])}
    assert {str(library / "link.txt"), str(library / "more" / "one.txt")} <= places
    assert [item.place for item in walk([tmp_path / "other" / "library" / "link.txt"])] == [
        library / "link.txt"
    ]


def test_names_that_are_not_text_still_give_an_id(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/caf\xe9.txt", "w") as stream:
        stream.write("x")
    (folder / "cafe\u0301.txt").write_text("x")
    assert ids(folder) == ["odd/caf\u00e9.txt", "odd/caf\ufffd.txt"]


def test_a_file_over_the_bound_is_not_read(library: Path) -> None:
    (library / "b.txt").write_bytes(b"x" * 101)
    with pytest.raises(LimitError):
        read_file(library / "b.txt", max_bytes=100)
    assert len(read_file(library / "b.txt", max_bytes=101)) == 101


def test_a_hash_is_of_the_bytes_that_are_read_and_bounded_like_them(library: Path) -> None:
    (library / "b.txt").write_bytes(b"x" * 3_000_000)
    data = read_file(library / "b.txt", max_bytes=3_000_000)
    assert hash_contents(library / "b.txt", max_bytes=3_000_000) == hash_bytes(data)
    os.truncate(library / "b.txt", 1 << 40)  # would take a day to read
    with pytest.raises(LimitError):
        hash_contents(library / "b.txt", max_bytes=1 << 20)


def test_a_pipe_that_took_a_file_s_place_is_not_waited_for(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(library / "pipe")
    monkeypatch.setattr(files, "_problem", lambda path, mode: None)
    for reading in (read_file, hash_contents):
        with pytest.raises(UnreadableError, match="not a regular file"):
            reading(library / "pipe", max_bytes=100)


def test_a_link_leads_nowhere_out_of_the_folder_unless_it_is_named(library: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (library / "link.txt").symlink_to(tmp_path / "secret.txt")
    (library / "up").symlink_to(tmp_path)
    before = {"library/b.txt", *ids(library)}
    assert before == set(ids(library))
    assert all(failure.skipped for failure in failures(library))
    assert [failure.path.name for failure in failures(library)] == ["link.txt", "up"]
    assert ids(library / "link.txt") == ["link.txt"]


def test_a_name_that_shows_as_another_is_no_id(library: Path) -> None:
    (library / "report\u202efdp.txt").write_text("x")
    (library / "two\nlines.txt").write_text("x")
    assert ids(library) == ["library/a/one.txt", "library/a/two.txt", "library/b.txt"]
    assert [str(failure.error).partition(" (")[0] for failure in failures(library)] == [
        "its name cannot be used as an id: character 15 is U+202E",
        "its name cannot be used as an id: character 12 is U+000A",
    ]


def _read(found: SourceFile) -> bytes:
    data = read_file(found.path, max_bytes=100, root=found.root)
    assert hash_contents(found.path, max_bytes=100, root=found.root) == hash_bytes(data)
    return data


def test_a_file_exchanged_for_a_link_since_it_was_found_is_not_followed(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, anyone who can write to a folder that others ingest could have their files read."""
    secret = tmp_path / "secrets" / "one.txt"
    secret.parent.mkdir()
    secret.write_text("secret")
    (library / "link.txt").symlink_to(library / "b.txt")
    found = {item.document_id: item for item in walk([library]) if isinstance(item, SourceFile)}
    assert _read(found["library/link.txt"]) == _read(found["library/b.txt"]) == b"b.txt"
    named = next(walk([library / "link.txt"]))
    resolved = {item.path: os.path.realpath(item.path) for item in found.values()}

    def exchange() -> None:
        (library / "b.txt").unlink()
        (library / "b.txt").symlink_to(secret)
        shutil.rmtree(library / "a")
        (library / "a").symlink_to(secret.parent)

    exchange()
    for name in ("library/b.txt", "library/a/one.txt", "library/link.txt"):
        with pytest.raises(UnreadableError, match="link out of the folder"):
            _read(found[name])
    # Exchanged between the check of its links and its opening.
    monkeypatch.setattr(os.path, "realpath", lambda path: resolved[Path(path)])
    for name in ("library/b.txt", "library/a/one.txt"):
        with pytest.raises(UnreadableError, match="cannot be opened"):
            _read(found[name])
    assert isinstance(named, SourceFile)
    assert _read(named) == b"secret", "a link that was named itself is followed"
