"""Draft -> claims -> binding -> verification -> roll-up: shared by ``verify()`` and the answering pass."""

from citewell.verification.checking.checker import Checked, Checker, nothing_to_check

__all__ = ["Checked", "Checker", "nothing_to_check"]
