"""Draw the time line."""
