"""Analyse an epoch beyond its square: orbits, sweeps, figures, saliency, differences, laws."""
