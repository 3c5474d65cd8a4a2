"""Calibration cards: labelled claims, the guarantees they allow, and the weights of the confidence."""
