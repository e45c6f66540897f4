"""Networks on graphs."""
