"""Values on hexagonal cells, with a batch axis and orientations, under sixths of a turn; no hands and no view."""
