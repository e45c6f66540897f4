"""Open pages over the window: the first field has the keyboard, Tab shows where it is, F1 says what it is for."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QDialogButtonBox, QLabel, QTextEdit, QVBoxLayout, QWidget
from shiboken6 import isValid

from widgets.base.controls.page_help import SIZE, help_page, help_text
from widgets.base.look.focus import FocusRing

# Pages that are open. A page and its ring hold each other, and nobody else holds them: Python's collector took away
# what was on a page while it was being read.
_open: set[Dialog] = set()


class Dialog(QDialog):
    """A dialog as all of them are here. A page that has set the focus before it is shown keeps it there.

    Attributes:
        about: the title of the paragraph about it (resources/pages.md).
    """

    about = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.focus_ring = FocusRing(self)
        self._shown = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        _open.difference_update([page for page in _open if not isValid(page)])  # its window was destroyed
        _open.add(self)
        self.focus_ring.follow()
        if not self._shown:
            self._shown = True
            if self.focusWidget() is None and (first := self.first_field()) is not None:
                first.setFocus(Qt.FocusReason.ActiveWindowFocusReason)

    def hideEvent(self, event: QHideEvent) -> None:
        self.focus_ring.stop()
        if not event.spontaneous():  # closed, and not put down into the task bar
            _open.discard(self)
        super().hideEvent(event)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Move the focus on Tab, and show from here on where it is."""
        self.focus_ring.by_keys()
        return super().focusNextPrevChild(next)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F1 and (text := help_text(self, self.about)):
            self._show_help(text)
        else:
            super().keyPressEvent(event)

    def _show_help(self, text: str) -> None:
        page = Dialog(self)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.setWindowTitle(f"Help: {self.about}")
        column = QVBoxLayout(page)
        reading = help_page(text)
        column.addWidget(reading)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(page.close)
        column.addWidget(buttons)
        page.resize(*SIZE)
        reading.setFocus()  # arrows scroll
        page.open()

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
