"""Networks on sets."""
