"""The domain's frozen value types, in pipeline order. Field names are also those of the public JSON.

Offsets are Unicode code points into a document version's canonical text, half open ``[start, end)``.
Pages are physical and start at 1. Probabilities lie in [0, 1]; ``None`` means not measured.
"""

from citewell.core.records.answers import *  # noqa: F403 - every value of the module
from citewell.core.records.claims import *  # noqa: F403
from citewell.core.records.documents import *  # noqa: F403
