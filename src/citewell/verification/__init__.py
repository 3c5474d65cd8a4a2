"""Verify claims against evidence: exact checks, entailment, and the verdict that combines them."""
