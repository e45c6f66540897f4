"""Networks that make a graph smaller."""
