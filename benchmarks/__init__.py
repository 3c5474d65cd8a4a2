"""Measurements, one command each; results go to docs/measurements."""
