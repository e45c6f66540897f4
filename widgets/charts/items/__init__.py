"""Draw the items of a plot: curves, marks, heat maps, the line above it."""
