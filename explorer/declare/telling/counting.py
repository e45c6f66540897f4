"""Counts in sentences."""

from __future__ import annotations


def number_of(count: int, thing: str) -> str:
    """Return "1 channel" or "3,000 channels"."""
    return f"{count:,} {thing}{'s' * (count != 1)}"
