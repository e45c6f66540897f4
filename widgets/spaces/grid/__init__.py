"""Show what only grids have."""
