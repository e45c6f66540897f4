"""The page on which a figure is made for a paper: its size, what is in it, and how it will look."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import msgspec
from PySide6.QtCore import QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.base.view import View
from widgets.figures.export import FIGURES, Glimpsed, glimpsed
from widgets.figures.numbers import NUMBERS, Numbers, expected_bytes, numbers_of
from widgets.figures.style import WIDTHS, Style

SIZE = (900, 560)
SIDE = 270
PREVIEW = 560  # pixels
MOST = 20  # arrays whose names are told
KEPT = "figure"  # the setting
FORMATS = {
    "PNG picture": ".png", "SVG drawing": ".svg", "PDF page": ".pdf", "Table (CSV)": ".csv",
    "NumPy arrays (NPZ)": ".npz",
}  # fmt: skip
OUTLINED = (QCheckBox, QComboBox, QDoubleSpinBox, QPushButton)  # controls whose outlines must be seen
WAIT_MS = 120  # after the last change


class FigurePage(Dialog):
    """Shows a view as it will be printed; what is chosen is kept for the next time."""

    about = "Export view"
    accepted_figure = Signal(str, object)  # the ending, Style

    def __init__(self, parent: QWidget, view: View, settings: QSettings) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("figure-page")
        self.setWindowTitle("Export view")
        self.resize(*SIZE)
        self.view, self._settings = view, settings
        style, kind = _kept(settings)
        self.width_box, self.points = QComboBox(), QDoubleSpinBox(suffix=" pt", decimals=1)
        self.kind = QComboBox()
        for title, ending in FORMATS.items():
            self.kind.addItem(title, ending)
        self.kind.setCurrentIndex(max(0, self.kind.findData(kind)))
        for title, width in {"As on the screen": None, **WIDTHS}.items():
            self.width_box.addItem(title, width)
        self.width_box.setCurrentIndex(max(0, self.width_box.findData(style.width)))
        self.points.setRange(4, 24)
        self.points.setSingleStep(0.5)
        self.points.setValue(style.points)
        self.whole = _box(
            "Nothing shortened",
            style.whole,
            "Text goes on in another line, or gets smaller until all of it fits",
        )
        self.light = _box("Light colours", style.light, "For paper, whatever the window is")
        self.caption = _box("Caption below", style.caption, "One line that says what is shown")
        self.badges = _box("Verdict and hints", style.badges, "The badge of the stage and the verdict of charts")
        self.picture = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, textFormat=Qt.TextFormat.PlainText)
        self.picture.setAccessibleName("Preview")
        self.told = QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.told.setAccessibleName("What will be written")
        row = QHBoxLayout()
        row.setSpacing(18)
        row.addWidget(self._left())
        row.addWidget(self.picture, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 14, 18, 14)
        column.addLayout(row, 1)
        column.addLayout(self._buttons())
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self.show_preview)
        for combo in (self.width_box, self.kind):
            combo.currentIndexChanged.connect(self._changed)
        self.points.valueChanged.connect(self._changed)
        for box in (self.whole, self.light, self.caption, self.badges):
            box.toggled.connect(self._changed)
        self._fit()
        self._soon.start()

    def _left(self) -> QWidget:
        side = QWidget()
        side.setFixedWidth(SIDE)
        form = QFormLayout(side)
        form.setContentsMargins(3, 3, 3, 3)  # the ring round what has the keyboard
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for title, editor in (("&Format", self.kind), ("&Width", self.width_box), ("&Text", self.points)):
            editor.setAccessibleName(title.replace("&", ""))
            form.addRow(title, editor)
        for box in (self.whole, self.light, self.caption, self.badges):
            form.addRow(box)
        form.addRow(self.told)
        return side

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel, self.go = QPushButton("Cancel"), QPushButton("Save…")
        self.cancel.setAutoDefault(False)
        self.cancel.clicked.connect(self.reject)
        self.go.setDefault(True)
        self.go.clicked.connect(self._accept)
        row.addWidget(self.cancel)
        row.addWidget(self.go)
        return row

    # what is chosen ---------------------------------------------------------------------------------------
    @property
    def style_chosen(self) -> Style:
        """Return the wishes for the figure."""
        return Style(
            self.width_box.currentData(), self.points.value(), self.whole.isChecked(), self.light.isChecked(),
            self.caption.isChecked(), self.badges.isChecked(),
        )  # fmt: skip

    @property
    def ending(self) -> str:
        return str(self.kind.currentData())

    def _changed(self) -> None:
        self._fit()
        self._soon.start()

    def _fit(self) -> None:
        """Offer what the format and the width leave to choose."""
        figure = self.ending in FIGURES
        for editor in (self.width_box, self.light, self.caption, self.badges):
            editor.setEnabled(figure)
        sized = figure and self.width_box.currentData() is not None
        self.points.setEnabled(sized)
        self.whole.setEnabled(sized)

    def _accept(self) -> None:
        self._settings.setValue(KEPT, json.dumps({"kind": self.ending, **asdict(self.style_chosen)}))
        self.accepted_figure.emit(self.ending, self.style_chosen)
        self.accept()

    # what will be written ---------------------------------------------------------------------------------
    def show_preview(self) -> None:
        """Draw the figure as it will be, or say how large the numbers are."""
        self.go.setEnabled(True)
        if self.ending in NUMBERS:
            self.picture.clear()
            try:
                numbers = numbers_of(self.view)
                self.told.setText(f"About {size_words(expected_bytes(numbers, self.ending))}.")
                self.picture.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
                self.picture.setText(_contents(numbers))
            except Exception as error:  # whatever a view cannot give, the page says it
                self.told.setText(str(error))
                self.go.setEnabled(False)
            return
        style = self.style_chosen
        look = "light" if style.light else theme.current().name
        try:
            made = glimpsed(self.view, look, style, PREVIEW * 25.4 / (style.width or PREVIEW) * 1.5)
        except Exception as error:
            self.told.setText(f"It cannot be drawn: {error}")
            self.go.setEnabled(False)
        else:
            self._show(made)
        # the figure was painted in the colours of paper, which this page has noticed
        self.setPalette(theme.palette(theme.current()))
        for control in (w for kind in OUTLINED for w in self.findChildren(kind)):
            control.setPalette(theme.outlined(theme.current()))
        self.setStyleSheet("")
        self.setStyleSheet(theme.style_sheet(theme.current()))

    def _show(self, made: Glimpsed) -> None:
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        room = self.picture.contentsRect().size().expandedTo(self.picture.minimumSize())
        room = room if room.width() > 100 else room.expandedTo(self.size() * 0.6)
        pixmap = QPixmap.fromImage(made.image)
        pixmap.setDevicePixelRatio(1)
        keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        self.picture.setPixmap(pixmap.scaled(room, keep, smooth))
        said = [f"Text of {made.points:.1f} pt."] if self.style_chosen.width is not None else []
        if made.shortened:
            many = "1 text is" if made.shortened == 1 else f"{made.shortened} texts are"
            less = "" if self.whole.isChecked() else f" Or tick “{self.whole.text()}”."
            said.append(f"{many} shortened or left out: choose a wider column or smaller text.{less}")
        self.told.setText(" ".join(said))


def _contents(numbers: Numbers) -> str:
    """Return the names of arrays with their sizes, a line each."""
    lines = [f"{name}:  {' × '.join(map(str, array.shape)) or 'one number'}" for name, array in numbers.items()]
    more = [f"and {len(lines) - MOST} more"] if len(lines) > MOST else []
    return "\n".join(lines[:MOST] + more)


def size_words(size: int) -> str:
    """Return a number of bytes as a person says it."""
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"


def _box(text: str, on: bool, hint: str) -> QCheckBox:
    box = QCheckBox(text)
    box.setChecked(on)
    box.setToolTip(hint)
    return box


def _kept(settings: QSettings) -> tuple[Style, str]:
    """Return what was chosen the last time."""
    try:
        found: dict[str, Any] = json.loads(str(settings.value(KEPT, "{}")))
        kind = str(found.pop("kind", ".png"))
        # another version may have kept other things, and a damaged file anything
        return msgspec.convert(found, Style), kind
    except (ValueError, RecursionError, AttributeError, msgspec.MsgspecError):
        return Style(), ".png"
