"""Rotate, reflect, translate and dilate the plane: the group elements of images."""
