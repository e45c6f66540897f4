"""Draw the rows of a timeline: curves, heat, cells of tokens."""
