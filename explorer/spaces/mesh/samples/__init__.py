"""Samples: each file may export SAMPLES."""
