"""Small parts of the page of trainings: buttons, and the file of examples that are learned."""

from __future__ import annotations

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QToolButton, QWidget

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import PYTHON, code_of, named_as_shown

SPEEDS = (("as fast as it can", 0.0), ("10 steps a second", 10.0), ("2 steps a second", 2.0))
FILTER = "Examples (*.npz *.safetensors)"


def button(text: str, tip: str = "", other: str = "") -> QToolButton:
    """Return a button as wide as what it will say at some other time, so that those beside it stay where they are."""
    made = QToolButton()
    widths = []
    for title in (other, text):
        made.setText(title)
        widths.append(made.sizeHint().width())
    made.setMinimumWidth(max(widths))
    made.setToolTip(tip)
    return made


def beside(field: QWidget, other: QWidget) -> QHBoxLayout:
    """Return a row of a field and a button."""
    row = QHBoxLayout()
    row.addWidget(field, 1)
    row.addWidget(other)
    return row


def row_of(*widgets: QWidget) -> QWidget:
    """Return widgets side by side, without a margin round them."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    for widget in widgets:
        row.addWidget(widget)
    return made


class Examples(QLineEdit):
    """The file of what is learned; empty: what the network's own recipe learns."""

    def __init__(self) -> None:
        super().__init__()
        self.setClearButtonEnabled(True)
        self.setToolTip(
            "Arrays x, of shape (examples, …) as the network takes them, and y: the class of each example as a whole "
            "number, or the values that the network is to give (NPZ or safetensors)"
        )
        self.browse = button("…")
        self.browse.setAccessibleName("Choose the file of examples")
        self.browse.clicked.connect(self._choose)

    @property
    def path(self) -> str:
        return self.text().strip()

    def of(self, info: ModelInfo) -> None:
        """Say what is learned where no file is given."""
        self.setPlaceholderText("those of its recipe" if info.trainable else "a file with arrays x and y")

    def missing(self, info: ModelInfo) -> str:
        """Return in a sentence what a network needs that brings no recipe; "" where nothing is missing."""
        if info.trainable or self.path:
            return ""
        code = code_of(info.name)
        more = "; or add EXAMPLES = (x, y) to its file, or export a CARD with train there"
        return (
            f"{named_as_shown(info.name)} brings no training. Choose a file of examples, arrays x and y"
            f"{more if code is not None and code.suffix == PYTHON else ''}."
        )

    def _choose(self) -> None:
        if path := QFileDialog.getOpenFileName(self, "Examples", self.path, FILTER)[0]:
            self.setText(path)
