"""Reduce the values of an epoch to what is drawn."""
