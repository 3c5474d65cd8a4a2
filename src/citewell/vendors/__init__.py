"""Other systems' requests, answers and citations: read into our values, written in their shapes. Plain JSON
in, plain JSON out; no vendor's SDK is imported, and nothing is checked here."""
