"""Change a layer in the window: its menu, and symmetric versions of it."""
