"""Tell what a network takes of a graph or a set, and what its tensors are fields of."""
