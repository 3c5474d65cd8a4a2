"""A private PostgreSQL server from Debian's packages, started in a folder and reached by a Unix socket.

In: an empty folder. Out: the server's URL for the duration of the context. As root it runs as another user,
because PostgreSQL refuses to run as root. Used by the measurements and by the tests of the log.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_USERS = ("postgres", "nobody")
_PLACES = ("/usr/lib/postgresql", "/usr/local/bin", "/usr/local/pgsql/bin")


class NoPostgresError(Exception):
    """Why no PostgreSQL can be started here."""


def binaries() -> Path:
    """The folder of ``initdb`` and ``postgres``. Raises NoPostgresError."""
    on_path = shutil.which("initdb")
    found = sorted(Path(_PLACES[0]).glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found or on_path:
        return (found[-1] if found else Path(on_path or "").resolve()).parent
    raise NoPostgresError("no PostgreSQL here: apt-get install postgresql")


@contextmanager
def private_postgres(folder: Path, settings: Sequence[str] = ()) -> Iterator[str]:
    """``settings`` as ``name=value``. Raises NoPostgresError if there is none, and RuntimeError, with the
    server's output, if it does not start: tests that skip the first must not skip the second."""
    tools = binaries()
    user = _user()
    data, socket = folder / "data", folder / "socket"
    socket.mkdir(parents=True)
    if user is not None:
        for path in (folder, socket):
            shutil.chown(path, user)
        _open_the_way(folder)
    listening = ("listen_addresses=", f"unix_socket_directories={socket}", *settings)
    options = " ".join(f"-c {setting}" for setting in listening)
    _run(user, tools / "initdb", "-D", data, "-U", "citewell", "-A", "trust", "-E", "UTF8", "--no-locale")
    try:
        _run(user, tools / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
    except RuntimeError as error:
        error.add_note((folder / "log").read_text(errors="replace")[-2000:])
        raise
    try:
        yield f"postgresql://citewell@/postgres?host={socket}"
    finally:
        _run(user, tools / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    for name in _USERS:
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise NoPostgresError("PostgreSQL does not run as root, and there is no other user here")


def _open_the_way(folder: Path) -> None:
    """Lets the server's user pass through root's temporary folders, which are closed to others."""
    for parent in folder.parents:
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)


def _run(user: str | None, *words: object) -> None:
    done = subprocess.run(
        [str(word) for word in words],
        user=user,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if "initdb" in str(words[0]) else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        cwd="/",
        check=False,
    )
    if done.returncode:
        told = (done.stdout or b"").decode(errors="replace")
        raise RuntimeError(f"{Path(str(words[0])).name} ended with {done.returncode}: {told[-500:]}")
