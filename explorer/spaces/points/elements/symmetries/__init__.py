"""Symmetries: one file each exports SYMMETRY."""
