"""How good is the pipeline? Cases, measures, probes; nothing here answers a question.

A run, in reading order: ``cases``, ``pipelines``, ``running`` with ``judging``, ``support`` and
``measures``, ``results``; then ``comparing``, ``gating``, ``report``. Separate from runs: ``drafting`` makes
cases, ``sampling`` asks people, ``calibration/`` makes cards, ``drift`` watches the log, ``probes/`` alter
what the pipeline reads.
"""
