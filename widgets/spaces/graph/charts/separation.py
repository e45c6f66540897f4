"""Two graphs of a batch: can colour refinement tell them apart, and does the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPen
from PySide6.QtWidgets import QGraphicsLineItem, QSizePolicy, QWidget

from explorer.spaces.graph.analysis.refinement import Verdict, distinguishes
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.look.alignment import RIGHT
from widgets.base.text.words import figure
from widgets.charts.scene.board import BoardWidget, Pool
from widgets.charts.scene.labels import Line

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


class RowItem(QGraphicsLineItem):
    """A line of the table below a thin line: who says it, the answer, and how."""

    def __init__(self) -> None:
        super().__init__()
        self.who, self.said, self.how = Line(self), Line(self), Line(self)

    def show_row(self, row: Row, box: QRectF, face: QFont, bold: QFont) -> None:
        """Show a row in a box of two lines of text."""
        t, high = theme.current(), box.height() / 2
        self.setPen(QPen(QColor(t.line), 1))
        self.setLine(box.left(), round(box.top()) - 2.5, box.right(), round(box.top()) - 2.5)
        first, said = QRectF(box.left(), box.top(), box.width(), high), answer(row.apart)
        colour = {True: t.good, False: t.bad, None: t.muted}[row.apart]
        self.said.write(said, first, bold, QColor(colour), RIGHT)
        first.setRight(box.right() - QFontMetricsF(bold).horizontalAdvance(said) - 10)
        self.who.write(row.who, first, bold, QColor(getattr(t, row.role)))
        self.how.write(row.words, QRectF(box.left(), box.top() + high, box.width(), high), face, QColor(t.muted))


class SeparationTable(BoardWidget):
    """The verdicts as lines: a mark, who says it, and how."""

    GROUND = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: tuple[Row, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.setMinimumWidth(215)
        self.heading, self.lines = Line(self.board.root), Pool(RowItem, self.board.root)

    def sizeHint(self) -> QSize:
        return QSize(270, 120)

    def minimumSizeHint(self) -> QSize:
        return QSize(215, 60)

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        self.rows = rows
        self.setAccessibleDescription("; ".join(f"{r.who}: {answer(r.apart)}, {r.words}" for r in rows))
        self.changed()

    def place(self) -> None:
        face, bold = self.small(), self.small(bold=True)
        line, wide = QFontMetricsF(face).height(), self.width() - 16
        self.heading.write("Told apart?", QRectF(8, 2, wide, line + 2), bold, QColor(theme.current().text))
        with self.lines as pool:
            for k, row in enumerate(self.rows):
                y = line + 9 + k * (2 * line + 8)
                if y + 2 * line > self.height():
                    break
                pool.take().show_row(row, QRectF(8, y, wide, 2 * line), face, bold)


def answer(apart: bool | None) -> str:
    """Return the verdict as one word."""
    return "not known" if apart is None else "yes" if apart else "no"
