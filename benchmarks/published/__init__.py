"""Repeat published experiments and print the figures beside those of the papers."""
