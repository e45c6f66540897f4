"""Networks that learn what to represent: back-propagation looked at."""
