"""Networks that make data: pictures code by code from a caption, densities that learn to look like others."""
