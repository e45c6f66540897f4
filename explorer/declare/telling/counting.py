"""Counts in sentences."""

from __future__ import annotations


def number_of(count: int, thing: str) -> str:
    """Return "1 channel" or "3 channels"."""
    return f"{count:d} {thing}{'s' * (count != 1)}"
