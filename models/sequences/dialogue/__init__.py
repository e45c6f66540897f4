"""Networks that answer in a dialogue."""
