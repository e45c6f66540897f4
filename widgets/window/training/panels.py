"""The curves of trainings as views, which are exported as every other one is: losses and figures, errors of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from widgets.base.controls.row import ControlRow
from widgets.base.view import View
from widgets.window.training.curves import ErrorChart, LossChart
from widgets.window.training.run import Run, Series

BESIDE = 3  # runs whose layers are drawn beside each other


class Panel(View):
    """Curves of trainings. It shows runs, not frames."""

    rewound = Signal(int)
    changed = Signal()  # another part of them is to be drawn

    def __init__(self, parent: QWidget, name: str) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.runs: Sequence[Run] = ()

    def show_runs(self, runs: Sequence[Run], steered: Run) -> None:
        """Draw the curves of runs; the line stands at the step of the one that is steered."""
        raise NotImplementedError

    def chosen(self, run: Run) -> Mapping[str, Series]:
        """Return the curves of a run that are drawn, by name."""
        raise NotImplementedError

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for run in self.runs:
            for name, points in self.chosen(run).items():
                found |= {f"{run.name}, {name}, step": points.x.copy(), f"{run.name}, {name}": points.y.copy()}
        return found

    def caption(self) -> str:
        told = (f"{run.name}, seed {run.wanted.seed}, rate × {run.wanted.rate:g}" for run in self.runs)
        return f"{self.windowTitle()} of trainings: {'; '.join(told)}." if self.runs else ""


class LossPanel(Panel):
    """The loss, a part of it or a figure, of all runs on one axis."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, "loss")
        self.setWindowTitle("Loss and figures")
        self.chart, self.level = LossChart(self), LossChart(self, log=False)
        self.scales = QStackedWidget()
        for chart in (self.chart, self.level):
            self.scales.addWidget(chart)
            chart.rewound.connect(self.rewound)
        self.part = QComboBox()
        self.part.addItem("loss")
        self.part.currentIndexChanged.connect(self.changed)
        self.log = QCheckBox("Logarithmic")
        self.log.setChecked(True)
        self.log.toggled.connect(self.changed)
        self.smooth = QSpinBox(minimum=1, maximum=1000, value=1)
        self.smooth.setPrefix("mean of ")
        self.smooth.setSuffix(" steps")
        self.smooth.setSpecialValueText("each step")
        self.smooth.valueChanged.connect(self.changed)
        column = QVBoxLayout(self)
        column.addWidget(ControlRow(self.part, self.log, self.smooth, margins=(0, 0, 0, 0)))
        column.addWidget(self.scales, 1)

    def show_runs(self, runs: Sequence[Run], steered: Run) -> None:
        self.runs = runs
        self._offer()
        chart = self.chart if self.log.isChecked() else self.level
        self.scales.setCurrentWidget(chart)
        chart.show_runs(runs, self.part.currentText(), self.smooth.value())
        chart.stand(steered)

    def chosen(self, run: Run) -> Mapping[str, Series]:
        part = self.part.currentText()
        return {name: points for name, points in (run.told.losses | run.told.figures).items() if name == part}

    def _offer(self) -> None:
        names = list(dict.fromkeys(["loss", *(n for r in self.runs for n in (*r.told.losses, *r.told.figures))]))
        if names != [self.part.itemText(k) for k in range(self.part.count())]:
            with QSignalBlocker(self.part):
                chosen = self.part.currentText()
                self.part.clear()
                self.part.addItems(names)
                self.part.setCurrentText(chosen)

    def apply_theme(self) -> None:
        for chart in (self.chart, self.level):
            chart.dress()


class ErrorPanel(Panel):
    """The error of every layer, of the last runs beside each other on one axis."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, "error-while-learning")
        self.setWindowTitle("Error of each layer")
        self.charts = [ErrorChart(self) for _ in range(BESIDE)]
        row = QHBoxLayout(self)
        for chart in self.charts:
            row.addWidget(chart, 1)
            chart.rewound.connect(self.rewound)

    def show_runs(self, runs: Sequence[Run], steered: Run) -> None:
        self.runs = shown = [run for run in runs if run.told.errors][-BESIDE:]
        for chart, run in zip(self.charts, shown, strict=False):
            chart.show_run(run)
            chart.stand(run if run is steered else None)
        for k, chart in enumerate(self.charts):
            chart.setVisible(k < max(1, len(shown)))
        ends = np.array([chart.ends for chart in self.charts[: len(shown)]])
        for chart in self.charts[: len(shown)]:  # one axis for all
            chart.fix_range(float(ends[:, 0].min()), float(ends[:, 1].max()), float(ends[:, 2].max()))

    def chosen(self, run: Run) -> Mapping[str, Series]:
        return run.told.errors

    def apply_theme(self) -> None:
        for chart in self.charts:
            chart.dress()
