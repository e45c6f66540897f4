"""Convolutions on meshes that do not depend on the frames of the vertices."""
