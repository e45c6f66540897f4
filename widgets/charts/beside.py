"""Charts of one kind beside each other, one for each network that is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtWidgets import QWidget

from widgets.charts.adaptive import Adaptive

Chart = TypeVar("Chart", bound=QWidget)


class Beside(QWidget, Generic[Chart]):
    """As many charts as are asked for; they are made once, and those that are not needed are hidden."""

    def __init__(self, make: Callable[[], Chart], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._row = Adaptive(self)
        self._row.setSpacing(6)
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
