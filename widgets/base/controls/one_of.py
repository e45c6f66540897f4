"""Ask for one of several texts, or for another one that is written in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QWidget

WIDTH = 520  # pixels: titles and names of files fit


def ask_one_of(parent: QWidget, title: str, label: str, items: Sequence[str], then: Callable[[str], None]) -> None:
    """Open the question; `then` hears what was chosen or written, and nothing where the person thought better of it."""
    dialog = QInputDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setComboBoxItems(list(items))
    dialog.setComboBoxEditable(True)
    dialog.resize(WIDTH, dialog.sizeHint().height())
    dialog.textValueSelected.connect(lambda text: then(text.strip()) if text.strip() else None)
    dialog.open()
