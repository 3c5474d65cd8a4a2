"""What a question asks for, and whether text is about it: exact rules, no models.

Periods, line items, names and table cells. The gate, the writer and the finder of conflicts stand on it.
"""
