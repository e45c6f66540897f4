"""The step under the mouse, told to every view of sequences: the same step is marked in all of them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class _Cursor(QObject):
    moved = Signal(object)  # a step of x (int), or None


cursor = _Cursor()
