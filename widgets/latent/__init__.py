"""Codes in a plane, and what is decoded from them."""
