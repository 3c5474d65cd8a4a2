"""A calibration card: claims with labels, what may be promised of them, and the weights of the confidence."""
