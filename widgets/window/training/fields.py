"""Small parts of the page of trainings: buttons, and the file of examples that are learned."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QToolButton, QWidget

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import PYTHON, code_of, file_stem, named_as_shown
from explorer.work.files.places import at_home, free

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
        more = (
            "; or add EXAMPLES = (x, y) to its file, with LOSS = f(answer, y) if need be, or export a CARD with train "
            "there"
        )
        return (
            f"{named_as_shown(info.name)} brings no training. Choose a file of examples, arrays x and y"
            f"{more if code is not None and code.suffix == PYTHON else ''}."
        )

    def _choose(self) -> None:
        if path := QFileDialog.getOpenFileName(self, "Examples", self.path, FILTER)[0]:
            self.setText(path)


class Weights(QLineEdit):
    """The file that the weights are written to: of the training that was started last, until the next one begins."""

    def __init__(self, folder: Path, taken: Callable[[], Collection[Path]]) -> None:
        """Write into a folder where no other is named; `taken` are the whole paths of files of other trainings."""
        super().__init__()
        self.folder = folder
        self._taken = taken
        self._proposed = ""
        self.setToolTip("The weights are written here when the training is over")
        self.browse = button("…")
        self.browse.setAccessibleName("Choose the file")
        self.browse.clicked.connect(self._choose)

    @property
    def path(self) -> Path:
        return at_home(self.text())

    @property
    def taken(self) -> Collection[Path]:
        return self._taken()

    def free(self, info: ModelInfo) -> Path:
        """Return a file for a network that is not there, and that no training will write."""
        return free(self.folder / f"{file_stem(info.name)}.safetensors", self.taken)

    def propose(self, path: Path) -> None:
        """Name a file that no person has chosen: one that is there by the time it is written is not written over."""
        self._proposed = str(path)
        self.setText(self._proposed)

    def take(self) -> Path:
        """Return the file of a training that begins, and show it: another one where the named one is taken.

        Those of others that are trained beside it, and of later ones, are named in its folder.
        """
        taken = self.taken
        if self.path.absolute() in taken or (self.text() == self._proposed and self.path.exists()):
            self.propose(free(self.path, taken))
        self.folder = self.path.parent
        return self.path

    def _choose(self) -> None:
        if path := QFileDialog.getSaveFileName(self, "Weights", self.text(), "Weights (*.safetensors)")[0]:
            self.setText(path if path.endswith(".safetensors") else f"{path}.safetensors")
