"""Precision of a run: rounding, casts to a lower one, and numbers that were stored in one."""
