"""The part of a frame that views of points draw."""
