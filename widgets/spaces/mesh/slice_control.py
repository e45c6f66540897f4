"""The control of a cut through a surface: off, or across an axis of space, and where."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSlider, QWidget

AXES = ("x", "y", "z")
FINE = 200  # positions of the slider
WIDE = 120  # pixels of the slider


class SliceControl(QWidget):
    """A choice, and a slider that is there while something is cut; `changed` speaks only of what the person did."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("chrome", True)  # left out of exported figures
        self.axis, self.slider = QComboBox(self), QSlider(Qt.Orientation.Horizontal, self)
        self.axis.addItem("No cut")
        self.axis.addItems([f"Cut across {axis}" for axis in AXES])
        self.axis.setToolTip("Take away what lies beyond a plane, to look inside")
        self.axis.setAccessibleName("Cut")
        self.slider.setRange(0, FINE)
        self.slider.setFixedWidth(WIDE)
        self.slider.setAccessibleName("Place of the cut")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.slider)
        row.addWidget(self.axis)
        self.set_cut(None)
        self.axis.activated.connect(lambda _: self._chosen())
        self.slider.valueChanged.connect(lambda _: self.changed.emit())

    @property
    def normal(self) -> tuple[float, float, float] | None:
        """The axis across which is cut, or None."""
        at = self.axis.currentIndex() - 1
        return None if at < 0 else (float(at == 0), float(at == 1), float(at == 2))

    @property
    def share(self) -> float:
        """Return how far along the surface the cut is, in [0, 1]."""
        return self.slider.value() / FINE

    def set_cut(self, axis: int | None, share: float = 0.5) -> None:
        """Show a cut across an axis, or none."""
        with QSignalBlocker(self.axis), QSignalBlocker(self.slider):
            self.axis.setCurrentIndex(0 if axis is None else axis + 1)
            self.slider.setValue(round(share * FINE))
        self.slider.setVisible(axis is not None)

    def _chosen(self) -> None:
        self.slider.setVisible(self.normal is not None)
        self.changed.emit()
