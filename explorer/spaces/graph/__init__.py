"""Know graphs and sets: values on nodes, on edges and on pairs of nodes."""
