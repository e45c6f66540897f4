"""Describe networks for people: equations, summaries, excerpts of source, questions."""
