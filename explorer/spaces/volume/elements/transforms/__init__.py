"""Transforms of volumes, one a file."""
