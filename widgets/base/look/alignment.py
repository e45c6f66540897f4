"""Alignments of painted text: in the middle of the height, at the left, at the right or in the middle."""

from __future__ import annotations

from PySide6.QtCore import Qt

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter
