"""Views of volumes: slices, surfaces of equal value, orientations."""
