"""Prepare what is drawn of a sequence: the part of a frame, thumbnails."""
