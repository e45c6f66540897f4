"""Experiments that make one layer symmetric, to see whether the law then holds: one file each, found by a scan."""
