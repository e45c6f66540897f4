"""Show meshes."""
