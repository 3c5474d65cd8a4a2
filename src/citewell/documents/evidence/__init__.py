"""Document versions and caller-supplied text, kept for ever: what citations resolve against."""
