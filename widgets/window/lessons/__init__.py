"""Lessons in the window: read, pointed at, noticed, and kept."""
