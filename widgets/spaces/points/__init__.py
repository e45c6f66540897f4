"""Views of points in space."""
