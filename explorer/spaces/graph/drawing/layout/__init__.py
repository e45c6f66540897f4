"""Find places to draw the nodes of a graph at."""
