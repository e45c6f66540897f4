"""Transformers on images."""
