"""Train a network so that it can be stopped, kept, taken back and resumed between any two steps."""
