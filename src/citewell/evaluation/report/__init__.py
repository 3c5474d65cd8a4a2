"""A run as a page."""
