"""Samples: one file each exports SAMPLES."""
