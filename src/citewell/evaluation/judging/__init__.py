"""What one answer is judged by: the support of its claims, the passages it stands on, what was expected."""
