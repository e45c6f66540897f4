"""Transforms: one file each exports TRANSFORM."""
