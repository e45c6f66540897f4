"""Functions on the sphere that come with the program."""
