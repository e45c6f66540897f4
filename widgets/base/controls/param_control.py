"""The control of one declared parameter: a slider and a number, or a choice."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QObject, QRandomGenerator, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QSlider, QToolButton, QWidget

from explorer.declare.params import Param
from explorer.declare.telling.numerals import with_minus
from widgets.base.controls.number import NumberBox
from widgets.base.look.icons import icon

WIDE = 720  # a range of more steps (than two turns in degrees) is shown in part by the slider, wholly by the number
NARROW, BROAD = 62, 96  # pixels of a name; with slider and box as narrow as the window keeps the panel
FINE = 400  # positions of a slider over factors


class ParamControl(QWidget):
    """Edits one Param; `changed(value, done)` speaks only of what the person did, never of `set_value`."""

    changed = Signal(float, bool)

    def __init__(self, param: Param, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.param = param
        self.of = ""  # the transform whose parameter it is; of the model otherwise
        self.reach = 32.0  # how far the slider goes when the range is too wide for one
        self.most = param.maximum  # less where the data have less (nodes of a graph)
        self.label = QLabel(param.title, self)
        self.set_label_width(NARROW)
        self.label.installEventFilter(self)
        self.combo: QComboBox | None = None
        self.slider: QSlider | None = None
        self.spin: NumberBox | None = None
        self.draw: QToolButton | None = None
        self._edited = False  # in the box, since it was told last
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.label)
        if param.choices:
            row.addWidget(self._make_combo(), 1)
        else:
            row.addWidget(self._make_slider(), 1)
            row.addWidget(self._make_spin())
            if param.name == "seed":
                row.addWidget(self._make_draw())
        self._describe()
        self.set_value(param.default)

    # making ---------------------------------------------------------------------------------------------------
    def _make_combo(self) -> QComboBox:
        self.combo = QComboBox(self)
        self.combo.addItems(list(self.param.choices))
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.combo.setMinimumContentsLength(6)  # a long choice must not push the panel wider
        self.combo.activated.connect(lambda i: self.changed.emit(float(i), True))
        self._tame(self.combo)
        return self.combo

    def _make_slider(self) -> QSlider:
        self.slider = QSlider(Qt.Orientation.Horizontal, self)
        self.slider.setMinimumWidth(36)
        self._span_slider()
        self.slider.valueChanged.connect(self._slid)
        self.slider.sliderReleased.connect(lambda: self.changed.emit(self.value(), True))
        self._tame(self.slider)
        return self.slider

    def _make_spin(self) -> NumberBox:
        p = self.param
        self.spin = NumberBox(self)
        self.spin.setRange(p.minimum, p.maximum)
        self.spin.setSpecialValueText(p.least)
        self.spin.setDecimals(0 if p.whole else max(1, 1 - math.floor(math.log10(p.step))) if p.step > 0 else 3)
        self.spin.setSingleStep(p.step)
        self.spin.setWrapping(p.periodic)
        self.spin.setKeyboardTracking(False)
        self.spin.setFixedWidth(60 if p.whole and not p.unit and p.maximum < 10_000 else 84)
        self.spin.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.spin.setSuffix(f" {p.unit}" if p.unit.isalpha() else p.unit)
        self.spin.valueChanged.connect(self._typed)
        self.spin.editingFinished.connect(self._finished)
        self._tame(self.spin)
        return self.spin

    def _make_draw(self) -> QToolButton:
        self.draw = QToolButton(self)
        self.draw.setToolTip("Draw another one")
        self.draw.setAccessibleName(f"{self.param.title}: draw another one")
        self.draw.clicked.connect(self._draw_another)
        self.apply_theme()
        return self.draw

    def _draw_another(self) -> None:
        low, high = int(self.param.minimum) + 1, int(self.param.maximum)
        value = float(QRandomGenerator.global_().bounded(low, high))  # one less than all: the present one is left out
        self.set_value(value + (value >= self.value()))
        self.changed.emit(self.value(), True)

    def apply_theme(self) -> None:
        if self.draw is not None:
            self.draw.setIcon(icon("random"))

    def set_label_width(self, width: int) -> None:
        """Give the name so much room: two lines where it needs more, cut where a word does; the tool tip has it all."""
        metrics, title = self.label.fontMetrics(), self.param.title
        wraps = all(metrics.horizontalAdvance(word) <= width for word in title.split())
        wraps = wraps and metrics.horizontalAdvance(title) <= 2 * width
        self.label.setFixedWidth(width)
        self.label.setWordWrap(wraps)
        self.label.setText(title if wraps else metrics.elidedText(title, Qt.TextElideMode.ElideRight, width))

    def set_most(self, most: float) -> None:
        """Offer no more than the data have."""
        most = min(max(most, self.param.minimum), self.param.maximum)
        if most == self.most or self.spin is None or self.slider is None:
            return
        value, self.most = self.value(), most
        with QSignalBlocker(self.spin):
            self.spin.setRange(self.param.minimum, most)
        if not self.slider.isSliderDown():
            self._span_slider()
            self.set_value(value)
        self._describe()

    def _tame(self, widget: QWidget) -> None:
        """The wheel scrolls the panel, and changes a value only in the control that has the focus."""
        widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.label and event.type() == QEvent.Type.MouseButtonDblClick:
            self.set_value(self.param.default)
            self.changed.emit(self.param.default, True)
            return True
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not _has_focus(watched):
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def _describe(self) -> None:
        p = self.param
        if p.choices:
            text = f"{p.title}: {', '.join(p.choices)}"
        else:
            text = f"{p.title}: {with_minus(f'{p.minimum:g} to {self.most:g}')} {p.unit}".rstrip()
        text += f"; {with_minus(f'{p.minimum:g}')}: {p.least}" if p.least else ""
        text += f"\nDouble-click the name for {p.text(p.default)}."
        for widget in (self.label, self.combo, self.slider, self.spin):
            if widget is not None:
                widget.setToolTip(text)
                widget.setAccessibleName(p.title)

    # slider positions -----------------------------------------------------------------------------------------
    @property
    def logarithmic(self) -> bool:
        """Return whether equal ratios are equally far apart (factors and gains)."""
        return self.param.minimum > 0 and self.param.maximum / self.param.minimum >= 8 and not self.param.whole

    def limits(self) -> tuple[float, float]:
        """Return the ends of the slider."""
        p = self.param
        if self.most < p.maximum:
            return p.minimum, self.most
        if p.maximum - p.minimum > WIDE * max(p.step, 1e-12) and not p.periodic and not self.logarithmic:
            return max(p.minimum, p.default - self.reach), min(p.maximum, p.default + self.reach)
        return p.minimum, p.maximum

    def set_reach(self, reach: float) -> None:
        """Let the slider of a very wide range go that far (half the picture, for a shift)."""
        if reach > 0 and reach != self.reach:
            value, self.reach = self.value(), reach
            if self.slider is not None and not self.slider.isSliderDown():
                self._span_slider()
                self.set_value(value)

    def _span_slider(self) -> None:
        assert self.slider is not None
        low, high = self.limits()
        most = FINE if self.logarithmic or self.param.step <= 0 else max(1, round((high - low) / self.param.step))
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, most)
            self.slider.setPageStep(max(1, most // 24))

    def position_of(self, value: float) -> int:
        assert self.slider is not None
        low, high = self.limits()
        value = min(max(value, low), high)
        if high <= low:
            return 0
        part = math.log(value / low) / math.log(high / low) if self.logarithmic else (value - low) / (high - low)
        return round(part * self.slider.maximum())

    def value_at(self, position: int) -> float:
        assert self.slider is not None
        low, high = self.limits()
        part = position / max(1, self.slider.maximum())
        if self.logarithmic:
            value = low * (high / low) ** part
            # the middle is a round number: what does nothing must be easy to find again
            return self.param.default if position == self.position_of(self.param.default) else float(f"{value:.3g}")
        value = low + part * (high - low)
        return round(value, 9)

    # values ---------------------------------------------------------------------------------------------------
    def value(self) -> float:
        if self.combo is not None:
            return float(max(0, self.combo.currentIndex()))
        assert self.spin is not None
        return self.spin.value()

    def set_value(self, value: float) -> None:
        """Show a value without saying so; what the person is holding or typing is left alone."""
        if self.combo is not None:
            with QSignalBlocker(self.combo):
                self.combo.setCurrentIndex(int(value))
            return
        assert self.slider is not None and self.spin is not None
        line = self.spin.lineEdit()
        typing = _has_focus(self.spin) and line is not None and line.isModified()
        if self.slider.isSliderDown() or typing:
            return
        if self.spin.value() != value:
            with QSignalBlocker(self.spin):
                self.spin.setValue(value)
        with QSignalBlocker(self.slider):
            self.slider.setValue(self.position_of(value))

    def _slid(self, position: int) -> None:
        assert self.slider is not None and self.spin is not None
        value = self.value_at(position)
        with QSignalBlocker(self.spin):
            self.spin.setValue(value)
        self.changed.emit(self.value(), not self.slider.isSliderDown())

    def _finished(self) -> None:
        """Tell the value that was typed; who only comes by with Tab has said nothing."""
        if self._edited:
            self._edited = False
            self.changed.emit(self.value(), True)

    def _typed(self, value: float) -> None:
        self._edited = True
        assert self.slider is not None
        with QSignalBlocker(self.slider):
            self.slider.setValue(self.position_of(value))
        self.changed.emit(value, False)


def _has_focus(widget: QWidget) -> bool:
    """Say whether keys go to the widget, or will when the person comes back to this window."""
    return widget.window().focusWidget() is widget
