"""The page of a training: what it is done with, its loss as a curve, start and stop."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.card import ModelInfo
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import LogAxis, ValueAxis
from widgets.charts.items.marks import ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.window.training.process import TrainProcess

SIZE = (560, 460)
SHOW_MS = 100
MOST = 4000  # points of the curve that are drawn; of more, every second one


class LossChart(Plot):
    """The loss after each step that was told, on a logarithmic axis."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=LogAxis("left"), bottom=ValueAxis("bottom", whole=True))
        self.steps: list[float] = []
        self.losses: list[float] = []
        self.line = self.add(pg.PlotCurveItem(), 1)
        self.message = "The loss is drawn here while it learns."
        self.dress()

    def clear_curve(self) -> None:
        self.steps, self.losses = [], []
        self.message = "Starting…"

    def add_step(self, step: int, loss: float) -> None:
        """Add a point; `draw` shows it."""
        if not (math.isfinite(loss) and loss > 0):
            return
        self.steps.append(step)
        self.losses.append(math.log10(loss))
        if len(self.steps) > MOST:
            self.steps, self.losses = self.steps[::2], self.losses[::2]

    def draw(self) -> None:
        """Show the points so far."""
        if not self.steps:
            return
        self.message = ""
        low, high = min(self.losses), max(self.losses)
        room = max(0.1, 0.05 * (high - low))
        self.set_ranges((0, max(1.0, float(self.steps[-1]))), (low - room, high + room))
        self.line.setData(np.array(self.steps, float), np.array(self.losses, float))

    def read(self, at: QPointF) -> str:
        if not self.steps:
            return ""
        k = int(np.abs(np.array(self.steps) - at.x()).argmin())
        return f"step {self.steps[k]:.0f}\nloss {figure(10 ** self.losses[k])}"

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "line"):
            self.line.setPen(ink(theme.current().first, 1.6))


class TrainPage(QDialog):
    """Stays beside the window, which goes on; closing it ends the training."""

    trained = Signal(str, str)  # card, path of its weights

    def __init__(self, parent: QWidget, info: ModelInfo, folder: str) -> None:
        super().__init__(parent)
        self.setObjectName("train-page")
        self.setWindowTitle(f"Train {info.title}")
        self.resize(*SIZE)
        self.info = info
        self.process = TrainProcess(self)
        self.epochs = QSpinBox(minimum=0, maximum=100_000)
        self.epochs.setSpecialValueText("as shipped")
        self.seed = QSpinBox(minimum=0, maximum=2**31 - 1)
        self.rate = QDoubleSpinBox(minimum=0.001, maximum=100_000, value=1.0, decimals=3, singleStep=0.5)
        self.rate.setPrefix("× ")
        self.rate.setToolTip("What the learning rate of this network's own recipe is multiplied by")
        self.path = QLineEdit(str(_free(Path(folder or Path.home()) / f"{info.name}.safetensors")))
        self.path.setToolTip("The weights are written here when the training is over")
        self.browse = QToolButton()
        self.browse.setText("…")
        self.browse.setAccessibleName("Choose the file")
        self.browse.clicked.connect(self._browse)
        self.chart = LossChart(self)
        self.bar = QProgressBar(textVisible=False, maximum=1000)
        self.bar.setFixedHeight(6)
        self._told: dict[str, object] = {}  # the last step, until it is shown
        self._shown = QTimer(self, interval=SHOW_MS, singleShot=True)
        self._shown.timeout.connect(self._show_step)
        self.status = QLabel(wordWrap=True)
        self.status.setAccessibleName("Training")
        self.go = QPushButton("Start")
        self.go.setDefault(True)
        self.go.clicked.connect(self.toggle)
        self._build()
        p = self.process
        p.stepped.connect(self._stepped)
        p.done.connect(self._done)
        p.failed.connect(self._failed)
        theme.changes.changed.connect(self.chart.dress)
        self._say("It runs beside the window, which stays as it is until the training is over.")

    def _build(self) -> None:
        form = QFormLayout()
        form.addRow("Epochs", self.epochs)
        form.addRow("Seed", self.seed)
        form.addRow("Learning rate", self.rate)
        file = QHBoxLayout()
        file.addWidget(self.path, 1)
        file.addWidget(self.browse)
        form.addRow("Weights", file)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        close = QPushButton("Close")
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        buttons.addWidget(close)
        buttons.addWidget(self.go)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.chart, 1)
        column.addWidget(self.bar)
        column.addWidget(self.status)
        column.addLayout(buttons)

    def _browse(self) -> None:
        if path := QFileDialog.getSaveFileName(self, "Weights", self.path.text(), "Weights (*.safetensors)")[0]:
            self.path.setText(path if path.endswith(".safetensors") else f"{path}.safetensors")

    def toggle(self) -> None:
        """Start, or stop what runs."""
        if self.process.running:
            self.process.stop()
            return
        path = Path(self.path.text()).expanduser()
        if path.suffix != ".safetensors" or not path.parent.is_dir():
            self._say(f"Weights are written to FILE.safetensors in a folder that is there, not to {path}.", bad=True)
            return
        self.chart.clear_curve()
        self.bar.setRange(0, 0)
        self._running(True)
        self._say("Starting…")
        self.process.start(self.info.name, str(path), self.epochs.value(), self.seed.value(), self.rate.value())

    def _running(self, on: bool) -> None:
        self.go.setText("Stop" if on else "Start")
        for box in (self.epochs, self.seed, self.rate, self.path, self.browse):
            box.setEnabled(not on)

    def _stepped(self, found: dict[str, object]) -> None:
        step, epoch, epochs = (int(str(found.get(key, 0))) for key in ("step", "epoch", "epochs"))
        epochs = epochs or self.epochs.value()
        losses = found.get("losses")
        loss = float(losses.get("loss", math.nan)) if isinstance(losses, dict) else math.nan
        self.chart.add_step(step, loss)
        self._told = {"step": step, "epoch": epoch, "epochs": epochs, "loss": loss}
        if not self._shown.isActive():
            self._shown.start()

    def _show_step(self) -> None:
        """Show the newest step: as often as it can be seen, not as often as it is told."""
        if not self._told:
            return
        step, epoch, epochs = (int(str(self._told[key])) for key in ("step", "epoch", "epochs"))
        loss = float(str(self._told["loss"]))
        self._told = {}
        self.chart.draw()
        if epochs:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * epoch / epochs))
        of = f"epoch {epoch} of {epochs}, " if epochs else ""
        self._say(f"{of}step {step:,}: loss {figure(loss)}")

    def _over(self) -> None:
        self._shown.stop()
        self._show_step()
        self._running(False)

    def _done(self, path: str, figures: dict[str, float]) -> None:
        self._over()
        self.bar.setRange(0, 1000)
        self.bar.setValue(1000)
        told = ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in figures.items())
        self._say(f"Trained{': ' + told if told else ''}. The window shows the network with these weights.")
        self.trained.emit(self.info.name, path)

    def _failed(self, sentence: str) -> None:
        self._over()
        self.bar.setRange(0, 1000)
        self.bar.setValue(0)
        self._say(sentence or "Stopped; nothing was written.", bad=bool(sentence))

    def _say(self, text: str, bad: bool = False) -> None:
        self.status.setText(text)
        t = theme.current()
        self.status.setStyleSheet(f"color: {t.bad if bad else t.muted};")

    def closeEvent(self, event: QCloseEvent) -> None:
        self.process.stop()
        super().closeEvent(event)

    def reject(self) -> None:
        self.close()


def _free(path: Path) -> Path:
    """Return a path of which there is no file yet."""
    k = 2
    found = path
    while found.exists():
        found, k = path.with_stem(f"{path.stem}-{k}"), k + 1
    return found
