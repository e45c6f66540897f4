"""Summarise matrices over pairs of nodes."""
