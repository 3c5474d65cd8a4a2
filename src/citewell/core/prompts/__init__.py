"""Prompt files, checked for their variables and hashed into the record."""
