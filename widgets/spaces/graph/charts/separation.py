"""Two graphs of a batch: can colour refinement tell them apart, and does the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.spaces.graph.analysis.refinement import Verdict, distinguishes
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.look.alignment import LEFT
from widgets.base.text.words import figure

MOST_EDGES = 100_000  # refined while one waits
ROUNDING = {"float64": 1e-11, "float32": 1e-5}  # relative distance below which two outputs are the same


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: who says, whether they differ (None: not known), and in words."""

    who: str
    apart: bool | None
    words: str
    role: str = "text"


def is_pair(part: GraphPart | None) -> bool:
    """Say whether these are two graphs in one batch."""
    which = part.structure.graph_of if part is not None else None
    return which is not None and len(which) > 0 and int(which.min()) == 0 and int(which.max()) == 1


def refinement_row(part: GraphPart) -> tuple[Row, Verdict | None]:
    """Return 1-WL's verdict, from the input's features on; None when the graphs are too large to be refined here."""
    structure = part.structure
    assert structure.graph_of is not None
    if structure.edges.shape[1] > MOST_EDGES:
        return Row("1-WL", None, "too large to be refined here"), None
    verdict = distinguishes(structure.edges, structure.graph_of, part.x)
    if verdict.distinguished:
        when = "by the features alone" if verdict.round == 0 else f"after {_count(verdict.round or 0, 'round')}"
        if np.ptp(np.bincount(structure.graph_of)):
            when = "by the number of nodes"
        return Row("1-WL", True, when), verdict
    when = f"stable after {_count(verdict.rounds, 'round')}" if verdict.rounds else "from the start"
    words = f"{_count(verdict.colours, 'colour')}, {when}"
    return Row("1-WL", False, words), verdict


def model_row(square: Square, role: str, dtype: str, verdict: Verdict | None) -> Row:
    """Return whether a network's outputs for the two graphs differ by more than rounding."""
    found = outputs(square)
    if found is None:
        return Row(square.title, None, "no output for each graph", role)
    away = distance(found)
    if not np.isfinite(away):
        return Row(square.title, None, "its output is not a number", role)
    apart = away > ROUNDING.get(dtype, ROUNDING["float32"])
    words = f"distance {figure(away)}"
    if apart and verdict is not None and not verdict.distinguished:
        words += ", beyond 1-WL"
    return Row(square.title, apart, words, role)


def outputs(square: Square) -> NDArray[Any] | None:
    """Return the (2, C) outputs of the two graphs; those of the selected layer where the output is none."""
    part, output = square.of(GraphPart), np.asarray(square.output)
    if part is not None and part.outputs is not None and len(part.outputs) == 2:
        return np.asarray(part.outputs)
    if output.ndim == 2 and len(output) == 2:
        return output
    if part is not None and part.kind in ("invariant", "graph") and part.values.ndim == 2 and len(part.values) == 2:
        return np.asarray(part.values)
    return None


def distance(rows: NDArray[Any]) -> float:
    """Return |a - b| divided by the larger of |a| and |b|; 0 for two zeros."""
    one, two = np.asarray(rows, dtype=np.float64)
    largest = max(float(np.linalg.norm(one)), float(np.linalg.norm(two)))
    return float(np.linalg.norm(one - two)) / largest if largest != 0 else 0.0


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


class SeparationTable(QWidget):
    """The verdicts as lines: a mark, who says it, and how."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(215)

    def sizeHint(self) -> QSize:
        return QSize(270, 120)

    def minimumSizeHint(self) -> QSize:
        return QSize(215, 60)

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        self.rows = rows
        self.setAccessibleDescription("; ".join(f"{r.who}: {answer(r.apart)}, {r.words}" for r in rows))
        self.update()

    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        t = theme.current()
        font = self.font()
        if font.pointSizeF() > 0:
            font.setPointSizeF(max(6.5, font.pointSizeF() * 0.88))
        bold = self.font()
        bold.setPointSizeF(font.pointSizeF())
        bold.setBold(True)
        line = QFontMetricsF(font).height()
        p.setFont(bold)
        p.setPen(QColor(t.text))
        p.drawText(QRectF(8, 2, self.width() - 16, line + 2), LEFT, "Told apart?")
        y = line + 9.0
        for row in self.rows:
            if y + 2 * line > self.height():
                break
            p.setPen(QPen(QColor(t.line), 1))
            p.drawLine(8, round(y) - 3, self.width() - 8, round(y) - 3)
            colour = {True: t.good, False: t.bad, None: t.muted}[row.apart]
            said = answer(row.apart)
            p.setFont(bold)
            metrics = QFontMetricsF(bold)
            p.setPen(QColor(colour))
            wide = metrics.horizontalAdvance(said)
            p.drawText(QRectF(self.width() - 8 - wide, y, wide + 2, line), LEFT, said)
            p.setPen(QColor(getattr(t, row.role)))
            room = self.width() - 26 - wide
            p.drawText(QRectF(8, y, room, line), LEFT,
                       metrics.elidedText(row.who, Qt.TextElideMode.ElideRight, room))  # fmt: skip
            p.setFont(font)
            p.setPen(QColor(t.muted))
            words = QFontMetricsF(font).elidedText(row.words, Qt.TextElideMode.ElideRight, self.width() - 16)
            p.drawText(QRectF(8, y + line, self.width() - 16, line), LEFT, words)
            y += 2 * line + 8
        p.end()


def answer(apart: bool | None) -> str:
    """Return the verdict as one word."""
    return "not known" if apart is None else "yes" if apart else "no"
