"""Reduce functions on the sphere to what is drawn of them."""
