"""A home and what can be done with it: ask, ingest, audit, review, as whoever looks at it may.

home         the object behind ``citewell.open``
assembly     configuration -> parts: alone chooses which implementation stands behind a port
sealing      what the log commits to besides answers
auditing     its log put to use
logkeeping   its log kept honest
reviewing    its queue of what went wrong
visibility   what one caller may see of all that
erasure      the stores beside the log that forget a person
feedback/    what users do with answers
revisiting/  past answers looked at again
traces       what happened in each request
"""
