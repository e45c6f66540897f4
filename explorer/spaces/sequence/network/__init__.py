"""Tell what a network takes of a sequence, and what its tensors are fields of."""
