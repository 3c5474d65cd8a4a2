"""Probes that alter what a pipeline reads: is it faithful, can it be poisoned, what is detected?"""
