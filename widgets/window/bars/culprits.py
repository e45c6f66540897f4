"""The layers that break the law, by what each does to the answer, and the whole verdict as text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QToolButton, QWidget

from explorer.declare.telling.hints import grouped
from explorer.square.frame import Measure, Square
from widgets.base.controls.flow import Flow
from widgets.base.look import theme
from widgets.base.text.words import figure, read_out
from widgets.base.veil import Veil

HIGH = 104  # pixels: one height, so that nothing jumps in a drag; more is scrolled to


def culprits(square: Square) -> tuple[str, ...]:
    """Return the guilty layers, what each does to the answer first; where that is not known, by their own errors."""

    def effect(name: str) -> tuple[bool, float]:
        m = square.measures.get(name)
        if m is not None and m.attributed is not None:
            return True, m.attributed
        return False, (m.local or 0.0) if m is not None else 0.0

    return tuple(sorted(square.guilty, key=effect, reverse=True))


def culprit_beside(square: Square, by: int) -> str:
    """Return the guilty layer so many after the one that is shown, the first one where none is; "" where none is."""
    names, shown = culprits(square), square.layer.name
    if not names:
        return ""
    at = names.index(shown) + by if shown in names else 0 if by > 0 else -1
    return names[at % len(names)]


def grouped_hints(square: Square) -> list[str]:
    """Return the hints, worst layers first, each once where it concerns several layers.

    A guilty layer that is alone is not named again: the sentence before them does.
    """
    order = culprits(square)
    return grouped(square.hints, order, unnamed=order if len(order) == 1 else ())


def verdict_text(sentences: Sequence[str], squares: Sequence[Square]) -> str:
    """Return the verdicts with every guilty layer's figures, to be pasted elsewhere."""
    lines = list(sentences)
    lines += [read_out(name, square.measures.get(name)) for square in squares for name in culprits(square)]
    return "\n".join(lines)


class Whole(QScrollArea):
    """Shows a sentence in as many lines as it needs, and beside it a chip for each guilty layer."""

    layer_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFixedHeight(HIGH)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._content = QWidget()
        self._content.setObjectName("whole")
        self.text = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.text.setAccessibleName("Diagnosis in full")
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._row = QWidget()
        self._flow = Flow(self._row)
        self.chips: list[QToolButton] = []
        self._known: object = None
        # side by side: below a long sentence nobody would look for the layers
        row = QHBoxLayout(self._content)
        row.setContentsMargins(30, 0, 8, 6)
        row.setSpacing(12)
        row.addWidget(self.text, 3)
        row.addWidget(self._row, 2)
        self.setWidget(self._content)
        self.veil = Veil(self)

    def show_square(self, sentence: str, square: Square | None, layer: str, stale: str = "") -> None:
        """Say a sentence, and offer the layers that a square accuses.

        Args:
            layer: the one that is shown.
            stale: why all this is of another element than the chosen one, "" where it is not.
        """
        self.text.setText(sentence)
        self.veil.say(stale)
        self._content.setEnabled(not stale)
        names = culprits(square) if square is not None else ()
        measures = [square.measures.get(name) for name in names] if square is not None else []
        known = (names, tuple(_said(m) for m in measures), layer)
        if known == self._known:
            return
        self._known = known
        while len(self.chips) > len(names):
            chip = self.chips.pop()
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        while len(self.chips) < len(names):
            self.chips.append(self._chip())
        for chip, name, measure in zip(self.chips, names, measures, strict=True):
            chip.setText(f"{name}  {_said(measure)}".strip())
            chip.setProperty("layer", name)
            chip.setChecked(name == layer)
            chip.setToolTip(f"Show this layer. {read_out(name, measure)}")
        self._row.setVisible(bool(names))
        self._flow.invalidate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.veil.setGeometry(self.rect())

    def _chip(self) -> QToolButton:
        chip = QToolButton(self._row)
        chip.setCheckable(True)
        chip.setObjectName("culprit")
        chip.clicked.connect(lambda: self._choose(chip))
        self._flow.addWidget(chip)
        chip.show()
        return chip

    def _choose(self, chip: QToolButton) -> None:
        chip.setChecked(True)  # also where it is that of the layer which is shown already
        self.layer_asked.emit(chip.property("layer"))

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(
            f"QScrollArea, #whole {{ background: {t.window}; }}"
            f"#culprit {{ color: {t.text}; background: {t.panel}; border: 1px solid {t.line}; border-radius: 9px;"
            "padding: 1px 8px; }"
            f"#culprit:hover, #culprit:focus {{ border-color: {t.bad}; }}"
            f"#culprit:checked {{ border: 1px solid {t.bad}; color: {t.bad}; }}"
        )
        self.text.setStyleSheet(f"color: {t.text};")


def _said(measure: Measure | None) -> str:
    """Return about what a layer does to the answer, or its own error where that is not known.

    A derivative of the rest of the network tells it, which a large error does not follow.
    """
    if measure is None:
        return ""
    if measure.attributed is not None:
        return f"about {figure(measure.attributed)} of the answer"
    return "" if measure.local is None else f"{figure(measure.local)} of its own"
