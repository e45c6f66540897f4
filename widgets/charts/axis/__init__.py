"""Scale and label axes."""
