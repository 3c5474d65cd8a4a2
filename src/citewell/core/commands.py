"""Runs the owner's own commands on events.

In: the words of a command, one more argument. Out: what went wrong, or "". Knows nothing
about the events.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

TIMEOUT_S = 10.0
"""The longest a command may take, in seconds."""


def tell_command(words: Sequence[str], argument: str) -> str:
    """Runs a command, without a shell, with ``argument`` as its last argument. Never raises if it fails."""
    try:
        done = subprocess.run(
            [*words, argument],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        # The exception's own message repeats every word, and one may be a token.
        return f"{words[0]} took longer than {TIMEOUT_S:g} s"
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    if done.returncode:
        return f"{words[0]} exited with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}"
    return ""
