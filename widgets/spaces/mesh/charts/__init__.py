"""Draw charts of one vertex."""
