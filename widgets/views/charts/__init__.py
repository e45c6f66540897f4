"""Charts of errors, answers and values."""
