"""A home and what a caller may do with it: ask, ingest, audit, review.

home         the object behind ``citewell.open``
documents    its documents: ingested, read, shared, withdrawn
assembly     configuration -> parts: the only place that chooses an implementation for a port
stores       its evidence, log, keys, traces and feedback
sealing      what the log commits to besides answers
auditing     using its log: queries, receipts, rechecks, recalls, replays, expiry, erasure
logkeeping   keeping its log verifiable: checks, checkpoints, proofs, keys
reviewing    its queue of failed and flagged answers
visibility   what one caller may see of all that
erasure      erasing a person from the stores outside the log
feedback/    what users do with answers
revisiting/  rechecking and replaying past answers
traces       what happened in each request
"""
