"""What happened in each request, by session, in a store of its own beside the log.

A trace is for looking, a record for proving: losing the last traces to a power cut is allowed. A file of the
home, or a schema of the server that many workers share; there they also hear each other's answers being made.
Knows nothing about records or verdicts.
"""

from citewell.knowledge.traces.relay import Heard, Relay, Relayed
from citewell.knowledge.traces.shared import SharedTraces
from citewell.knowledge.traces.sqlite import SqliteTraces

__all__ = ["Heard", "Relay", "Relayed", "SharedTraces", "SqliteTraces"]
