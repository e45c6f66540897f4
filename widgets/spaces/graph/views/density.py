"""Densities of a generative adversarial network: p_data, p_g, D and its optimum, and the way from z to x."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look.theme import current
from widgets.base.text.words import figure
from widgets.base.view import ViewSpec
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.items.curve import Curve
from widgets.charts.items.marks import UP, Marks, fill, ink
from widgets.charts.plot import Plot
from widgets.maps.map_grid import MapGrid

NOTHING = "Open a generative adversarial network on a density to see it beside the data."
NONE = "This network draws no densities."
KEEPS = ("freeze", "replace")  # interventions that put kept values in the place of a layer's own
KEPT = "The densities need {} on other inputs; what is kept in its place belongs to this input alone."
NEEDED = ("p_data", "p_g", "D", "D*")
FIGURE = "= "  # before the name of a number among the matrices
NET = "net of z"
GRADIENT = "∇ "  # before the name of a loss: the legend has no room for a word
PULLS = {"least squares": ("first", 2), "non-saturating": ("second", 2)}  # of the losses; a word more is too long
LONGEST = 0.4  # of an arrow, in units of the plane
MOST = 98.5  # per cent of the values of a curve that its axis holds
INSIDE = 0.04  # of the height: how far below the upper edge a mark of what goes beyond it stands
NEAR = 8  # pixels from such a mark
LITTLE = 1.5  # times as much as these take, up to which all of a curve is shown
HEAD = 0.3  # of an arrow, the share that its tip takes
Points = tuple[NDArray[Any], NDArray[Any]]


class Lines(Plot):
    """Named curves over one axis, or in the plane."""

    def __init__(self, inks: Mapping[str, tuple[str, int]], bottom: str, left: str = "y", round_: bool = False) -> None:
        self.inks, self.names = dict(inks), (bottom, left)
        self.curves: dict[str, Any] = {}
        super().__init__(left=ValueAxis("left"), bottom=ValueAxis("bottom"))
        self.bottom.end = bottom
        self.round = round_
        self.box.keep_round(round_)
        for name in self.inks:
            self.curves[name] = self.add(Curve(), key=name)
        self.beyond = self.add(Marks(symbol=UP, pen=None), 90)  # where a curve goes on above the axis
        self.ends = (0.0, 1.0)  # of the height
        self.tops: list[tuple[str, float, float]] = []  # of each: the curve, how far it goes, and where
        self.dress()

    def dress(self) -> None:
        super().dress()
        for name, curve in self.curves.items():
            role, width = self.inks[name]
            curve.setPen(ink(getattr(current(), role), width))
        if hasattr(self, "tops"):
            self._mark()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if getattr(self, "round", False):  # one scale for both axes: another shape shows another range
            self.box.autoRange()

    def show_curves(self, values: Mapping[str, Points]) -> None:
        """Draw (x, y) by name; the ranges hold all of them, and zero."""
        high, low, ends = 1e-9, 0.0, (np.inf, -np.inf)
        for name, curve in self.curves.items():
            x, y = values.get(name, (np.zeros(0), np.zeros(0)))
            curve.setData(x, y)
            fair, across = y[np.isfinite(y)], x[np.isfinite(x)]
            if fair.size:
                top = np.percentile(fair, MOST)  # the ends of z may be torn away
                top = fair.max() if self.round or fair.max() <= LITTLE * top else top
                high, low = max(high, float(top)), min(low, float(fair.min()))
                ends = (min(ends[0], float(across.min())), max(ends[1], float(across.max())))
        if ends[0] < ends[1]:
            self.ends = low, high + 0.05 * (high - low)
            self.set_ranges(ends, self.ends)
        if self.round:
            self.box.autoRange()
        self.tops = [
            (name, float(y[part].max()), float(x[part][y[part].argmax()]))
            for name, (x, y) in values.items() if name in self.curves and not self.round
            for part in _runs(y > self.ends[1])
        ]  # fmt: skip
        self._mark()

    def _mark(self) -> None:
        """Mark at the upper edge where curves leave the axis."""
        low, high = self.ends
        at = high - INSIDE * (high - low)
        self.beyond.setData(
            [x for _, _, x in self.tops], [at] * len(self.tops), size=9,
            brush=[fill(getattr(current(), self.inks[name][0])) for name, _, _ in self.tops],
        )  # fmt: skip

    def told(self) -> list[str]:
        """Return how far curves go that leave the axis."""
        names = dict.fromkeys(name for name, _, _ in self.tops)
        return [f"{name} up to {figure(max(y for one, y, _ in self.tops if one == name))}" for name in names]

    def read(self, at: Any) -> str:
        (low, high), width = self.ends, NEAR / max(self.pixels().x(), 1e-9)
        if at.y() > high - 3 * INSIDE * (high - low) and (
            near := [f"{name} up to {figure(y)}" for name, y, x in self.tops if abs(x - at.x()) <= width]
        ):
            return f"{self.names[0]} {figure(at.x())}\n" + "\n".join(near)
        return f"{self.names[0]} {figure(at.x())}, {self.names[1]} {figure(at.y())}"


def _runs(chosen: NDArray[np.bool_]) -> list[slice]:
    """Return the stretches in which all are chosen."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


class DensityView(FrameView[Square]):
    """On the line curves, the way from z to x and the gradient that G gets; on the plane maps, a net and arrows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.density = Lines(
            {"p_data": ("first", 2), "p_g": ("second", 2), "D": ("text", 2), "D*": ("muted", 1)}, "x", "height"
        )
        self.way = Lines({"z above, x = G(z) below": ("second", 1)}, "z, x", "way")
        self.gradient = Lines(
            {GRADIENT + "non-saturating": ("good", 2), GRADIENT + "minimax": ("bad", 2)}, "z", "gradient"
        )
        self.contraction = Lines({"|dG/dz|": ("second", 2)}, "z", "|dG/dz|")
        self.maps, self.beliefs = MapGrid(), MapGrid()
        self.net = Lines({NET: ("second", 1)}, "x", round_=True)
        self.pulls = Lines(PULLS, "x", round_=True)
        self.plots = (self.density, self.way, self.gradient, self.contraction, self.net, self.pulls)
        self.stack = QStackedWidget()
        self.stack.addWidget(_columns((3, (self.density, self.way)), (2, (self.gradient, self.contraction))))
        self.stack.addWidget(_columns((3, (self.maps, self.beliefs)), (2, (self.net, self.pulls))))
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(8, 4, 8, 4)
        column.addWidget(self.words)
        column.addWidget(self.stack, 1)
        self._pages = Pages(self, content, NOTHING)
        for plot in self.plots:
            plot.hovered.connect(self.hovered)
        self.apply_theme()

    def parts(self) -> list[Square]:
        """Return the first square if its network draws densities."""
        return [s for s in self.squares[:1] if fits(s)]

    def reason(self, parts: list[Square]) -> str:
        if parts or not self.squares:
            return "" if parts else NOTHING
        kept = [i.layer for i in self.squares[0].interventions if i.kind in KEEPS]
        return KEPT.format(kept[0]) if kept else NONE

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)

    def draw(self, parts: list[Square]) -> None:
        self._pages.say("")
        rows = parts[0].matrices
        numbers = [f"{n[len(FIGURE) :]} {figure(float(v[0, 0]))}" for n, v in rows.items() if n.startswith(FIGURE)]
        line = "x" in rows
        self.stack.setCurrentIndex(0 if line else 1)
        if line:
            self._draw_line({name: np.asarray(v, np.float64)[0] for name, v in rows.items()})
        else:
            self._draw_plane({name: np.asarray(v, np.float64) for name, v in rows.items()})
        shown = (self.gradient, self.contraction) if line else ()
        self.words.setText(";  ".join([*numbers, *(text for plot in shown for text in plot.told())]))

    def _draw_line(self, flat: Mapping[str, NDArray[np.float64]]) -> None:
        self.density.show_curves({name: (flat["x"], flat[name]) for name in NEEDED})
        z, x = flat["z"], flat["G(z)"]
        ends = np.ones_like(z), np.zeros_like(z), np.full_like(z, np.nan)
        self.way.show_curves({"z above, x = G(z) below": _joined((z, x, ends[2]), ends)})
        self.gradient.show_curves(
            {name: (z, np.abs(flat[f"gradient, {name[len(GRADIENT) :]}"])) for name in self.gradient.inks}
        )
        self.contraction.show_curves({"|dG/dz|": (z, flat["|dG/dz|"])})

    def _draw_plane(self, rows: Mapping[str, NDArray[np.float64]]) -> None:
        # of a generator that makes one point the peak would leave nothing to see of the data
        most, top = float(rows[NEEDED[0]].max()) or 1.0, float(rows[NEEDED[1]].max())
        more = f", {NEEDED[1]} up to {figure(top)}" if top > most else ""
        for grid, names, high, beyond in ((self.maps, NEEDED[:2], most, more), (self.beliefs, NEEDED[2:], 1.0, "")):
            grid.set_values(np.stack([np.asarray(rows[n], np.float32) for n in names]), 0.0, high, "error", names=names)
            grid.set_title(f"{names[0]} left, {names[1]} right: 0 to {figure(high)}{beyond}")
            grid.arrange()
        x, y = rows["G(z), x"], rows["G(z), y"]
        gap = np.full((len(x), 1), np.nan)
        both = [np.hstack([np.vstack([v, v.T]), np.vstack([gap, gap])]).ravel() for v in (x, y)]  # rows, columns
        at = np.stack([rows["pulled at, x"].ravel(), rows["pulled at, y"].ravel()], 1)
        # alone points draw nothing, and hold the range: where the net lies on the plane is seen, however small it is
        ends = [[np.nan, at[:, k].min(), np.nan, at[:, k].max()] for k in range(2)]
        self.net.show_curves({NET: (np.append(both[0], ends[0]), np.append(both[1], ends[1]))})
        told = {n: np.stack([rows[f"pull, {n}, x"].ravel(), rows[f"pull, {n}, y"].ravel()], 1) for n in PULLS}
        self.pulls.show_curves({name: arrows(at, way) for name, way in told.items()})

    def apply_theme(self) -> None:
        self._pages.apply_theme()
        for plot in self.plots:
            plot.dress()
        self.maps.apply_theme()
        self.beliefs.apply_theme()

    def numbers(self) -> dict[str, NDArray[Any]]:
        return {name: np.asarray(v) for s in self.parts() for name, v in s.matrices.items()}

    def caption(self) -> str:
        return f"{self.parts()[0].model}: {self.words.text()}" if self.parts() else ""


def _columns(*columns: tuple[int, tuple[QWidget, ...]]) -> QWidget:
    page = QWidget()
    row = QHBoxLayout(page)
    row.setContentsMargins(0, 0, 0, 0)
    for stretch, plots in columns:
        column = QVBoxLayout()
        for plot in plots:
            column.addWidget(plot, 1)
        row.addLayout(column, stretch)
    return page


def _joined(x: tuple[NDArray[Any], ...], y: tuple[NDArray[Any], ...]) -> Points:
    return np.stack(x, 1).ravel(), np.stack(y, 1).ravel()


def arrows(at: NDArray[np.float64], way: NDArray[np.float64]) -> Points:
    """Return arrows as lines with gaps; their lengths are the roots of the gradients', so that small ones are seen."""
    size = np.linalg.norm(way, axis=1, keepdims=True)
    shaft = LONGEST * way / np.maximum(np.sqrt(size * max(float(size.max()), 1e-12)), 1e-12)
    tip, aside = at + shaft, shaft[:, ::-1] * np.array([-1.0, 1.0])
    wings = [tip - HEAD * (shaft + sign * aside) for sign in (0.6, -0.6)]
    parts = [at, tip, wings[0], tip, wings[1], np.full_like(at, np.nan)]
    return _joined(tuple(p[:, 0] for p in parts), tuple(p[:, 1] for p in parts))


def fits(square: Square) -> bool:
    """Return whether a network draws densities."""
    return all(name in square.matrices for name in NEEDED)


VIEW = ViewSpec(
    "density",
    "Density",
    DensityView,
    "center",
    3,
    "The densities of a generative adversarial network, its discriminator and the optimum.",
    domains=("graph", "set"),
    fits=fits,
)
