"""What a question asks for, and whether text is about it: exact rules, no models.

Periods, line items, names and table cells. Used by the gate, the writer and conflict detection.
"""
