"""Is the pipeline any good? Cases, measures, probes; nothing here answers a question.

A run, in the order of reading: ``cases``, ``pipelines``, ``running`` with ``judging``, ``support`` and
``measures/``, ``results``; then ``comparing``, ``gating``, ``report``. Beside it: ``drafting`` and
``importing`` make cases, ``sampling`` asks people, ``calibration/`` makes cards, ``drift/`` watches the log,
``probes/`` change what is read.
"""
