"""Renumber nodes, leave some out, scale what is measured: the group elements of graphs and sets."""
