"""Error along the orbit: how the selected layer answers as one parameter of the group runs through its values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QComboBox, QHBoxLayout, QLabel, QToolButton, QWidget

from explorer.app.thread.orbit_key import elements_key, orbit_key
from explorer.declare.elements import Transform, transforms
from explorer.declare.params import Param
from explorer.square.frame import Frame, OrbitCurve, Square
from explorer.state.catalogue import Catalogue
from explorer.state.state import State
from widgets.base.text.words import counterpart, shorten
from widgets.base.view import View, ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.charts.axis.scales import scale_for
from widgets.charts.element_chart import CurveChart, HeatChart, Trace

LONGEST = 20  # characters of a transform's title that are seen


class OrbitView(View):
    """Curves of the error over a one-parameter family; the line is the current element and can be dragged."""

    play_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        self._state, self._told = State(), False  # who is told of the state does not take it from late frames
        self._curves: tuple[OrbitCurve, ...] = ()
        self._domains: dict[str, str] = {}  # of the models that are known
        self.curve = CurveChart(self)
        self.heat = (HeatChart(self), HeatChart(self))
        self.combo, self.play, self.all_layers = QComboBox(self), QToolButton(self), QToolButton(self)
        self._build()
        self._refresh()

    def _offer(self, domain: str) -> None:
        """Offer the transforms of that domain ("": all) that have an orbit."""
        fit = [t for t in transforms().values() if t.orbit is not None and (not domain or domain in t.domains)]
        if [t.name for t in fit] == [self.combo.itemData(k) for k in range(self.combo.count())]:
            return
        # a title that is cut says too little; beside the chart there is room for one of this length
        self.combo.setMinimumContentsLength(min(max((len(t.title) for t in fit), default=9), LONGEST))
        with QSignalBlocker(self.combo):
            self.combo.clear()
            for transform in fit:
                self.combo.addItem(transform.title, transform.name)
                self.combo.setItemData(self.combo.count() - 1, transform.summary, Qt.ItemDataRole.ToolTipRole)

    def _build(self) -> None:
        self.combo.setAccessibleName("Transform of the orbit")
        self.combo.setToolTip("The transform whose parameter the curve runs over")
        self.combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._offer("")
        self.combo.activated.connect(lambda i: self._wish_orbit(self.combo.itemData(i)))
        self.play.setCheckable(True)
        self.play.setText("▶  Play")
        self.play.setToolTip("Let the element run along the orbit")
        self.play.clicked.connect(self._play_clicked)
        self.all_layers.setCheckable(True)
        self.all_layers.setText("All layers")
        self.all_layers.setToolTip("Every layer as a row of a heat map, instead of the selected one as a curve")
        self.all_layers.toggled.connect(lambda on: self._refresh())
        controls = _Controls(self.combo, self.play, self.all_layers)
        controls.setProperty("chrome", True)  # left out of exported figures
        charts = QWidget(self)
        self._charts = Adaptive(charts)
        self._charts.setSpacing(4)
        for chart in (self.curve, *self.heat):
            self._charts.addWidget(chart)
            chart.moved.connect(self._moved)
            chart.hovered.connect(self.hovered)
        for k, heat in enumerate(self.heat):
            heat.clicked.connect(lambda name, k=k: self._layer_clicked(k, name))
        row = Adaptive(self, turned=controls.flat)
        row.addWidget(controls)
        row.addWidget(charts, 1)

    # what comes in --------------------------------------------------------------------------------------------
    def show_catalogue(self, catalogue: Catalogue) -> None:
        self._domains = {m.name: m.domain for m in catalogue.models}
        self._refresh()

    def show_frame(self, frame: Frame | None) -> None:
        self._frame = frame
        if frame is not None and not self._told:
            self._state = frame.state
        self._refresh()

    def show_orbit(self, curves: tuple[OrbitCurve, ...]) -> None:
        self._curves = curves
        self._refresh()

    def set_state(self, state: State) -> None:
        """Follow the person's choice before its frame is there."""
        self._state, self._told = state, True
        self._when_visible("state", self._refresh)

    def show_stale(self, text: str) -> bool:
        """Stay as it is where the curves are those of the chosen element: they are drawn for all of them."""
        return self._frame is not None and self._frame.state.epoch == self._state.epoch

    def set_playing(self, playing: bool) -> None:
        """Show whether the element runs; emits nothing."""
        self.play.setChecked(playing)
        self.play.setText("‖  Pause" if playing else "▶  Play")

    @property
    def transform(self) -> Transform | None:
        """The transform the curve runs over, if there is one of that name with an orbit."""
        found = transforms().get(self._curves[0].transform if self._curves else self._state.orbit)
        return found if found is not None and found.orbit is not None else None

    def _refresh(self) -> None:
        transform = self.transform
        param = transform.params[transform.orbit] if transform is not None and transform.orbit is not None else None
        self._offer(self._domains.get(self._state.model, ""))
        with QSignalBlocker(self.combo):
            self.combo.setCurrentIndex(self.combo.findData(self._state.orbit))
        value = self._value(transform, param)
        traces = self._traces()
        heated = self.all_layers.isChecked() and bool(traces)
        self.curve.setVisible(not heated)
        if not traces:
            known = self._frame is not None
            self.curve.message = (
                "" if known and param is not None else "No curve yet: it is drawn once the network has answered."
            )
        else:
            self.curve.message = ""
        for k, chart in enumerate((self.curve, *self.heat)):
            chart.scale = scale_for(self._state.dtype)
            mine = traces if k == 0 else traces[k - 1 : k]
            if k:
                chart.setVisible(heated and bool(mine))
            chart.show_traces(mine, param, value)

    def _value(self, transform: Transform | None, param: Param | None) -> float:
        if transform is None or param is None or transform.orbit is None:
            return 0.0
        step = self._state.step(transform.name)
        return step.values[transform.orbit] if step is not None else param.default

    def _traces(self) -> list[Trace]:
        """Pair the curves with the selected layer and the output of each model."""
        squares = self._frame.squares if self._frame is not None else ()
        traces = []
        for k, curve in enumerate(self._curves[:2]):
            names = list(curve.errors)
            square = squares[k] if k < len(squares) else None
            layer, instead = _shown_layer(square, names)
            output = square.layers[-1].name if square is not None and square.layers else ""
            output = output if output in curve.errors else (names[-1] if names else "")
            measured = self._measured(curve, square, {layer, output})
            former = elements_key(curve.state) != elements_key(self._state)
            role = "muted" if former else "second" if k else "first"
            traces.append(Trace(measured, layer, output, role, instead, former))
        return traces

    def _measured(self, curve: OrbitCurve, square: Square | None, layers: set[str]) -> OrbitCurve:
        """Put what was measured in full at the element that is shown in place of its estimate."""
        frame, transform = self._frame, transforms().get(curve.transform)
        if frame is None or square is None or transform is None or transform.orbit is None:
            return curve
        step = frame.state.step(transform.name)
        value = step.values[transform.orbit] if step is not None else transform.params[transform.orbit].default
        at = np.flatnonzero(np.isclose(curve.values, value, atol=1e-9))
        if orbit_key(frame.state) != orbit_key(curve.state) or not at.size or not curve.about(int(at[0])):
            return curve
        errors, index = dict(curve.errors), int(at[0])
        for name in layers:
            measure = square.measures.get(name)
            if measure is None or measure.cumulative is None or name not in errors:
                return curve
            errors[name] = np.array(errors[name], dtype=float)
            errors[name][index] = measure.cumulative
        estimated = np.array(curve.estimated, dtype=bool)
        estimated[index] = False
        return replace(curve, errors=errors, estimated=estimated)

    # what goes out --------------------------------------------------------------------------------------------
    def _wish_orbit(self, name: str) -> None:
        if name != self._state.orbit:
            self.wished.emit(Wish(changes={"orbit": name}))

    def _play_clicked(self, on: bool) -> None:
        self.set_playing(on)
        self.play_toggled.emit(on)

    def _moved(self, value: float, done: bool) -> None:
        transform = self.transform
        if transform is None or transform.orbit is None:
            return
        for chart in (self.curve, *self.heat):
            chart.move_line(value)
        step = self._state.step(transform.name)
        values = list(step.values if step is not None else transform.defaults)
        values[transform.orbit] = value
        self.wished.emit(Wish(step=(transform.name, tuple(values)), tag="orbit", done=done))

    def _layer_clicked(self, index: int, name: str) -> None:
        layer = counterpart(self._frame, index, name) if self._frame is not None else name
        self.wished.emit(Wish(changes={"layer": layer}))

    # exports --------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, curve in enumerate(self._curves):
            before = "compare." if k else ""
            found[before + curve.parameter] = np.asarray(curve.values)
            found[f"{before}exact"] = np.asarray(curve.exact)
            found[f"{before}layer"] = np.array(list(curve.errors), dtype=np.str_)
            for key, table in (("error", curve.errors), ("floor", curve.floor)):
                if table:
                    found[before + key] = np.stack([np.asarray(v, dtype=float) for v in table.values()])
            if curve.outputs.size:
                found[f"{before}output"] = np.asarray(curve.outputs)
        return found

    def caption(self) -> str:
        if not self._curves:
            return ""
        curve, sample = self._curves[0], self._frame.sample_title if self._frame is not None else ""
        models = " and ".join(c.model for c in self._curves)
        partial = f" (first {curve.done} elements)" if curve.done < len(curve.values) else ""
        layers = shorten(list(dict.fromkeys(t.layer for t in self._traces())))
        what = "all layers" if self.all_layers.isChecked() else f"{layers} and the output"
        on = f" on {sample}" if sample else ""
        return f"Relative equivariance error of {what} of {models}{on} along {curve.transform} ({curve.parameter})" + (
            f"{partial}; dots: exact elements; grey: floor of resampling and rounding."
        )

    def apply_theme(self) -> None:
        for chart in (self.curve, *self.heat):
            chart.dress()


def _shown_layer(square: Square | None, names: list[str]) -> tuple[str, str]:
    """Return (the layer whose curve is drawn, the selected one where that is another): the last one within it."""
    first = names[0] if names else ""
    if square is None or square.layer.name in names:
        return (square.layer.name if square is not None else first), ""
    selected = square.layer.name
    inside = [name for name in names if name.startswith(f"{selected}.")]
    return (inside[-1] if inside else first), selected


class _Controls(QWidget):
    """The combo and the two buttons: a column beside a flat chart, a row above a tall one."""

    def __init__(self, combo: QWidget, *buttons: QWidget) -> None:
        super().__init__()
        self._label = QLabel("along")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(8, 4, 4, 2)
        self._row.setSpacing(5)
        for widget in (self._label, combo, *buttons):
            self._row.addWidget(widget)
        self._row.addStretch(1)

    def flat(self, flat: bool) -> None:
        """Stand as a column when the view lies flat, else as a row."""
        d = QBoxLayout.Direction
        self._row.setDirection(d.TopToBottom if flat else d.LeftToRight)


VIEW = ViewSpec(
    "orbit",
    "Error along the orbit",
    OrbitView,
    "bottom",
    1,
    "How the error changes as one parameter of the group runs through its values.",
)

if __name__ == "__main__":
    import sys
    from types import SimpleNamespace

    from widgets.base.preview import preview

    def fill(view: OrbitView, samples: SimpleNamespace) -> None:
        view.set_frame(samples.make_frame(compare=True))
        view.set_orbit((samples.make_orbit(), samples.make_orbit("plain-cnn", done=40)))
        view.all_layers.setChecked("heat" in sys.argv)

    preview(OrbitView, fill)
