"""The choices of the pair view: what is shown, beside what, in which order, from which value on, on which scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from explorer.spaces.graph.drawing.pairs.orders import ORDERS, possible
from explorer.spaces.graph.drawing.values import Structure
from widgets.base.controls.elided_combo import ElidedCombo
from widgets.base.controls.flow import UNBOUNDED
from widgets.base.look.theme import current
from widgets.base.text.glossary import say

STEPS = 1000  # of the threshold's slider
WIDE = 284  # pixels of one choice


class PairControls(QWidget):
    """Small choices in as many columns as there is room for; `changed` says that one was made by hand."""

    changed = Signal(str)  # "field", "beside", "head", "order", "pool", "threshold" or "log"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("chrome", True)  # left out of exported figures
        self.field, self.beside, self.head = ElidedCombo(), ElidedCombo(), QComboBox()
        self.order, self.pool = QComboBox(), QComboBox()
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(0, STEPS)
        self.log = QCheckBox("Log scale")
        self.kept = QLabel("all shown")
        boxes = (self.field, self.beside, self.head, self.order, self.pool)
        for combo, name in zip(boxes, ("Pairs", "Beside", "Head", "Order", "Entries that share a pixel"), strict=True):
            combo.setAccessibleName(name)
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(4)
        for kind, title in ORDERS.items():
            self.order.addItem(title, kind)
        for pool, title in (("", "automatic"), ("max", "largest"), ("mean", "mean")):
            self.pool.addItem(title, pool)
        self.order.setMinimumContentsLength(8)  # "as given" in full
        self.head.setMaximumWidth(88)  # as much as "head 11" takes
        self.field.setToolTip("Which pair field, coefficients on edges or adjacency is shown")
        self.beside.setToolTip("A second matrix with the same zoom and pointer")
        self.head.setToolTip("All heads side by side, or one enlarged; a click on a head does the same")
        self.order.setToolTip("The order of rows and columns")
        self.pool.setToolTip("What stands for the entries that share a pixel: the largest magnitude, or their mean")
        self.threshold.setToolTip("Smaller magnitudes are hidden; the share counts entries other than zero")
        self.log.setToolTip("Colours by the logarithm of the magnitude")
        self._names: list[QLabel] = []
        self._cells: list[QWidget] = [
            self._row("Show", self.field), self._row("Beside", self.beside),
            self._row("Head", self.head, "sorted", self.order), self._row("Pixels", self.pool, self.log),
            self._row("At least", self.threshold, self.kept),
        ]  # fmt: skip
        self._grid = QGridLayout()
        self._grid.setContentsMargins(12, 6, 8, 2)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(3)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addLayout(self._grid)
        self._columns = 0
        self.lie(True)
        self.field.activated.connect(lambda _: self.changed.emit("field"))
        self.beside.activated.connect(lambda _: self.changed.emit("beside"))
        self.head.activated.connect(lambda _: self.changed.emit("head"))
        self.order.currentIndexChanged.connect(lambda _: self.changed.emit("order"))
        self.pool.currentIndexChanged.connect(lambda _: self.changed.emit("pool"))
        self.threshold.valueChanged.connect(lambda _: self.changed.emit("threshold"))
        self.log.toggled.connect(lambda _: self.changed.emit("log"))

    def _row(self, name: str, *parts: QWidget | str) -> QWidget:
        cell = QWidget()
        line = QHBoxLayout(cell)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        label = QLabel(name)
        label.setFixedWidth(52)
        self._names.append(label)
        line.addWidget(label)
        for part in parts:
            if isinstance(part, str):
                self._names.append(QLabel(part))
                line.addWidget(self._names[-1])
            else:
                line.addWidget(part, 4 if part is self.order else 3)
        return cell

    def lie(self, flat: bool, width: int = 0) -> None:
        """Stand in one column beside the matrices, or in as many as fit above them."""
        columns = 1 if flat else max(1, min(3, width // WIDE))
        if columns != self._columns:
            self._columns = columns
            for k, cell in enumerate(self._cells):
                self._grid.addWidget(cell, k // columns, k % columns)
        for k in range(3):
            self._grid.setColumnStretch(k, 1 if k < columns else 0)
        self.setFixedWidth(WIDE + 20) if flat else self.setMaximumWidth(UNBOUNDED)
        if not flat:
            self.setMinimumWidth(0)

    def fill(self, combo: QComboBox, choices: Sequence[tuple[str, Any]], chosen: Any) -> None:
        """Offer (title, data), the chosen data current, without a signal; nothing is done when they are there."""
        told = [(say(title), data) for title, data in choices]
        same = [(combo.itemText(k), combo.itemData(k)) for k in range(combo.count())] == told
        combo.blockSignals(True)
        if not same:
            combo.clear()
            for title, data in told:
                combo.addItem(title, data)
        combo.setCurrentIndex(max(0, combo.findData(chosen)))
        combo.blockSignals(False)

    def offer_orders(self, structure: Structure) -> None:
        """Grey out the orders that these nodes do not have, with the reason as a tool tip."""
        model = self.order.model()
        assert isinstance(model, QStandardItemModel)
        for k in range(self.order.count()):
            reason = possible(str(self.order.itemData(k)), structure)
            model.item(k).setEnabled(not reason)
            model.item(k).setToolTip(reason)

    def apply_theme(self) -> None:
        for label in (*self._names, self.kept):
            label.setStyleSheet(f"color: {current().muted};")
