"""Say that a network takes another kind of data."""

from __future__ import annotations


def another_kind(name: str, here: str, takes: str) -> str:
    """Return the sentence on data called `name` on a `here`, where a network takes "a mesh", with what to do."""
    return f"{name!r} lies on a {here}, and this network takes {takes}; choose other data, or a network on a {here}"
