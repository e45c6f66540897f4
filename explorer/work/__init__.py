"""Serve all rooms: threads, limits, errors in words, progress, caches, eigenvectors by a rule."""
