"""Networks that pass messages along edges."""
