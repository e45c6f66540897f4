"""Charts of values by degree and of functions of a distance."""
