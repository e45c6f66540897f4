"""Values that views of images draw beside the maps of the square."""
