"""Other systems' requests, answers and citations: read into our records, written in their formats. Plain JSON
in, plain JSON out; no vendor's SDK is imported, and nothing is checked here."""
