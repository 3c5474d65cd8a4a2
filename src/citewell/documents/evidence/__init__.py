"""Document versions and caller-supplied text, for ever: what a citation resolves through."""
