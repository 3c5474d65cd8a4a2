"""What the server says while it runs: one JSON object a line on standard error, without contents.

In: log records. Out: lines. A line names routes, ids, times and kinds of errors; no question, no text of a
document, no address with its parameters, no key. A failure's place in the code is named, its words are not:
they may quote what somebody asked.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime

from citewell.core.clock import written

FIELDS = ("method", "route", "status", "ms", "credential", "request_id", "error")
NAME = "citewell.server"


class Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": written(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            line["error"] = type(error).__name__
            line["at"] = [
                f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-5:]
            ]
        return json.dumps(line)


def start() -> None:
    """Ours and uvicorn's messages become lines; nothing else of this process is touched."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    for name in (NAME, "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    # Its error logger repeats what ours said, with the words of the failure.
    logging.getLogger("uvicorn.error").setLevel(logging.INFO)
