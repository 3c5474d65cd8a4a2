"""Models behind the ports: the embedded ones (``onnx/``, ``weights/``), and others by one line of config.

:mod:`citewell.models.naming` maps lines to models. Heavy imports happen in constructors.
"""
