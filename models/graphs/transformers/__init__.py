"""Networks that attend to all pairs of nodes."""
