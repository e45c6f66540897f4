"""Lay steps and names of rows along the axes of a timeline."""
