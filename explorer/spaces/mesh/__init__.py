"""Know meshes: values in frames at the vertices of a surface."""
