"""Shift, reverse and warp time: the group elements of sequences."""
