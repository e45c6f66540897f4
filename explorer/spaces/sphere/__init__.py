"""The space of functions on the sphere and on its rotations, by their harmonic coefficients."""
