"""Describe a network: its modules, their figures, their lines of source."""
