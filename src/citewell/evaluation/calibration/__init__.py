"""A calibration card: claims with labels and what may be promised of them."""
