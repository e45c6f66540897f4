"""Reduce volumes to what is drawn of them."""
