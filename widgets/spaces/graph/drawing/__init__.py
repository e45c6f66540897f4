"""Draw graphs."""
