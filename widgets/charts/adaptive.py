"""A layout that follows the shape of its dock."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QBoxLayout, QWidget


class Adaptive(QBoxLayout):
    """A box that lies down when it is wide and stands up when it is tall (a dock may be either).

    `turned(flat)` is told, so that controls in it can follow.
    """

    def __init__(self, parent: QWidget, wide: float = 2.0, turned: Callable[[bool], None] | None = None) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight, parent)
        self._wide, self._turned = wide, turned
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(0)
        if turned is not None:
            turned(True)

    def setGeometry(self, rect: QRect) -> None:
        flat = rect.width() >= self._wide * rect.height()
        direction = QBoxLayout.Direction.LeftToRight if flat else QBoxLayout.Direction.TopToBottom
        if direction != self.direction():
            self.setDirection(direction)
            if self._turned is not None:
                self._turned(flat)
        super().setGeometry(rect)
