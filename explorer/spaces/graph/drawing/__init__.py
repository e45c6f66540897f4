"""Prepare what is drawn of a graph: the part of a frame, thumbnails, layouts, matrices of pairs."""
