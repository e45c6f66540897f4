"""Points in space: clouds, molecules and particles, under motions of space and renumbering."""
