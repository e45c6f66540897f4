"""Networks and computations about the structure of a graph."""
