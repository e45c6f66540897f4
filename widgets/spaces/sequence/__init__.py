"""Show sequences."""
