"""Name the kinds of data that lie on nodes."""

from __future__ import annotations

GRAPHS = ("graph", "set")  # where edges and nodes may be missing
