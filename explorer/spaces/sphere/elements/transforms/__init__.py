"""Transforms of the sphere, one a file."""
