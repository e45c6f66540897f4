"""Open pages over the window: the first field has the keyboard, Tab shows where it is, Esc closes the page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QDialogButtonBox, QLabel, QTextEdit, QWidget

from widgets.base.look.focus import FocusRing


class Dialog(QDialog):
    """A dialog as all of them are here. A page that has set the focus before it is shown keeps it there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.focus_ring = FocusRing(self)
        self._shown = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.focus_ring.follow()
        if not self._shown:
            self._shown = True
            if self.focusWidget() is None and (first := self.first_field()) is not None:
                first.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        self.focus_ring.stop()
        super().hideEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus on Tab, and show from here on where it is."""
        self.focus_ring.by_keys()
        return super().focusNextPrevChild(next)

    def first_field(self) -> QWidget | None:
        """Return the first control that Tab would reach, a button only where there is nothing else."""
        found: list[QWidget] = []
        widget = self.nextInFocusChain()
        while widget is not None and widget is not self:
            tabbed = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
            if tabbed and widget.isEnabled() and not widget.isHidden() and not isinstance(widget, QLabel | QTextEdit):
                found.append(widget)
            widget = widget.nextInFocusChain()
        seen = [one for one in found if one.isVisibleTo(self)]
        fields = [one for one in seen if not _presses(one)]
        return next(iter([*fields, *seen]), None)


def _presses(widget: QWidget) -> bool:
    """Say whether it is a button that does something, and no field that holds a choice."""
    boxed = isinstance(widget.parentWidget(), QDialogButtonBox)
    return boxed or (isinstance(widget, QAbstractButton) and not widget.isCheckable())
