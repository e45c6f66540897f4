"""Delta ladder: every number of back-propagation in a network of dense layers, forward and backward step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSlider,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.elements import chain_element
from explorer.declare.telling.numerals import with_minus
from explorer.square.frame import Square
from explorer.work.training import backprop
from explorer.work.training.backprop import LOSSES, STARTS, Chain, Learned, Rung, ladder, loss_of, neuron, steps
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE, LEFT
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec
from widgets.charts.axis.axes import LogAxis, ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.marks import ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.charts.scene.board import BoardWidget, Pool
from widgets.charts.scene.labels import Line, Tag

CELL, TALL = 45.0, 20.0  # pixels of a number
LEAST = 34.0  # of a weight, with a digit less: nine of them and b to ∂C/∂b fit beside a lesson
GAP, LABEL, APART = 14.0, 64.0, 0.3
Curve = tuple[str, NDArray[Any], NDArray[Any], str, bool]  # name, x, y, colour, dashed
COLUMNS = ("b", "z", "a", "δ", "∂C/∂b")
BESIDE = 2 * GAP + LABEL + CELL * len(COLUMNS)  # what there is beside the weights
RATES = np.logspace(-2, 1, 121)  # sizes of a step, as parts of the best one


class LadderSheet(BoardWidget):
    """Numbers and colours of each layer: its weights or their gradients, and behind them b, z, a, δ and ∂C/∂b."""

    GROUND = ""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rungs: tuple[Rung, ...] = ()
        self.given: NDArray[Any] = np.zeros(0)
        self.labels: tuple[str, ...] = ()
        self.step, self.gradients, self.given_name = 0, False, "x"
        self.words, self.cells = Pool(Line, self.board.root), Pool(lambda: Tag(0.0), self.board.root)

    def show_rungs(self, x: NDArray[Any], rungs: tuple[Rung, ...], labels: tuple[str, ...], name: str = "x") -> None:
        """Show the numbers of all layers for an input of that name."""
        self.given, self.rungs, self.labels, self.given_name = x, rungs, labels, name
        wide = max((r.layer.weight.shape[1] for r in rungs), default=1)
        tall = 3 * TALL + sum(len(r.z) * TALL + 3 * TALL for r in rungs)
        self.setMinimumSize(math.ceil(LEAST * (wide + APART) + BESIDE), round(tall))
        self.changed()

    @property
    def cell(self) -> float:
        """Return how wide a weight is, so that what is behind them is seen as well."""
        wide = max((r.layer.weight.shape[1] for r in self.rungs), default=1)
        return min(CELL, max(LEAST, (self.width() - BESIDE) / (wide + APART)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.changed()

    @property
    def steps(self) -> int:
        """Return how many steps there are: down the layers and up again."""
        return 2 * len(self.rungs)

    def seen(self, layer: int) -> tuple[bool, bool]:
        """Return whether z and a, and whether δ and the gradients of a layer are known at this step."""
        count = len(self.rungs)
        return self.step > layer, self.step >= 2 * count - layer

    def place_of(self, layer: int) -> tuple[float, float]:
        """Return from where to where a layer is written, from above."""
        heights = [(1.6 + len(rung.z)) * TALL for rung in self.rungs]
        top = 4.0 + TALL + sum(heights[:layer])
        return top, top + heights[layer]

    def place(self) -> None:
        with self.words, self.cells:
            self._write(f"a⁰ = {self.given_name}", GAP, 4.0, LABEL, "text")
            self._row(GAP + LABEL, 4.0, self.given, float(np.abs(self.given).max(initial=0.0)), True, self.cell)
            widest = max((r.layer.weight.shape[1] for r in self.rungs), default=0)
            behind = GAP + LABEL + self.cell * (widest + APART)
            places = [behind + CELL * j for j in range(len(COLUMNS))]
            for k in range(len(self.rungs)):
                self._place_rung(k, self.place_of(k)[0] + 0.6 * TALL, places)

    def _place_rung(self, k: int, y: float, places: list[float]) -> None:
        """Place the name and the rows of a layer."""
        rung, (forward, backward) = self.rungs[k], self.seen(k)
        name = f"{rung.layer.name}  ({rung.layer.activation}):  {'∂C/∂W' if self.gradients else 'W'}"
        active = self.step in (k + 1, self.steps - k)
        self._write(name, GAP, y, 400, "accent" if active else "text", bold=True)
        for word, x in zip(COLUMNS, places, strict=True):
            self._write(word, x, y, CELL - 1, "muted", align=CENTRE)
        shown = rung.weight_gradient if self.gradients else rung.layer.weight
        columns = (
            (rung.layer.bias, True), (rung.z, forward), (rung.a, forward), (rung.delta, backward),
            (rung.bias_gradient, backward),
        )  # fmt: skip
        for i in range(len(rung.z)):
            y += TALL
            if self.labels and k == len(self.rungs) - 1:
                self._write(self.labels[i], GAP, y, LABEL, "muted")
            known = backward or not self.gradients
            self._row(GAP + LABEL, y, shown[i], float(np.abs(shown).max()), known, self.cell)
            for x, (values, known) in zip(places, columns, strict=True):
                self._row(x, y, values[i : i + 1], float(np.abs(values).max()), known, CELL)

    def _write(
        self, text: str, x: float, y: float, wide: float, role: str, bold: bool = False, align: Any = LEFT
    ) -> None:
        font = QFont(self.font())
        font.setBold(bold)
        self.words.take().write(text, QRectF(x, y, wide, TALL), font, QColor(getattr(theme.current(), role)), align)

    def _row(self, x: float, y: float, values: NDArray[Any], most: float, known: bool, wide: float) -> None:
        """Place numbers beside each other on their colours, or blank cells while they are not known."""
        t, font = theme.current(), QFont(self.font())
        digits, size = (3, 0.9) if wide == CELL else (2, 0.8)
        font.setPointSizeF(size * font.pointSizeF())
        for j, value in enumerate(values.tolist()):
            part = min(1.0, abs(value) / (most or 1.0)) * 0.75
            ground = mixed(t.bad if value > 0 else t.first, t.plot, part) if known else QColor(t.raised)
            cell = QRectF(x + wide * j, y, wide - 1, TALL - 1)
            text = short(value, digits) if known else ""
            self.cells.take().write(text, cell, font, QColor(t.text), ground)


def short(value: float, digits: int = 3) -> str:
    """Return a number that fits a cell, with so many digits behind the point."""
    if value == 0:
        return "0"
    if not 10**-digits <= abs(value) < 100:
        return with_minus(f"{value:.0e}")
    return with_minus(f"{value:.{digits if abs(value) < 10 else digits - 1}f}")


class Curves(Plot):
    """Curves with names in their colours."""

    def __init__(self, log: bool = False, logarithmic_x: bool = False, whole: bool = True) -> None:
        bottom = LogAxis("bottom") if logarithmic_x else ValueAxis("bottom", whole=whole)
        super().__init__(None, left=LogAxis("left") if log else ValueAxis("left"), bottom=bottom)
        self._log, self._logarithmic_x = log, logarithmic_x
        self._lines: list[Any] = []
        self._drawn: list[tuple[str, NDArray[Any], NDArray[Any]]] = []
        self.curves: dict[str, NDArray[Any]] = {}  # as they were given: what they are over, and each by its name

    def show_curves(self, title: str, over: str, curves: list[Curve], told: Sequence[tuple[str, str]] = ()) -> None:
        """Draw (name, x, y, colour, dashed) `over` something; `told` are words above them in place of all names."""
        t = theme.current()
        self.message = ""
        self.curves = {over: curves[0][1]} | {f"{title} · {name}": y for name, _, y, _, _ in curves}
        while len(self._lines) < len(curves):
            self._lines.append(self.add(pg.PlotCurveItem(connect="finite"), 1))
        self._drawn = []
        for line, (name, x, y, colour, dashed) in zip(self._lines, curves, strict=False):
            style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
            line.setPen(ink(colour, 1.6, 255, style))
            with np.errstate(divide="ignore", invalid="ignore"):
                across = np.log10(x) if self._logarithmic_x else x
                up = np.where(y > 0, np.log10(np.abs(y)), np.nan) if self._log else y
            line.setData(across, up)
            self._drawn.append((name, across, up))
        ups = np.concatenate([up[np.isfinite(up)] for _, _, up in self._drawn])
        across = np.concatenate([x for _, x, _ in self._drawn])
        low, high = (float(ups.min()), float(ups.max())) if len(ups) else (0.0, 1.0)
        if self._log:
            low = max(low, high - 6)
        room = 0.05 * (high - low) or 0.1
        self.set_ranges((float(across.min()), float(across.max())), (low - room, high + room))
        words = told or [(c[0], c[3]) for c in curves]
        heading = (f"{title}, over {over}", t.text, True)
        self.header.write([heading, *((text, colour, False) for text, colour in words)], brief={0: title})

    def read(self, at: QPointF) -> str:
        """Return the values of all curves under the mouse."""
        lines = []
        for name, x, y in self._drawn:
            k = int(np.abs(x - at.x()).argmin())
            lines.append(f"{name}: {figure(10 ** y[k] if self._log else y[k])}")
        return "\n".join(lines)


class LadderView(FrameView[tuple[Square, Chain]]):
    """The ladder of the network that is shown, one neuron under two losses, losses as likelihoods, sizes of a step."""

    MOST = 1
    NOTHING = "Choose an image and a network: back-propagation through its layers is written out here."
    NONE = (
        "Back-propagation is written out here for networks of dense layers with up to 64 units each, such as "
        "back-propagation in the gallery."
    )

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        content = QWidget()
        self.loss, self.target, self.weights = QComboBox(), QComboBox(), QComboBox()
        for box, name in ((self.loss, "Loss"), (self.target, "Target"), (self.weights, "What weights are drawn")):
            box.setAccessibleName(name)
        self.loss.addItems(list(LOSSES))
        self.weights.addItems(["W", "∂C/∂W"])
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Step of back-propagation")
        self.slider.setToolTip("Forward through the layers, then backward")
        self.words = QLabel(wordWrap=True)
        self.sheet = LadderSheet()
        self.area = QScrollArea()
        self.area.setWidget(self.sheet)
        self.area.setWidgetResizable(True)
        self.neuron, self.delta = Curves(), Curves(log=True)
        self.gauss, self.coin = Curves(whole=False), Curves(whole=False)
        self.taylor = Curves(log=True, logarithmic_x=True)
        self.tabs = QTabWidget()
        self.tabs.addTab(self.area, "Ladder")
        self.tabs.addTab(_beside(self.neuron, self.delta), "One neuron")
        self.tabs.addTab(_beside(self.gauss, self.coin), "Likelihood")
        self.tabs.addTab(_beside(self.taylor), "Size of a step")
        self.controls = QWidget()
        for part in (self.controls, self.tabs.tabBar()):
            part.setProperty("chrome", True)  # left out of exported figures
        row = QHBoxLayout(self.controls)
        row.setContentsMargins(6, 2, 6, 2)
        row.setSpacing(8)
        for text, box in (("Loss", self.loss), ("Target", self.target), ("Weights as", self.weights)):
            row.addWidget(QLabel(text))
            row.addWidget(box)
        row.addWidget(QLabel("Step"))
        row.addWidget(self.slider, 1)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.controls)
        column.addWidget(self.words)
        column.addWidget(self.tabs, 1)
        self.words.setContentsMargins(6, 0, 6, 2)
        self.pages = Pages(self, content, self.NOTHING)
        self._neurons: dict[tuple[str, tuple[float, float]], Learned] = {}
        for box in (self.loss, self.target, self.weights):
            box.activated.connect(lambda _: self.refresh())
        self.slider.valueChanged.connect(self._move)
        self.slider.valueChanged.connect(self._scroll)
        self.tabs.currentChanged.connect(lambda _: self.refresh())

    def parts(self) -> list[tuple[Square, Chain]]:
        return self.with_part(Chain)

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)

    def forget_choices(self) -> None:
        for box in (self.loss, self.target, self.weights):
            box.setCurrentIndex(0)
        self.tabs.setCurrentIndex(0)
        self.slider.setValue(self.slider.maximum())
        self.refresh()

    def draw(self, parts: list[tuple[Square, Chain]]) -> None:
        self.pages.say("")
        _, chain = parts[0]
        names = list(chain.labels) or [f"output {k + 1}" for k in range(len(chain.layers[-1].bias))]
        if names != [self.target.itemText(k) for k in range(self.target.count())]:
            self.target.clear()
            self.target.addItems(names)
        possible = chain.layers[-1].activation == "sigmoid"  # the cross-entropy is of probabilities
        if not possible:
            self.loss.setCurrentIndex(0)
        self.loss.setEnabled(possible)
        wanted = np.zeros(len(names))
        wanted[self.target.currentIndex()] = 1.0
        loss = self.loss.currentText()
        rungs = tuple(ladder(chain.layers, chain.x, wanted, loss))
        fresh = self.slider.maximum() != 2 * len(rungs)
        self.slider.setRange(0, 2 * len(rungs))
        if fresh:
            self.slider.setValue(2 * len(rungs))
        self.sheet.gradients = self.weights.currentIndex() == 1
        moved = self.frame is not None and not chain_element(self.frame.state.steps).identity
        self.sheet.show_rungs(chain.x, rungs, tuple(names), "ρ(g)x" if moved else "x")
        self._move(self.slider.value())
        which = self.tabs.currentIndex()
        if which == 1:
            self._draw_neuron()
        elif which == 2:
            self._draw_likelihood(float(rungs[-1].a[self.target.currentIndex()]))
        elif which == 3:
            self._draw_taylor(chain, wanted, loss)

    def _move(self, step: int) -> None:
        self.sheet.step = step
        self.sheet.changed()
        count = len(self.sheet.rungs)
        if not count:
            return
        if step == 0:
            text = "The example is given to the first layer. Move the slider: forward, then backward."
        elif step <= count:
            name = self.sheet.rungs[step - 1].layer.name
            text = f"Forward, {name}: z = W a + b, a = σ(z)."
        elif step == count + 1:
            rule = "δ = a − y, as σ′ cancels" if self.loss.currentIndex() == 1 else "δ = (a − y) σ′(z)"
            text = f"Backward, {self.sheet.rungs[-1].layer.name}: {rule}."
        else:
            name = self.sheet.rungs[2 * count - step].layer.name
            text = f"Backward, {name}: δ = σ′(z) (Wᵀ δ of the layer above); ∂C/∂b = δ, ∂C/∂W = δ aᵀ."
        sizes = ", ".join(figure(float(np.abs(r.delta).max())) for r in self.sheet.rungs)
        self.words.setText(f"{text}  Largest |δ| by layer: {sizes}.")

    def _scroll(self, step: int) -> None:
        """Bring the layer of a step into sight, its name rather than its last rows."""
        count = len(self.sheet.rungs)
        layer = step - 1 if step <= count else 2 * count - step
        top, end = self.sheet.place_of(layer) if 0 <= layer < count else (0.0, 0.0)
        for y in (end, top):
            self.area.ensureVisible(0, round(y), 0, 0)

    def _draw_neuron(self) -> None:
        t = theme.current()
        outputs: list[Curve] = []
        deltas: list[Curve] = []
        for loss, colour in zip(LOSSES, (t.second, t.first), strict=True):
            for start, dashed in zip(STARTS, (False, True), strict=True):
                key = (loss, start)
                if key not in self._neurons:
                    self._neurons[key] = neuron(loss, start)
                found = self._neurons[key]
                epochs = np.arange(len(found.output), dtype=float)
                name = f"{loss} {start[0]:g}/{start[1]:g}"
                outputs.append((name, epochs, found.output, colour, dashed))
                deltas.append((name, epochs, np.abs(found.delta), colour, dashed))
        told = list(zip(LOSSES, (t.second, t.first), strict=True))
        (w, b), (other_w, other_b) = STARTS
        self.neuron.show_curves("output, target 0", "epochs", outputs, told)
        self.delta.show_curves(
            "|δ|", "epochs", deltas, [(f"from {w:g}/{b:g}, dashed from {other_w:g}/{other_b:g}", t.muted)]
        )

    def _draw_likelihood(self, output: float) -> None:
        t = theme.current()
        output = min(max(output, 1e-6), 1 - 1e-6)
        y = np.linspace(-1, 2, 241)
        name = f"mean {output:.3f}"
        told = figure(float(backprop.gaussian(output, np.array([1.0]))[0]))
        self.gauss.show_curves(
            f"Gaussian, −log p(1) = {told}", "targets y", [(name, y, backprop.gaussian(output, y), t.first, False)]
        )
        chances = np.linspace(0.002, 0.998, 241)
        curves = [
            ("−log p(1)", chances, -np.log(chances), t.first, False),
            ("−log p(0)", chances, -np.log(1 - chances), t.second, False),
            ("here", np.array([output, output]), np.array([0.0, 6.2]), t.accent, True),
        ]
        told = f"−log p(1) = {figure(-np.log(output))}"  # in its colour, so that both names have room
        self.coin.show_curves("Bernoulli", "outputs a", curves, [(told, t.first), ("−log p(0)", t.second)])

    def _draw_taylor(self, chain: Chain, wanted: NDArray[Any], loss: str) -> None:
        t = theme.current()
        best_of_all = steps(chain.layers, chain.x, wanted, loss, RATES[:1]).best
        rates = RATES * (best_of_all if np.isfinite(best_of_all) else 1.0)
        found = steps(chain.layers, chain.x, wanted, loss, rates)
        best = f"best step {figure(found.best)}" if np.isfinite(found.best) else "no bottom seen"
        curves = [
            ("first order", rates, found.first, t.muted, True),
            ("second order", rates, found.second, t.second, False),
            ("real", rates, found.real, t.first, False),
        ]
        self.taylor.show_curves(
            f"decrease of C = {figure(loss_of(chain.layers, chain.x, wanted, loss))}; {best}", "learning rates", curves
        )

    def apply_theme(self) -> None:
        for chart in (self.neuron, self.delta, self.gauss, self.coin, self.taylor):
            chart.dress()
        self.pages.apply_theme()
        self.refresh()

    def figure_size(self) -> QSize:
        """Return the size of a figure with the whole ladder, or of the charts as they are on the screen."""
        if self.tabs.currentIndex() or not self.sheet.rungs:
            return self.size()
        return self.sheet.minimumSize() + QSize(2, self.words.heightForWidth(self.sheet.minimumWidth()) + 8)

    def minimumSizeHint(self) -> QSize:
        """As a figure it is never so small that a part of the ladder is hidden."""
        small = super().minimumSizeHint()
        whole = self.controls.isHidden() and self.tabs.currentIndex() == 0
        return small.expandedTo(self.figure_size()) if whole else small

    def caption(self) -> str:
        if self.frame is None or not self.sheet.rungs:
            return ""
        of = "One neuron that learns to answer 0, under both losses" if self.tabs.currentIndex() == 1 else (
            f"Back-propagation of the {self.loss.currentText()} to {self.target.currentText()}: {subject(self.frame)}"
        )  # fmt: skip
        return f"{of}."

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return every number of the ladder, or of the curves in front of it."""
        found: dict[str, NDArray[Any]] = {}
        if which := self.tabs.currentIndex():
            charts = {1: (self.neuron, self.delta), 2: (self.gauss, self.coin), 3: (self.taylor,)}[which]
            return found | {name: values for chart in charts for name, values in chart.curves.items()}
        for r in self.sheet.rungs:
            named = (("W", r.layer.weight), ("b", r.layer.bias), ("z", r.z), ("a", r.a), ("delta", r.delta),
                     ("dC_dW", r.weight_gradient), ("dC_db", r.bias_gradient))  # fmt: skip
            found |= {f"{r.layer.name}_{name}": values for name, values in named}
        return found


def _beside(*charts: QWidget) -> QWidget:
    page = QWidget()
    row = QHBoxLayout(page)
    row.setContentsMargins(0, 0, 0, 0)
    for chart in charts:
        row.addWidget(chart, 1)
    return page


VIEW = ViewSpec(
    name="ladder",
    title="Delta ladder",
    make=LadderView,
    area="center",
    order=3,
    summary="Back-propagation in dense layers: z, a, δ and every gradient, forward and backward step by step.",
    domains=("grid",),
    fits=lambda square: square.of(Chain) is not None,
)
