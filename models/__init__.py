"""The gallery: one paper, one file; each file exports one constant, CARD (one card or a tuple of them)."""
