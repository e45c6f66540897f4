"""Time opening large data and the geometry worked out of them."""
