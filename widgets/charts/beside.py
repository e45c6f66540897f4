"""Charts of one kind beside each other, one for each network that is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QBoxLayout, QWidget

from widgets.charts.adaptive import Adaptive

Chart = TypeVar("Chart", bound=QWidget)

READABLE = QSize(560, 300)  # pixels: of exported charts that are narrower on the screen


def readable_size(view: QWidget) -> QSize:
    """Return a size at which headings are whole, as the `figure_size` of a view: below the stage it may be narrow."""
    return view.size().expandedTo(READABLE)


class Beside(QWidget, Generic[Chart]):
    """As many charts as are asked for; they are made once, and those that are not needed are hidden."""

    def __init__(
        self, make: Callable[[], Chart], layout: Callable[[QWidget], QBoxLayout] = Adaptive, gap: int = 6
    ) -> None:  # fmt: skip
        """Make the first one.

        Args:
            layout: makes the box that they lie in.
            gap: pixels between two of them.
        """
        super().__init__()
        self._make, self._row = make, layout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(gap)
        self.charts: list[Chart] = []
        self.first(1)

    def first(self, count: int) -> list[Chart]:
        """Show so many charts, and return them."""
        while len(self.charts) < count:
            chart = self._make()
            self.charts.append(chart)
            self._row.addWidget(chart, 1)
        for k, chart in enumerate(self.charts):
            chart.setVisible(k < count)
        return self.charts[:count]
