"""Change a copy of a network: its precision, its values, how it is differentiated."""
