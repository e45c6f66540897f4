"""The curves of trainings as views, which are exported as every other one is: losses and figures, errors of layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QMenu,
    QSpinBox,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from widgets.base.controls.row import ControlRow
from widgets.base.view import View
from widgets.window.training.curves import ErrorChart, LossChart, parts_of
from widgets.window.training.run import Run
from widgets.window.training.told import Series

BESIDE = 3  # runs whose layers are drawn beside each other
PARTS = "parts of the loss"  # of the run that is steered, on one axis: D beside G, reconstruction beside divergence
OVERLAID = 8  # runs that are drawn until somebody chooses others: as many as there are colours


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
        """Say with what settings the runs were started, and what was changed since."""
        told = [
            f"{run.name}, seed {run.wanted.seed}, rate × {run.wanted.rate:g}"
            + (f" ({run.told.changes})" if run.told.changes else "")
            for run in self.runs
        ]
        return f"{self.windowTitle()} of trainings: {'; '.join(told)}." if self.runs else ""


class LossPanel(Panel):
    """The loss, a part of it or a figure, of all runs on one axis; or all parts of the loss of one run."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, "loss")
        self.setWindowTitle("Loss and figures")
        self.chart, self.level = LossChart(self), LossChart(self, log=False)
        self.scales = QStackedWidget()
        for chart in (self.chart, self.level):
            self.scales.addWidget(chart)
            chart.rewound.connect(self.rewound)
        self.part = QComboBox()
        self.part.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)  # parts are known once it learns
        self.part.addItem("loss", "loss")
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
        self.overlaid = Overlaid()
        self.overlaid.menu().triggered.connect(lambda _: self.changed.emit())
        column.addWidget(ControlRow(self.part, self.log, self.smooth, self.overlaid, margins=(0, 0, 0, 0)))
        column.addWidget(self.scales, 1)

    def show_runs(self, runs: Sequence[Run], steered: Run) -> None:
        self.runs = runs = self.overlaid.of(runs, steered)
        self._offer(steered)
        if self.part.currentData() == PARTS:
            self.runs = runs = [steered]
        # minus a likelihood, say, may be below zero, where a logarithm has no place
        below = any((points.y < 0).any() for run in runs for points in self.chosen(run).values())
        chart = self.chart if self.log.isChecked() and not below else self.level
        self.log.setEnabled(not below)
        self.log.setToolTip("Values below zero have no logarithm: the axis is level" if below else "")
        self.scales.setCurrentWidget(chart)
        if self.part.currentData() == PARTS:
            chart.show_parts(steered, self.smooth.value())
        else:
            chart.show_runs(runs, self.part.currentData(), self.smooth.value())
        chart.stand(steered)

    def chosen(self, run: Run) -> Mapping[str, Series]:
        part = self.part.currentData()
        if part == PARTS:
            return parts_of(run)
        return {name: points for name, points in (run.told.losses | run.told.figures).items() if name == part}

    def _offer(self, steered: Run) -> None:
        parts = [PARTS] if len(parts_of(steered)) > 1 else []
        told = (name for run in self.runs for name in (*run.told.losses, *run.told.figures))
        names = list(dict.fromkeys(["loss", *parts, *told]))
        if names != [self.part.itemData(k) for k in range(self.part.count())]:
            with QSignalBlocker(self.part):
                chosen = self.part.currentData()
                self.part.clear()
                for name in names:
                    self.part.addItem(name.replace("_", " "), name)  # as in the line below the curves
                self.part.setCurrentIndex(max(0, self.part.findData(chosen)))

    def apply_theme(self) -> None:
        for chart in (self.chart, self.level):
            chart.dress()


class Overlaid(QToolButton):
    """Chooses the runs whose curves are drawn over each other, where there are several."""

    def __init__(self) -> None:
        super().__init__()
        self.setText("Runs")
        self.setToolTip("The trainings that are drawn; the one that is steered always is")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setMenu(QMenu(self))
        self._actions: dict[int, QAction] = {}  # by the numbers of the runs
        self.hide()

    def of(self, runs: Sequence[Run], steered: Run) -> list[Run]:
        """Return those that are drawn: the one that is steered, then the newest first."""
        for run in runs:
            if run.number not in self._actions:
                self._actions[run.number] = action = self.menu().addAction(run.name)
                action.setCheckable(True)
                action.setChecked(True)
                for other in runs:  # a loss on other data, of a long training, would leave this one no room
                    known = other is not run and other.number in self._actions
                    if known and other.info.input_shape != run.info.input_shape:
                        self._actions[other.number].setChecked(False)
                for old in [a for a in self._actions.values() if a.isChecked()][:-OVERLAID]:
                    old.setChecked(False)
        self.setVisible(len(runs) > 1)
        for number, action in self._actions.items():
            action.setEnabled(number != steered.number)
        others = [run for run in reversed(runs) if run is not steered]
        return [steered, *(run for run in others if self._actions[run.number].isChecked())]


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
        others = [run for run in runs if run.told.errors and run is not steered]
        few = {run.number for run in (*others[1 - BESIDE :], steered)}
        self.runs = shown = [run for run in runs if run.number in few and run.told.errors]
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
