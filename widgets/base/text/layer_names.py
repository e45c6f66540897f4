"""Names of layers where there is little room: what a layer is stands at the end of its name."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF


def shortened(metrics: QFontMetricsF, name: str, room: float) -> str:
    """Return as many of the last parts of a dotted name as fit: "conv1.attention", "…attention", "att…ion"."""
    if metrics.horizontalAdvance(name) <= room:
        return name
    parts = name.split(".")
    for k in range(1, len(parts)):
        end = ".".join(parts[k:])
        if not end.replace(".", "").isdigit() and metrics.horizontalAdvance(f"…{end}") <= room:
            return f"…{end}"
    last = name if parts[-1].isdigit() else parts[-1]
    return metrics.elidedText(last, Qt.TextElideMode.ElideMiddle, room)
