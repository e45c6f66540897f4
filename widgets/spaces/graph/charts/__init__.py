"""Draw charts of graphs."""
