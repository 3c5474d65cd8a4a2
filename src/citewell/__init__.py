"""Accountable RAG: see README.md and docs/architecture.md."""
