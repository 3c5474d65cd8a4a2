"""Is the pipeline any good? Cases, measures, probes; nothing here answers a question.

A run, in the order of reading: ``cases``, ``pipelines`` (or ``recorded`` answers), ``outcomes`` with
``judging/`` and ``measures/``, ``running``, ``results``; then ``comparing``, ``gating`` and ``report/``.
Beside it: ``drafting`` and ``importing/`` make cases, ``sampling/`` asks people, ``calibration/`` makes
cards, ``drift/`` watches the log, ``probes/`` change what is read.
"""
