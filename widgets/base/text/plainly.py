"""Plain words in what is written once: labels, buttons, choices, menus and tips of a window.

What is written anew with each frame asks `glossary.say` itself.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QWidget

from widgets.base.text.glossary import say
from widgets.base.text.term import TermLabel

WRITTEN = "notation"  # property: what was written with notation, and what stands in its place


def rewrite(root: QWidget) -> None:
    """Write everything below a widget as the person wants it: with plain words, or with notation."""
    for widget in root.findChildren(QWidget):
        if isinstance(widget, TermLabel):
            continue  # it follows by itself
        _say(widget, "tip", widget.toolTip, widget.setToolTip)
        if isinstance(widget, QLabel | QAbstractButton):
            _say(widget, "text", widget.text, widget.setText)
        elif isinstance(widget, QComboBox):
            for k in range(widget.count()):
                _say_item(widget, k)
    for action in root.findChildren(QAction):
        _say(action, "text", action.text, action.setText)
        _say(action, "tip", action.toolTip, action.setToolTip)


def _say(thing: QWidget | QAction, what: str, read: Callable[[], str], write: Callable[[str], None]) -> None:
    key, shown = f"{WRITTEN} {what}", read()
    if not shown:
        return
    kept = thing.property(key)
    source = kept[0] if kept and kept[1] == shown else shown  # else it was written anew meanwhile
    told = say(source)
    if told != shown:
        write(told)
        thing.setProperty(key, (source, told))


def _say_item(box: QComboBox, k: int) -> None:
    shown = box.itemText(k)
    key = f"{WRITTEN} {k}"
    kept = box.property(key)
    source = kept[0] if kept and kept[1] == shown else shown
    if (told := say(source)) != shown:
        box.setItemText(k, told)
        box.setProperty(key, (source, told))
