"""The measure of the selected layer as a small table: one column a model, one row a number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QWidget

from explorer.square.frame import Frame, LayerInfo, Measure, Square
from widgets.base.look import theme
from widgets.base.text.layer_names import shortened
from widgets.base.text.term import TermLabel
from widgets.base.text.words import badge, figure

ROWS = (
    ("cumulative", "cumulative", "‖ρ′(g) h(x) − h(ρ(g) x)‖ / ‖ρ′(g) h(x)‖: where a fault is seen"),
    ("local", "local", "The same for this layer alone, fed ρ(g) of its own input: where a fault is made"),
    ("floor", "floor", "What resampling there and back, and rounding, would give alone"),
    ("chance", "chance", "The distance with another sample in place of ρ(g) x: 1 is unrelated"),
    ("kept", "compared", "The fraction of places compared; the rest came in from outside"),
    ("decibel", "dB", "The same error in decibels"),
)  # fmt: skip


MARGIN = BETWEEN = 10  # pixels


class MeasureTable(QFrame):
    """Labels that are made once; a frame only changes their text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        grid = QGridLayout(self)
        grid.setContentsMargins(MARGIN, 6, MARGIN, 8)
        grid.setHorizontalSpacing(BETWEEN)
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(0, 1)
        self.title = QLabel(self)
        self.title.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        grid.addWidget(self.title, 0, 0)
        self.heads = [QLabel(self), QLabel(self)]
        self.names: list[TermLabel] = []
        self.cells: dict[tuple[str, int], QLabel] = {}
        for k, head in enumerate(self.heads):
            head.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom)
            grid.addWidget(head, 0, 1 + k)
        for i, (key, name, tip) in enumerate(ROWS):
            label = TermLabel(name, self, tip)
            self.names.append(label)
            grid.addWidget(label, 1 + i, 0)
            for k in range(2):
                cell = self.cells[key, k] = QLabel(self)
                cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                grid.addWidget(cell, 1 + i, 1 + k)
        self.field = QLabel(self)  # of the layer, and why it is taken for that
        self.field.setWordWrap(True)
        grid.addWidget(self.field, 1 + len(ROWS), 0, 1, 3)
        self.show_frame(None)

    def show_frame(self, frame: Frame | None) -> None:
        self._frame = frame
        squares = frame.squares if frame is not None else ()
        self.title.setToolTip(squares[0].layer.name if squares else "")
        for k, head in enumerate(self.heads):
            square = squares[k] if k < len(squares) else None
            measure = square.measures.get(square.layer.name) if square is not None else None
            head.setVisible(k == 0 or square is not None)
            verdict, role = _verdict(square, measure)
            head.setText(_in_two_lines(verdict) if len(squares) > 1 else verdict)  # two have no room side by side
            head.setProperty("role", role)
            if square is not None:
                head.setToolTip(f"{square.title}, {square.layer.name}")
            for key, _name, _tip in ROWS:
                cell = self.cells[key, k]
                cell.setVisible(k == 0 or square is not None)
                cell.setText(_text(measure, key))
        self.field.setText(_field(squares[0].layer) if squares else "")
        self.field.setVisible(bool(self.field.text()))
        self._colour()
        self._write_title()

    def _write_title(self) -> None:
        """Name the layer, as much of it as fits beside the verdicts."""
        name = self.title.toolTip() or "no layer"
        columns = ([head, *(self.cells[key, k] for key, _, _ in ROWS)] for k, head in enumerate(self.heads))
        # a figure below may be wider than the verdict
        taken = [max(one.sizeHint().width() for one in column) for column in columns if not column[0].isHidden()]
        # a column without a network keeps the gap before it
        room = max(40, self.width() - 2 * MARGIN - sum(taken) - BETWEEN * len(self.heads))
        font = QFont(self.title.font())
        font.setBold(True)  # as the style sheet has it
        self.title.setText(shortened(QFontMetricsF(font), name, room - 2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._write_title()

    def _colour(self) -> None:
        t = theme.current()
        for k, head in enumerate(self.heads):
            colour = getattr(t, head.property("role") or "muted")
            sheet = f"color: {colour}; font-weight: 600;"
            if head.styleSheet() != sheet:  # polishing costs more than drawing
                head.setStyleSheet(sheet)
            cell = f"color: {(t.first, t.second)[k] if not self.heads[1].isHidden() else t.text};"
            for key, _name, _tip in ROWS:
                if self.cells[key, k].styleSheet() != cell:
                    self.cells[key, k].setStyleSheet(cell)

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return the table's numbers, one array a model."""
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self._frame.squares if self._frame is not None else ()):
            measure = square.measures.get(square.layer.name)
            values = [getattr(measure, key, None) for key, _, _ in ROWS]
            found[f"{'compare.' if k else ''}measure"] = np.array(
                [np.nan if v is None else v for v in values], dtype=float
            )
        if found:
            found["measure names"] = np.array([name for _, name, _ in ROWS], dtype=np.str_)
        return found

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(f"MeasureTable {{ background: {t.panel}; border-top: 1px solid {t.line}; }}")
        for label in (*self.names, self.field):
            label.setStyleSheet(f"color: {t.muted};")
        self.title.setStyleSheet(f"color: {t.accent}; font-weight: 600;")
        self._colour()


def _field(layer: LayerInfo) -> str:
    """Return the field of a layer where it is a guess, with the reason; what is declared needs no words."""
    if not layer.guessed:
        return ""
    return f"{layer.field} is a guess" + (f": {layer.reason}" if layer.reason else "")


def _verdict(square: Square | None, measure: Measure | None) -> tuple[str, str]:
    if square is None or measure is None:
        return "–", "muted"
    if square.layer.name in square.guilty:
        return "guilty", "bad"
    roles = {"holds": "good", "broken": "bad", "broken earlier": "text", "broken up to here": "text"}
    return (word := badge(measure)), roles.get(word, "muted")


def _in_two_lines(words: str) -> str:
    """Break words at the blank nearest to their middle: of three lines the table would be half as high again."""
    blanks = [k for k, letter in enumerate(words) if letter == " "]
    if not blanks:
        return words
    at = min(blanks, key=lambda k: abs(2 * k + 1 - len(words)))
    return f"{words[:at]}\n{words[at + 1 :]}"


def _text(measure: Measure | None, key: str) -> str:
    if measure is None:
        return "–"
    value = getattr(measure, key)
    if value is None:
        return "no law" if key == "cumulative" and not measure.emptied else "–"
    return f"{value:.0%}" if key == "kept" else figure(value)
