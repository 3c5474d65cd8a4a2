"""Claims against evidence: exact checks, entailment, and the verdict that joins them."""
