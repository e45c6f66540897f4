"""Draw the commuting square."""
