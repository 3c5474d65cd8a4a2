"""Outside places that keep checkpoints: a file, a folder under git, an object store with retention lock, a
webhook. Checkpoints are sent to them now or when due, each outcome on record.

In: a log, and witnesses by name (:func:`names`). Out: a :class:`Publication` for each; a row of table
``published``, and a notice in the log when a witness did not take it: a place that silently keeps nothing
would be worse than none. What a witness is worth is how far it is out of the log owner's hands; that is for
whoever configures it to judge. Chosen by :func:`witness`, from a URL:

- ``file:/path`` appends to a file (on another machine's disk, a pen-protected drive, a printer's spool);
- ``git:/folder`` commits a file in a repository that is pushed elsewhere;
- ``s3://bucket/prefix?retain_days=3650`` writes an object under compliance retention, which nobody can
shorten; ``&endpoint=URL`` for other stores than AWS;
- ``https://...`` posts the text, and a 2xx answer takes it as kept.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from citewell.audit.entries import EntryKind
from citewell.audit.notes import read_checkpoint
from citewell.core.addresses import named, post
from citewell.core.clock import stamp
from citewell.core.errors import CitewellError, ConfigError, LogError, MissingExtraError
from citewell.core.ports import Witness
from citewell.core.records import Record

if TYPE_CHECKING:
    from citewell.audit.log import Log
    from citewell.core.ports import Clock

TIMEOUT_S = 10.0
_LAST_WAIT_S = 20.0
"""How long closing waits for a publication that is under way."""


class FileWitness:
    """Appends; a checkpoint ends where the next one's origin begins."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def publish(self, checkpoint: str) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(checkpoint + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise LogError(str(error), hint="check the path of the witness") from error


class GitWitness:
    """A file ``checkpoint`` in a repository, one commit each; pushing it is for its own hooks."""

    FILE = "checkpoint"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def publish(self, checkpoint: str) -> None:
        try:
            (self.folder / self.FILE).write_text(checkpoint, encoding="utf-8")
        except OSError as error:
            raise LogError(str(error), hint="check the witness's folder") from error
        self._git("add", "--", self.FILE)
        if self._git("status", "--porcelain", "--", self.FILE):
            size = checkpoint.split("\n")[1]
            author = ("-c", "user.name=citewell", "-c", "user.email=citewell@localhost")
            self._git(*author, "commit", "-q", "-m", f"Checkpoint of {size} entries", "--", self.FILE)

    def _git(self, *words: str) -> str:
        try:
            done = subprocess.run(
                ["git", "-C", str(self.folder), *words],
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LogError(f"git: {error}", hint="install git") from error
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())
            raise LogError(
                f"git {words[0]}: {said}", hint=f"make {self.folder} a git repository with `git init`"
            )
        return done.stdout


class ObjectWitness:
    """Objects ``prefix/SIZE-TIME`` under compliance retention: until then not even the account's owner can
    change or delete them. Speaks the S3 API through boto3."""

    def __init__(self, bucket: str, prefix: str, *, retain_days: int, endpoint: str = "") -> None:
        try:
            import boto3
            from botocore.config import Config
        except ImportError as error:
            raise MissingExtraError(
                "a witness on S3 requires the package boto3", hint="pip install 'citewell[s3]'"
            ) from error
        once = Config(connect_timeout=TIMEOUT_S, read_timeout=TIMEOUT_S, retries={"max_attempts": 2})
        self._client: Any = boto3.client("s3", endpoint_url=endpoint or None, config=once)
        self._bucket, self._prefix, self._days = bucket, prefix.strip("/"), retain_days

    def publish(self, checkpoint: str) -> None:
        from botocore.exceptions import BotoCoreError, ClientError

        now = datetime.now(UTC)
        size = int(checkpoint.split("\n")[1])
        name = f"{size:012d}-{now:%Y%m%dT%H%M%S%fZ}"
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=f"{self._prefix}/{name}" if self._prefix else name,
                Body=checkpoint.encode(),
                ContentType="text/plain; charset=utf-8",
                ObjectLockMode="COMPLIANCE",
                ObjectLockRetainUntilDate=now + timedelta(days=self._days),
            )
        except (BotoCoreError, ClientError) as error:
            # What the transport says repeats the endpoint, which may hold a key.
            told = str(error) if isinstance(error, ClientError) else type(error).__name__
            raise LogError(
                f"{named(f's3://{self._bucket}')}: {told}",
                hint="create the bucket with object lock enabled",
            ) from error


class WebhookWitness:
    """Posts the text; what became of it is asked of whoever runs the other end."""

    def __init__(self, url: str) -> None:
        self.url = url

    def publish(self, checkpoint: str) -> None:
        trouble = post(self.url, checkpoint.encode(), "text/plain; charset=utf-8")
        if trouble:
            raise LogError(trouble, hint="check its address, and that its server is running")


def _object_store(parts: SplitResult) -> Witness:
    asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    days = asked.pop("retain_days", "")
    endpoint = asked.pop("endpoint", "")
    if asked or not days.isdigit() or not int(days):
        raise ConfigError(
            f"witness {named(parts.geturl())!r}",
            hint="write s3://bucket/prefix?retain_days=3650, and &endpoint=URL",
        )
    return ObjectWitness(parts.netloc, parts.path, retain_days=int(days), endpoint=endpoint)


WITNESSES: dict[str, Callable[[SplitResult], Witness]] = {
    "file": lambda parts: FileWitness(Path(parts.path)),
    "git": lambda parts: GitWitness(Path(parts.path)),
    "s3": _object_store,
    "https": lambda parts: WebhookWitness(parts.geturl()),
    "http": lambda parts: WebhookWitness(parts.geturl()),
}


def witness(url: str) -> Witness:
    """Raises ConfigError for a URL that names no witness, MissingExtraError without boto3."""
    parts = urlsplit(url)
    if parts.scheme not in WITNESSES or not (parts.netloc or parts.path):
        raise ConfigError(
            f"witness {named(url)!r}", hint=f"write one of {', '.join(WITNESSES)}, and a location"
        )
    return WITNESSES[parts.scheme](parts)


class Publication(Record, frozen=True, kw_only=True):
    """``error`` is "" when the witness took the checkpoint of ``size`` entries."""

    witness: str
    size: int
    timestamp: str
    error: str


def names(urls: Sequence[str]) -> dict[str, str]:
    """For each witness's URL a name of its own, without the URL's secrets: it goes into the log."""
    counts: Counter[str] = Counter()
    found: dict[str, str] = {}
    for url in urls:
        name = named(url)
        counts[name] += 1
        found[f"{name} ({counts[name]})" if counts[name] > 1 else name] = url
    return found


class Publisher:
    """Sends the newest checkpoint to every witness, at most every ``every_s`` seconds, in its own thread."""

    def __init__(self, log: Log, witnesses: Mapping[str, Witness], clock: Clock, *, every_s: float) -> None:
        self._log, self._witnesses, self._clock, self._every_s = log, witnesses, clock, every_s
        self._turn = threading.Lock()
        self._running: threading.Thread | None = None
        self._next: datetime | None = None
        if witnesses and every_s > 0:
            log.after_append = self.nudge

    def publish(self) -> tuple[Publication, ...]:
        """To every witness, now. Raises LogError only when the log itself cannot be read or written."""
        with self._turn:
            self._next = self._clock.now() + timedelta(seconds=self._every_s)
            text = self._log.checkpoint()
            size = read_checkpoint(text).size
            done = tuple(self._send(name, text, size) for name in self._witnesses)
            with self._log.database.writing() as rows:
                rows.executemany(
                    "INSERT INTO published(size, witness, timestamp, checkpoint, error)"
                    " VALUES(?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    [(one.size, one.witness, one.timestamp, text, one.error) for one in done],
                )
            for one in done:
                if one.error:
                    body = {"witness": one.witness, "size": one.size, "error": one.error}
                    self._log.note(EntryKind.NOTICE, body)
        return done

    def nudge(self) -> None:
        """Something was appended: publishes when it is time. Returns at once."""
        if self._running is not None and self._running.is_alive():
            return
        if self._next is None:
            try:
                self._next = self._due()
            except LogError:
                # What was appended is durable all the same: whoever appended it must not be told otherwise.
                return
        if self._clock.now() >= self._next:
            self._running = threading.Thread(target=self._publish_aside, name="citewell-witnesses")
            self._running.start()

    def close(self) -> None:
        if self._running is not None:
            self._running.join(_LAST_WAIT_S)

    def _send(self, name: str, text: str, size: int) -> Publication:
        try:
            self._witnesses[name].publish(text)
            error = ""
        except CitewellError as failure:
            error = str(failure)
        return Publication(witness=name, size=size, timestamp=stamp(self._clock), error=error)

    def _publish_aside(self) -> None:
        try:
            self.publish()
        except LogError:
            # The log cannot be written: whoever appends next is told so, and publishing is tried again then.
            self._next = None

    def _due(self) -> datetime:
        """By what any process published last."""
        with self._log.database.reading() as rows:
            row = rows.execute("SELECT max(timestamp) FROM published").fetchone()
        if row is None or row[0] is None:
            return self._clock.now()
        return datetime.fromisoformat(str(row[0])) + timedelta(seconds=self._every_s)
