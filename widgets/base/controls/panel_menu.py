"""The menu of a chart: what it offers itself, then what the panels that it lies in offer as their actions."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget


def panel_menu(widget: QWidget, at: QPoint, whole: Callable[[], object] | None) -> QMenu:
    """Show the menu of `widget` at a place of the screen and return it; it is deleted when it closes.

    `whole` shows the whole range again, None while the whole is shown. The rest are the actions of the nearest widget
    round this one that has any: a panel knows what can be done with it, a chart does not.
    """
    menu = QMenu(widget)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    back = menu.addAction("Show the whole range")
    back.setEnabled(whole is not None)
    if whole is not None:
        back.triggered.connect(lambda checked=False: whole())
    around = widget.parentWidget()
    while around is not None and not around.actions() and not around.isWindow():
        around = around.parentWidget()
    if around is not None and not around.isWindow():
        menu.addSeparator()
        menu.addActions(around.actions())
    menu.popup(at)
    return menu
