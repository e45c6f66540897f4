"""Tell what a network takes of a mesh, and what its tensors are fields of."""
