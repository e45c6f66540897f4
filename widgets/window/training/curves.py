"""Curves over the steps of a training: the losses of several runs on one axis, the error of each layer of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise, zip_longest

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import LogAxis, ValueAxis
from widgets.charts.items.curve import Jagged
from widgets.charts.items.marks import DOT, ElementLine, Marks, Words, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.maps.diagram import font
from widgets.window.training.run import Run
from widgets.window.training.told import Series

WIDE = 1.5  # pixels of a line, and of what a point of it stands for: nearer ones would hide each other
FEW = 100  # points that a curve is never thinned below
AGREE = 1.25  # how much finer or coarser a curve may be than what can be seen
THIN = 1.0  # of a faint one: a wider path that is seen through cannot be drawn in pieces, and takes long in one
MARKED = 60  # points of a curve up to which each is a dot
HELD, BROKEN = -8.0, 0.0  # decades that a chart of errors shows at least: rounding, and as large as the values
ROOM = 0.012  # of the steps, before the first and behind the last: no dot is cut
LOWEST = 1e-9  # an error of zero is drawn here
FAINT = 70  # opacity of what is smoothed, and of what followed a step that was gone back to
NEAR = 8  # pixels from the line of the present step from which a drag takes it along
TICKS = (0.0, 0.03)  # share of the height that the marks of kept steps have


def colour_of(number: int) -> str:
    """Return the colour of the run of that number, from 1."""
    t = theme.current()
    colours = (t.first, t.second, *theme.CLASSES[2:])
    return colours[(number - 1) % len(colours)]


def thinned(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a curve of at most so many points, with the lowest and the highest of each stretch."""
    if len(x) <= most:
        return x, y
    size = -(-len(x) // max(1, most // 2 - 1))
    last = len(x) - 1
    whole, rest = len(x) // size * size, y[len(x) // size * size :]
    part, first = y[:whole].reshape(-1, size), np.arange(0, whole, size)
    ends = [whole + int(rest.argmin()), whole + int(rest.argmax()), last] if len(rest) else [last]
    chosen = np.unique(np.concatenate([first + part.argmin(1), first + part.argmax(1), ends]))
    return x[chosen], y[chosen]


def smoothed(y: NDArray[np.float64], over: int) -> NDArray[np.float64]:
    """Return the mean of the last `over` values at each place, of fewer at the start."""
    if over <= 1 or not len(y):
        return y
    sums = np.concatenate([[0.0], np.cumsum(y)])
    ends = np.arange(1, len(y) + 1)
    starts = np.maximum(0, ends - over)
    found: NDArray[np.float64] = (sums[ends] - sums[starts]) / (ends - starts)
    return found


Curve = tuple[str, Series, str]  # what is said of it, its points, its colour


class StepChart(Plot):
    """Curves over steps, on a logarithmic or a linear axis.

    A line stands at the step at which the training stands; dragged, it asks for the kept step next to the mouse.
    """

    rewound = Signal(int)  # the step under the mouse, which need not be kept

    def __init__(self, parent: QWidget | None = None, log: bool = True) -> None:
        self.log = log
        self._again: Callable[[], None] = lambda: None  # draws the lines once more
        self._most = FEW  # points that each was drawn with
        self.ends = (0.0, 1.0, 1.0)  # lowest and highest coordinate, last step
        super().__init__(
            parent, left=LogAxis("left") if log else ValueAxis("left"), bottom=ValueAxis("bottom", whole=True)
        )
        self.bottom.end = "step"
        self.lines: list[Jagged] = []
        self._keys: dict[str, pg.PlotCurveItem] = {}  # the line of each curve
        self._dots = self.add(Marks(symbol=DOT, pen=None), 90)
        self._pointed = ""  # the curve under the mouse
        self.drawn: list[Curve] = []
        self.now = self.add(ElementLine(), 95)
        self.now.hide()
        self._kept = self.add(pg.VTickGroup(yrange=TICKS), 94)
        self.turns: tuple[tuple[int, str], ...] = ()  # after how many steps which setting was changed
        self._turned = self.add(pg.VTickGroup(yrange=(0.0, 1.0)), -1)
        self._said = Words(self.box, Qt.AlignmentFlag.AlignTop)
        self._held = False
        self.dress()

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "_kept"):
            self.now.dress()
            self._kept.setPen(ink(theme.current().accent, 1.0))
        if hasattr(self, "_said"):
            self._turned.setPen(ink(theme.current().muted, 1.0, style=Qt.PenStyle.DashLine))
            self._said.dress(font(11))
            self._again()  # lines have as many pixels as a picture is sharp

    def stand(self, run: Run | None) -> None:
        """Show where a training stands, and the steps that it can go back to."""
        kept = run.told.kept if run is not None and run.told.steered and run.process.running else []
        self.now.setVisible(bool(kept))
        self._kept.setXVals(kept)
        self._kept.update()
        if run is not None and not self._held:
            self.now.setValue(run.told.step)
        self._mark_turns(run.told.turns if run is not None else ())

    def _mark_turns(self, turns: tuple[tuple[int, str], ...]) -> None:
        """Mark the steps after which a setting was changed, in words where there is room for them."""
        self.turns = turns
        at = [float(over) for over, _ in turns]
        self._turned.setXVals(at)
        self._turned.update()
        places = [-ROOM * self.ends[2], *at, (1 + ROOM) * self.ends[2]]
        span = min((b - a for a, b in pairwise(places)), default=1.0)
        self._said.set_words([(float(over), words, "muted") for over, words in turns], 2 * max(span, 1e-9))

    def _near(self, at: QPointF) -> bool:
        return self.now.isVisible() and abs(at.x() - self.now.value()) * self.pixels().x() <= NEAR

    def grabbed(self, at: QPointF) -> bool:
        self._held = self._near(at)
        return self._held

    def dragged(self, at: QPointF, done: bool) -> None:
        self._held = not done
        self.now.setValue(min(max(at.x(), 0.0), self.ends[2]))
        self.rewound.emit(round(self.now.value()))

    def place(self, values: NDArray[np.float64], low: float = LOWEST) -> NDArray[np.float64]:
        """Return the coordinates of values."""
        return np.log10(np.maximum(values, low)) if self.log else values

    def show_curves(
        self,
        curves: Sequence[Curve],
        last: float,
        over: int = 1,
        low: float = LOWEST,
        until: Mapping[str, float] | None = None,
    ) -> None:
        """Draw (name, points, colour); with a smoothing, what is smoothed in full colour over the rest.

        Args:
            until: the step at which each run stands: what follows it is faint.
        """
        self.drawn = [curve for curve in curves if len(curve[1])]
        self._again = partial(self._draw, over, low, until or {})
        self._most = self._visible(last)
        self._again()
        self._mark(low, until or {})
        if ends := [float(end(self.place(p.y, low))) for _, p, _ in self.drawn for end in (np.min, np.max)]:
            self.message = ""
            bottom, top = min(ends), max(ends)
            room = max(0.1 if self.log else 1e-6, 0.05 * (top - bottom))
            self.ends = bottom - room, top + room, last
            self.fix_range(*self.ends)

    def _visible(self, last: float) -> int:
        """Return how many points of a curve can be told apart where all steps are as wide as they are now."""
        return max(FEW, int(self.pixels().x() * max(1.0, last) / WIDE))

    def reshaped(self) -> None:
        most = self._visible(self.ends[2])
        if not self._most / AGREE <= most <= self._most * AGREE:
            self._most = most
            self._again()

    def _draw(self, over: int, low: float, until: Mapping[str, float]) -> None:
        """Draw the lines of all curves, as fine as can be seen."""
        drawn: list[tuple[NDArray[np.float64], NDArray[np.float64], str, int, str]] = []
        for name, points, colour in self.drawn:
            x, y = points.x, self.place(points.y, low)
            if over > 1:
                drawn.append((*thinned(x, y, self._most), colour, FAINT, ""))
                y = self.place(smoothed(points.y, over), low)
            count = points.until(until.get(name, math.inf))
            if count < len(x):
                after = slice(max(0, count - 1), None)
                drawn.append((*thinned(x[after], y[after], self._most), colour, FAINT, ""))
            drawn.append((*thinned(x[:count], y[:count], self._most), colour, 255, name))
        while len(self.lines) < len(drawn):
            self.lines.append(self.add(Jagged(), 1 + len(self.lines)))
        self._keys = {}
        for line, found in zip_longest(self.lines, drawn):
            if found is None:
                line.setData([], [])
                continue
            x, y, colour, alpha, name = found
            line.setPen(ink(colour, WIDE if alpha == 255 else THIN, alpha))
            line.setData(x, y)
            if name:
                self._keys[name] = line

    def _mark(self, low: float, until: Mapping[str, float]) -> None:
        """Draw the points of short curves: one point alone makes no line."""
        short = [one for one in self.drawn if len(one[1]) <= MARKED]
        x = np.concatenate([points.x for _, points, _ in short] or [np.zeros(0)])
        y = np.concatenate([self.place(points.y, low) for _, points, _ in short] or [np.zeros(0)])
        inks = [fill(c, 255 if step <= until.get(n, math.inf) else FAINT) for n, p, c in short for step in p.x]
        self._dots.set_marks(x, y, 5.0, {k: (DOT, None, brush) for k, brush in enumerate(inks)})

    def key_of(self, name: str) -> pg.PlotCurveItem | None:
        """Return the line of a curve, for the legend."""
        return self._keys.get(name)

    def pointed(self, at: QPointF | None) -> None:
        """Draw the curve under the mouse thicker than the others, and show what can be dragged."""
        near = at is not None and self._near(at)
        self.viewport().setCursor(Qt.CursorShape.SizeHorCursor if near else Qt.CursorShape.ArrowCursor)
        name = self.nearest(at)[1] if at is not None and self.drawn else ""
        if name != self._pointed:
            self._pointed = name
            for one, _, _ in self.drawn:
                if (line := self.key_of(one)) is not None:
                    pen = line.opts["pen"]
                    line.setPen(ink(pen.color().name(), WIDE * (2.0 if one == name else 1.0), pen.color().alpha()))

    def fix_range(self, low: float, high: float, last: float) -> None:
        """Show all steps up to the last one, and coordinates between two."""
        last = max(1.0, last)
        self.set_ranges((-ROOM * last, (1 + ROOM) * last), (low, high))

    def read(self, at: QPointF) -> str:
        """Return the step under the mouse with the values of the nearest curve there."""
        if not self.drawn:
            return ""
        _, name, step, value = self.nearest(at)
        near = [f"\nafter {over:,} steps: {words}" for over, words in self.turns
                if abs(over - at.x()) * self.pixels().x() <= NEAR]  # fmt: skip
        return f"{name}\nstep {step:,.0f}\n{figure(value)}" + "".join(near)

    def nearest(self, at: QPointF) -> tuple[float, str, float, float]:
        """Return how far the nearest curve is, its name, and the step and the value of its point there."""
        found: list[tuple[float, str, float, float]] = []
        for name, points, _ in self.drawn:
            k = int(np.abs(points.x - at.x()).argmin())
            value = float(points.y[k])
            found.append((abs(float(self.place(points.y[k : k + 1])[0]) - at.y()), name, float(points.x[k]), value))
        return min(found)


class LossChart(StepChart):
    """The losses of all runs."""

    def __init__(self, parent: QWidget | None = None, log: bool = True) -> None:
        super().__init__(parent, log)
        self.message = "The loss is drawn here while it learns."

    def show_runs(self, runs: Sequence[Run], part: str, over: int) -> None:
        """Draw a part of the loss, or a figure, of several runs."""
        curves, until = [], {}
        for run in runs:
            points = run.told.losses.get(part) or run.told.figures.get(part)
            if points is not None:
                curves.append((run.name, points, colour_of(run.number)))
                until[run.name] = run.told.step
        self._show(part, curves, over, until)

    def show_parts(self, run: Run, over: int) -> None:
        """Draw what the loss of one run is made of, each part in a colour of its own."""
        named = parts_of(run).items()
        curves = [(name, points, colour_of(k)) for k, (name, points) in enumerate(named, 1)]
        self._show(run.name, curves, over, {name: run.told.step for name, _, _ in curves})

    def _show(self, title: str, curves: Sequence[Curve], over: int, until: Mapping[str, float]) -> None:
        last = max((float(points.x[-1]) for _, points, _ in curves if len(points)), default=1.0)
        self.show_curves(curves, last, over, until=until)
        t = theme.current()
        words = [(title, t.text, True), *((name, colour, False) for name, _, colour in curves)]
        self.header.write([(text.replace("_", " "), colour, bold) for text, colour, bold in words])


def parts_of(run: Run) -> Mapping[str, Series]:
    """Return what the loss of a run is made of, by name; empty where it is one number."""
    return {name: points for name, points in run.told.losses.items() if name != "loss"}


class ErrorChart(StepChart):
    """The error of every layer of one run: early layers grey, late ones blue, the output red."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.message = "The error of every layer is drawn here while it learns."

    def show_run(self, run: Run) -> None:
        """Draw the errors of a run."""
        names = list(run.told.errors)
        shades = [_shade(k / max(1, len(names) - 1)) for k in range(len(names))]
        curves = [(name, run.told.errors[name], shade) for name, shade in zip(names, shades, strict=True)]
        last = max([float(run.told.step), *(float(points.x[-1]) for _, points, _ in curves if len(points))])
        self.show_curves(curves, last, until=dict.fromkeys(names, run.told.step))
        here = [(y, name) for name, points, _ in curves if (y := run.told.at(points)) is not None]
        worst, name = max(here, default=(math.nan, ""))
        words = [(run.name, colour_of(run.number), True)]
        if math.isfinite(worst):
            words.append((f"{run.told.transform}: largest at {name}, {figure(worst)}", theme.current().muted, False))
        self.header.write(words)
        ends = dict.fromkeys((names[0], names[len(names) // 2], names[-1])) if names else {}
        self.header.name_keys({line: name for name in ends if (line := self.key_of(name)) is not None})
        low, high, _ = self.ends
        self.ends = min(low, HELD), max(high, BROKEN), last  # an error of rounding must not fill the chart
        self.fix_range(*self.ends)


def _shade(share: float) -> str:
    """Return a colour between the first and the last layer."""
    t = theme.current()
    early, late = QColor(t.muted), QColor(t.accent)
    if share >= 1:
        return t.bad
    parts = ((early.red(), late.red()), (early.green(), late.green()), (early.blue(), late.blue()))
    return QColor(*(round(a + (b - a) * share) for a, b in parts)).name(QColor.NameFormat.HexRgb)
