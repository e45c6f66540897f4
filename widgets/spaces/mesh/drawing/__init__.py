"""Draw meshes with VTK."""
