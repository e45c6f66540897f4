"""Tasks on graphs, and faults to find."""
