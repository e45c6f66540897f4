"""Networks on the sphere, one paper or one idea a file."""
