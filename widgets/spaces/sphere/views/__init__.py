"""Views that the window finds, one a file."""
