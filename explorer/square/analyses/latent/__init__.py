"""Codes of a network in a plane: of examples, of the input, along an orbit, and what they are decoded to."""
