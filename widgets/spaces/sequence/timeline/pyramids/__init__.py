"""Shorten long recordings for any zoom."""
