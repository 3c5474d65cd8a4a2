"""Is the pipeline any good? Cases, measures, probes; nothing here answers a question."""
