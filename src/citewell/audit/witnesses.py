"""Outside places that keep checkpoints: a file, a folder under git, an object store with retention lock, a
webhook.

In: a checkpoint. Out: it is there, or an exception says why not. What a witness is worth is how far it is out
of the log owner's hands; that is for whoever configures it to judge. Chosen by :func:`witness`, from a URL:

- ``file:/path`` appends to a file (on another machine's disk, a pen-protected drive, a printer's spool);
- ``git:/folder`` commits a file in a repository that is pushed elsewhere;
- ``s3://bucket/prefix?retain_days=3650`` writes an object under compliance retention, which nobody can
shorten; ``&endpoint=URL`` for other stores than AWS;
- ``https://...`` posts the text, and a 2xx answer takes it as kept.

Knows nothing about logs.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from citewell.audit.notes import checkpoints_in
from citewell.core.addresses import named, post
from citewell.core.errors import ConfigError, LogError, MissingExtraError
from citewell.core.ports import Witness

TIMEOUT_S = 10.0


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

    def read(self) -> Iterator[str]:
        """Every checkpoint, oldest first."""
        if self.path.exists():
            kept = self.path.read_text(encoding="utf-8")
            yield from checkpoints_in(kept) if kept else ()


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

    def read(self) -> Iterator[str]:
        for commit in self._git("log", "--reverse", "--format=%H", "--", self.FILE).split():
            yield self._git("show", f"{commit}:{self.FILE}")

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

    def read(self) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix
        )
        for page in pages:
            for found in page.get("Contents", ()):
                held = self._client.get_object(Bucket=self._bucket, Key=found["Key"])
                yield held["Body"].read().decode()


class WebhookWitness:
    """Posts the text; what became of it is asked of whoever runs the other end."""

    def __init__(self, url: str) -> None:
        self.url = url

    def publish(self, checkpoint: str) -> None:
        trouble = post(self.url, checkpoint.encode(), "text/plain; charset=utf-8")
        if trouble:
            raise LogError(trouble, hint="check its address, and that its server is running")

    def read(self) -> Iterator[str]:
        yield from ()


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
