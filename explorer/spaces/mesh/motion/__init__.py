"""Move a mesh: its frames, the space around it, its shape."""
