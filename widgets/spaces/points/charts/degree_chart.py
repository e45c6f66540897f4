"""Values by degree and parity as bars, before and after an element."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QPointF, QSize, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QWidget

from explorer.spaces.points.drawing.spectrum import Spectrum
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Name, NameAxis, ValueAxis
from widgets.charts.items.marks import Columns, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

WIDE = 300  # pixels, from which on there is room for keys beside the title
SIDES = ((-0.38, -0.02), (0.02, 0.38))  # where the two bars of a kind begin and end
FINEST = 0.025  # of the highest bar: the least distance of two lines that cut a bar
WORDS = {"0e": "scalars", "0o": "pseudo-scalars", "1o": "vectors", "1e": "pseudo-vectors"}


class DegreeChart(Plot):
    """Two bars for each kind of value: F(x), and F(rho(g) x) beside it. A click with the other button asks of one.

    Args:
        measured: what the bars say of the values.
        names: what the two bars are of. Where keys have no room, in a narrow chart, they follow the title.
    """

    asked = Signal(int, QPoint)  # the degree of a bar, and where on the screen

    def __init__(
        self, parent: QWidget | None = None, measured: str = "size", names: tuple[str, str] = ("F(x)", "F(ρ(g)x)")
    ) -> None:
        self.measured, self.names = measured, names
        super().__init__(parent, left=ValueAxis("left"), bottom=NameAxis("bottom"))
        self.box.setMouseEnabled(x=False, y=False)
        self.spectrum: Spectrum | None = None
        self._title = self._brief = ""
        self.bars = [self.add(Columns(), 1), self.add(Columns(), 1)]
        self.cuts = self.add(pg.PlotCurveItem(connect="pairs"), 2)  # between the components of each bar
        self.box.asked = self._ask
        self.dress()

    def sizeHint(self) -> QSize:
        return QSize(380, 160)

    def show_spectrum(self, spectrum: Spectrum | None, title: str = "", message: str = "", brief: str = "") -> None:
        """Show a spectrum, or say why there is none; `brief` is the title where it has no room beside the names."""
        self.spectrum, self._title, self._brief = spectrum, title, brief or title
        self.message = "" if spectrum is not None else message or " "
        if spectrum is None:
            return
        assert isinstance(self.bottom, NameAxis)
        at = np.arange(len(spectrum.kinds), dtype=float)
        self.bottom.set_names([Name(kind) for kind in spectrum.kinds])
        for bars, (left, right), sizes in zip(self.bars, SIDES, (spectrum.before, spectrum.after), strict=True):
            bars.set_columns(at + left, at + right, np.zeros_like(at), sizes)
        most = float(max(spectrum.before.max(initial=0), spectrum.after.max(initial=0))) or 1.0
        self.cuts.setData(*cuts(spectrum, FINEST * most))
        self.set_ranges((-0.6, len(at) - 0.4), (0.0, 1.08 * most))
        self._write()

    def _write(self) -> None:
        t = theme.current()
        wide = self.width() >= WIDE
        self.header.name_keys(dict(zip(self.bars, self.names, strict=True)) if wide else {})
        inks = [] if wide else [(name, ink, False) for name, ink in zip(self.names, (t.first, t.second), strict=True)]
        self.header.write([(self._title, t.text, True), *inks], brief={0: self._brief})

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "bars") and self.spectrum is not None:
            self._write()

    def read(self, at: QPointF) -> str:
        found, k = self.spectrum, round(at.x())
        if found is None or not 0 <= k < len(found.kinds):
            return ""
        kind, count = found.kinds[k], found.counts[k]
        what = WORDS.get(kind, f"values of degree {kind.rstrip('eo')}")
        before, after = (figure(float(side[k])) for side in (found.before, found.after))
        mixed = f"components changed by {100 * float(found.mixed[k]):.3g} %"
        return f"{count} × {kind}: {what}\n{self.measured} {before}, after {after}\n{mixed}"

    def _ask(self, at: QPoint) -> bool:
        x = self.box.mapSceneToView(QPointF(self.mapFromGlobal(at))).x()
        if self.spectrum is None or not 0 <= round(x) < len(self.spectrum.kinds):
            return False
        self.asked.emit(int(self.spectrum.kinds[round(x)].rstrip("eo")), at)
        return True

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "bars"):
            t = theme.current()
            for bars, colour in zip(self.bars, (t.first, t.second), strict=True):
                bars.setOpts(brush=fill(QColor(colour).name()))
            self.cuts.setPen(ink(t.panel, 1.0))
            if self.spectrum is not None:
                self._write()


def cuts(spectrum: Spectrum, least: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return x and y of the lines that cut bars into the parts of their components, two points for each line.

    Lines nearer than `least` to the one below or to an end of the bar are left out: they would hide a low bar.
    """
    x, y = list[float](), list[float]()
    for side, (left, right) in zip(spectrum.parts, SIDES, strict=True):
        for at, parts in enumerate(side):
            *heights, top = np.cumsum(np.asarray(parts, np.float64)).tolist()
            below = 0.0
            for height in heights:
                if height - below >= least and top - height >= least:
                    x += [at + left, at + right]
                    y += [height, height]
                    below = height
    return np.array(x), np.array(y)
