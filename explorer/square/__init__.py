"""Evaluate the commuting square of a state: from a request to a frame of arrays."""
