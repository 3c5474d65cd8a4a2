"""Draft -> claims -> binding -> verification -> roll-up: what ``verify()`` and the pass share."""

from citewell.checking.checker import Checker
from citewell.checking.outcome import Checked, nothing_to_check

__all__ = ["Checked", "Checker", "nothing_to_check"]
