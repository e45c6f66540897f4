"""Values by degree and parity as bars, before and after an element."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.spaces.points.drawing.spectrum import Spectrum
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Name, NameAxis, ValueAxis
from widgets.charts.items.marks import Columns, fill
from widgets.charts.plot import Plot

WORDS = {"0e": "scalars", "0o": "pseudo-scalars", "1o": "vectors", "1e": "pseudo-vectors"}


class DegreeChart(Plot):
    """Two bars for each kind of value: F(x), and F(rho(g) x) beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=NameAxis("bottom"))
        self.box.setMouseEnabled(x=False, y=False)
        self.spectrum: Spectrum | None = None
        self._title = ""
        self.bars = [self.add(Columns(), 1), self.add(Columns(), 1)]
        self.dress()

    def sizeHint(self) -> QSize:
        return QSize(380, 160)

    def show_spectrum(self, spectrum: Spectrum | None, title: str = "", message: str = "") -> None:
        """Show a spectrum, or say why there is none."""
        self.spectrum, self._title = spectrum, title
        self.message = "" if spectrum is not None else message or " "
        if spectrum is None:
            return
        assert isinstance(self.bottom, NameAxis)
        at = np.arange(len(spectrum.kinds), dtype=float)
        self.bottom.set_names([Name(kind) for kind in spectrum.kinds])
        self.bars[0].set_columns(at - 0.38, at - 0.02, np.zeros_like(at), spectrum.before)
        self.bars[1].set_columns(at + 0.02, at + 0.38, np.zeros_like(at), spectrum.after)
        most = float(max(spectrum.before.max(initial=0), spectrum.after.max(initial=0))) or 1.0
        self.set_ranges((-0.6, len(at) - 0.4), (0.0, 1.08 * most))
        self.header.name_keys({self.bars[0]: "F(x)", self.bars[1]: "F(ρ(g)x)"})
        self._write()

    def _write(self) -> None:
        t = theme.current()
        self.header.write([(self._title, t.text, True)])

    def read(self, at: QPointF) -> str:
        found, k = self.spectrum, round(at.x())
        if found is None or not 0 <= k < len(found.kinds):
            return ""
        kind, count = found.kinds[k], found.counts[k]
        what = WORDS.get(kind, f"values of degree {kind[:-1]}")
        return (
            f"{count} × {kind}: {what}\nsize {figure(float(found.before[k]))}, after {figure(float(found.after[k]))}\n"
            f"components changed by {100 * float(found.mixed[k]):.3g} %"
        )

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "bars"):
            t = theme.current()
            for bars, colour in zip(self.bars, (t.first, t.second), strict=True):
                bars.setOpts(brush=fill(QColor(colour).name()))
            if self.spectrum is not None:
                self._write()
