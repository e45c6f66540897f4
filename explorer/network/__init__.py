"""Load somebody's network, call it, and learn what its layers are."""
