"""Show graphs."""
