"""Draft -> claims -> binding -> verification -> roll-up: what ``verify()`` and the pass share."""

from citewell.verification.checking.checker import Checked, Checker, nothing_to_check

__all__ = ["Checked", "Checker", "nothing_to_check"]
