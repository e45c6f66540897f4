"""Lay out what stands above a view: a row of controls that exported figures leave out."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from widgets.base.look import theme

GAP = 6


class ControlRow(QWidget):
    """Controls in one line, with words before them; what is left of the line stays empty.

    Args:
        parts: widgets, and words as text.
        rest: the same, at the right end.
        margins: left, top, right, bottom.
        narrow: pixels below which words may give way, as the tips of the controls say the same: they do where there
            is no room for all.
    """

    def __init__(
        self, *parts: QWidget | str, margins: tuple[int, int, int, int] = (8, 4, 8, 0), narrow: int = 0,
        rest: Iterable[QWidget | str] = (),
    ) -> None:  # fmt: skip
        super().__init__()
        self.setProperty("chrome", True)  # left out of exported figures
        self.setMinimumWidth(1)
        self.words: list[QLabel] = []
        self._before: list[tuple[QLabel, QWidget]] = []  # words, and what they stand before
        self._narrow = narrow
        row = QHBoxLayout(self)
        row.setContentsMargins(*margins)
        row.setSpacing(GAP)
        made = [self._made(part) for part in parts]
        for widget in made:
            row.addWidget(widget)
        self._before = [(word, box) for word, box in pairwise(made) if word in self.words and box not in self.words]
        for word, box in self._before:  # what a screen reader says of it
            if not box.accessibleName():
                box.setAccessibleName(word.text()[:1].upper() + word.text()[1:])
        row.addStretch(1)
        for part in rest:
            row.addWidget(self._made(part))
        self.apply_theme()

    def _made(self, part: QWidget | str) -> QWidget:
        if isinstance(part, QWidget):
            return part
        self.words.append(QLabel(part))
        return self.words[-1]

    def apply_theme(self) -> None:
        """Write the words in the colour of what is beside the matter."""
        for word in self.words:
            word.setStyleSheet(f"color: {theme.current().muted};")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_words()

    def place_words(self) -> None:
        """Show the words before the controls that there are, where there is room."""
        there = [word for word, box in self._before if not box.isHidden()]
        hidden = self.width() < self._narrow and self.width() < self._needed(there)
        for word, _ in self._before:
            word.setHidden(hidden or word not in there)

    def _needed(self, words: list[QLabel]) -> int:
        """Return the pixels of width that the controls take with these words before them."""
        layout = self.layout()
        assert layout is not None
        inside = [item.widget() for item in map(layout.itemAt, range(layout.count())) if item is not None]
        shown = [w for w in inside if w is not None and (w in words if w in self.words else not w.isHidden())]
        sides = layout.contentsMargins()
        wide = sum(w.sizeHint().width() for w in shown) + GAP * len(shown)
        return wide + sides.left() + sides.right()


def hint_label(text: str = "") -> QLabel:
    """Return a line that says what a click does, which exported figures leave out."""
    label = QLabel(text, wordWrap=True)
    label.setProperty("chrome", True)
    return label


def compact(box: QComboBox, letters: int, tip: str = "") -> QComboBox:
    """Let a box be as narrow as so many letters, whatever it offers; return it."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)
    if tip:
        box.setToolTip(tip)
    return box


def stacked(view: QWidget, *parts: QWidget, gap: int = 0) -> QVBoxLayout:
    """Lay parts out one below the other, without margins; the last one takes the room that is left."""
    column = QVBoxLayout(view)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(gap)
    for part in parts:
        column.addWidget(part, 1 if part is parts[-1] else 0)
    return column
