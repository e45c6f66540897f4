"""Views of functions on the sphere: globes, panoramas, spectra by degree."""
