"""Models behind the ports: the embedded ones (``onnx/``, ``weights/``), and any other by one line.

Which line stands for which model is in :mod:`citewell.models.naming`. Constructors import what is heavy.
"""
