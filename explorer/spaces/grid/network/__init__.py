"""Tell what a network takes of an image, and what its tensors are fields of."""
