"""Symmetries of the cube and shifts, as elements that act on volumes."""
