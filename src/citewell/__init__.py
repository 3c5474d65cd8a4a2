"""Citewell: answers from your documents whose every quote is the source, checked, decided and recorded."""

from citewell.knowledge import KnowledgeBase, open

__all__ = ["KnowledgeBase", "open"]
