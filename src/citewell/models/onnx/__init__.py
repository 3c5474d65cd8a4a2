"""The embedded models on onnxruntime: one unpadded sequence a run, so the same input gives the same bits."""
