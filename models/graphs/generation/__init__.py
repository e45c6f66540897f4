"""Networks that generate graphs."""
