"""Motions of space, and how values of each degree follow them."""
