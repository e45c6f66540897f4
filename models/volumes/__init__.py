"""Networks on volumes, one paper or one idea a file."""
