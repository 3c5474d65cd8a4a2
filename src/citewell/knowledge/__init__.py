"""A home and what can be done with it: ask, ingest, audit, review, as whoever looks at it may.

home         the object behind ``citewell.open``
auditing     its log put to use
logkeeping   its log kept honest
reviewing    its queue of what went wrong
seeing       what one caller may see of all that
forgetting   the stores beside the log that forget a person
"""

from citewell.knowledge.home import KnowledgeBase
from citewell.knowledge.opening import open, verify

__all__ = ["KnowledgeBase", "open", "verify"]
