"""Readers: one file each exports READER."""
