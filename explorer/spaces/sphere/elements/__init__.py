"""Rotations of the sphere, as elements that act on coefficients."""
