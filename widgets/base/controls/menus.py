"""Menus that are filled anew, and menus of things of which one is in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu


@dataclass(slots=True)
class Choices:
    """A menu of things of which one is in use."""

    menu: QMenu
    group: QActionGroup

    def fill(self, items: Sequence[tuple[str, str]], chosen: Callable[[str], None], clear: bool = True) -> None:
        """Put (value, text) items in place of what was there."""
        if clear:
            self.menu.clear()
        for value, text in items:
            action = QAction(text, self.menu, checkable=True)
            action.setData(value)
            action.triggered.connect(partial(_choose, chosen, value))
            self.group.addAction(action)
            self.menu.addAction(action)

    def mark(self, value: str) -> None:
        for action in self.group.actions():
            action.setChecked(action.data() == value)


def empty(menu: QMenu) -> None:
    """Take out everything; menus that were inside go too, which `clear` alone leaves behind."""
    inside = [action.menu() for action in menu.actions()]
    menu.clear()
    for inner in inside:
        if isinstance(inner, QMenu) and inner.parent() is menu:
            empty(inner)
            inner.setParent(None)
            inner.deleteLater()


def _choose(chosen: Callable[[str], None], value: str, checked: bool = True) -> None:
    chosen(value)
