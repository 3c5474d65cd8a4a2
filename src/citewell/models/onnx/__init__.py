"""The embedded models on onnxruntime: one unpadded sequence per run, so equal inputs give equal bits."""
