"""Measure networks on images in ways of their own: the Lie derivative, whole orbits in one batch."""
