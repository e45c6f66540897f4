"""Layers on nodes and edges, and what the edges alone say of a graph."""
