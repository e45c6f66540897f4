"""Turn frames, renumber vertices, move and reshape surfaces: the group elements of meshes."""
