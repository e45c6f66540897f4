"""Prepare what is drawn of a mesh: the part of a frame, thumbnails."""
