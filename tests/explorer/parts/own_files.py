"""Files with networks of one's own: written, and checked as the command line does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.state.state import State


def written(folder: Path, text: str) -> str:
    """Write a file of networks, and return its path."""
    path = folder / "net.py"
    path.write_text(text)
    return str(path)


def checked_under(group: str, name: str, data: str = "") -> Any:
    """Return the report of a trusted network in float64 under one group."""
    (report,) = audit(LocalEngine({}, trust=True), State(name, sample=data), group, "float64", None, {})
    return report
