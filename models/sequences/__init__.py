"""Networks on sequences."""
