"""Readers of volumes, one format a file."""
