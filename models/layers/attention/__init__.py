"""Attention, step by step."""
