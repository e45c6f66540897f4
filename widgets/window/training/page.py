"""The page of trainings: what the next one is done with, curves of all of them, and the controls of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSlider,
    QSpinBox,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.declare.card import ModelInfo
from explorer.declare.states.model_name import LIVE
from explorer.work.files.places import at_home
from widgets.base.controls.dialog import Dialog
from widgets.base.controls.elided_combo import ElidedCombo
from widgets.base.controls.progress import Progress
from widgets.base.look import theme
from widgets.window.training.fields import SPEEDS, Examples, Weights, beside, button, row_of
from widgets.window.training.kept import GoOn
from widgets.window.training.left import written_by_others
from widgets.window.training.panels import ErrorPanel, LossPanel
from widgets.window.training.run import Run, may_end
from widgets.window.training.told import Wanted

SIZE, SHOW_MS = (1000, 620), 100
RUNNING = 3  # trainings at once
BEFORE = "It runs beside the window, which shows the network while it learns."


class TrainPage(Dialog):
    """Stays beside the window, which goes on; closing it ends the trainings."""

    about = "Train"
    trained = Signal(str, str)  # card, path of its weights
    shown = Signal(str, str)  # card, path of the network as it is
    exported = Signal(object)  # the panel whose curves are to be saved
    gone = Signal(str)  # path of a network that was shown and is none any more

    def __init__(self, parent: QWidget, infos: Sequence[ModelInfo], chosen: str, folder: str) -> None:
        super().__init__(parent)
        self.setObjectName("train-page")
        self.setWindowTitle("Train")
        self.resize(*SIZE)
        self.infos: dict[str, ModelInfo] = {}
        self._folder = Path(folder or at_home("~"))
        self.chain = ""
        self.launch: Callable[[Run], object] = Run.start
        self.runs: list[Run] = []
        self.run: Run | None = None  # the one that is steered
        self._waiting: list[ModelInfo] = []  # to be started when another one is over
        self._due = QTimer(self, interval=SHOW_MS, singleShot=True)
        self._due.timeout.connect(self.draw)
        self._make_settings()
        self._make_charts()
        self._make_controls()
        self._build()
        self.offer(infos, chosen)
        theme.changes.changed.connect(self._dress)
        self._say(BEFORE)

    # parts ----------------------------------------------------------------------------------------------------
    def _make_settings(self) -> None:
        self.card = ElidedCombo()
        self.card.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.card.setMinimumContentsLength(16)
        self.card.currentIndexChanged.connect(lambda _: self._name_file())
        self.epochs = QSpinBox(minimum=0, maximum=100_000)
        self.epochs.setSpecialValueText("of its recipe")
        self.seed = QSpinBox(minimum=0, maximum=2**31 - 1)
        self.rate = QDoubleSpinBox(minimum=0.0001, maximum=100_000, value=1.0, decimals=4, singleStep=0.1)
        self.rate.setPrefix("× ")
        self.rate.setToolTip("What the learning rate of this network's own recipe is multiplied by, also while it runs")
        self.loss = QComboBox()
        self.loss.addItem("of its recipe", "")
        self.loss.setToolTip("The loss that is made small, also exchanged while it runs")
        self.speed = QComboBox()
        for text, speed in SPEEDS:
            self.speed.addItem(text, speed)
        self.examples = Examples()
        self.path = Weights(self._folder, self._taken)
        self.kept = GoOn(self.path, self.card)
        self.follow = QCheckBox("Show it in the window while it learns")
        self.follow.setChecked(True)
        self.follow.setToolTip("Off, the loss is drawn alone: no layer is measured, which costs the training nothing")
        self.follow.toggled.connect(self._followed)
        self.go = QPushButton("Start", default=True)
        self.go.clicked.connect(self.start)
        self.beside = button("Side by side with", "Networks on the same data, trained with it and drawn beside it")
        self.beside.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.beside.setMenu(QMenu(self.beside))
        self.rate.valueChanged.connect(lambda value: self._ask("rate", value))
        self.speed.currentIndexChanged.connect(lambda _: self._ask("speed", self.speed.currentData()))
        self.loss.activated.connect(lambda _: self._ask("loss", self.loss.currentData()))
        self.seed.setToolTip("Of the next start: parameters, the order of the examples and all noise are drawn from it")
        self.reseed = button("From here", "Draw all that is still to come in the training that runs from this seed")
        self.reseed.clicked.connect(lambda: self._ask("seed", self.seed.value()))

    def _make_charts(self) -> None:
        self.losses, self.errors = LossPanel(self), ErrorPanel(self)
        self.tabs = QTabWidget()
        for panel in (self.losses, self.errors):
            self.tabs.addTab(panel, panel.windowTitle())
            panel.rewound.connect(self._rewound)
            panel.changed.connect(self.draw)
        self.tabs.currentChanged.connect(lambda _: self.draw())
        self.export = button("Export…", "Save these curves as a figure or as numbers")
        self.export.clicked.connect(lambda: self.exported.emit(self.tabs.currentWidget()))
        self.fold = button(
            "Settings", "Off, the curves alone are here: a small screen has room for them beside the window"
        )
        self.fold.setCheckable(True)
        self.fold.setChecked(True)
        self.fold.toggled.connect(self._fold)
        self.tabs.setCornerWidget(row_of(self.export, self.fold))

    def _make_controls(self) -> None:
        self.which = QComboBox()
        self.which.setToolTip("The training that is steered, and shown in the window")
        self.which.setMinimumContentsLength(14)
        self.which.currentIndexChanged.connect(self._steer)
        self.play = button("Pause", other="Play")
        self.play.clicked.connect(self.toggle)
        self.one = button("One step")
        self.one.clicked.connect(self.single)
        self.finish = button("Finish here", "End now, judge the network and write its weights")
        self.finish.clicked.connect(lambda: self._ask("finish"))
        self.stop = button("Stop", "End at once; nothing is written")
        self.stop.clicked.connect(self.cancel)
        self.time = QSlider(Qt.Orientation.Horizontal)
        self.time.setToolTip("Go back to a step that is kept; the line in the chart does so too")
        self.time.setAccessibleName("Step")
        self.time.sliderMoved.connect(self._rewound)
        self.time.actionTriggered.connect(self._nudged)
        self.bar = Progress(textVisible=False, maximum=1000)
        self.bar.setFixedHeight(6)
        self.status = QLabel("\n", wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop)
        self.status.setMinimumHeight(self.status.sizeHint().height())  # of two lines, so that nothing is pushed or cut
        self.status.setAccessibleName("Training")

    def _build(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for text, box in (
            ("Network", self.card), ("Epochs", self.epochs), ("Seed", beside(self.seed, self.reseed)),
            ("Learning rate", self.rate), ("Loss", self.loss), ("Speed", self.speed),
            ("Examples", beside(self.examples, self.examples.browse)), ("Weights", beside(self.path, self.path.browse)),
        ):  # fmt: skip
            form.addRow(text, box)
        side = QVBoxLayout()
        side.addLayout(form)
        for widget in (self.follow, self.kept, self.go, self.beside):
            side.addWidget(widget)
        side.addStretch(1)
        close = QPushButton("Close", autoDefault=False)
        close.clicked.connect(self.reject)
        side.addWidget(close)
        self.settings = left = QWidget()
        left.setLayout(side)
        left.setFixedWidth(330)
        side.setContentsMargins(0, 0, 8, 0)
        steering = QHBoxLayout()
        steering.addWidget(row_of(self.which, self.play, self.one, self.finish, self.stop))
        steering.addWidget(self.time, 1)
        column = QVBoxLayout()
        column.addWidget(self.tabs, 1)
        column.addLayout(steering)
        column.addWidget(self.bar)
        column.addWidget(self.status)
        self.halves = whole = QHBoxLayout(self)
        whole.addWidget(left)
        whole.addLayout(column, 1)
        self._enable()

    def _fold(self, on: bool) -> None:
        wide = self.width() + (1 if on else -1) * (self.settings.width() + self.halves.spacing())
        self.settings.setVisible(on)
        self.halves.activate()
        self.resize(wide, self.height())

    # what is trained ------------------------------------------------------------------------------------------
    def offer(self, infos: Sequence[ModelInfo], chosen: str) -> None:
        """Offer other networks, of other data perhaps; what runs goes on."""
        self.infos = {info.name: info for info in infos}
        with QSignalBlocker(self.card):
            self.card.clear()
            for info in infos:
                self.card.addItem(info.title, info.name)
        self.choose(chosen)

    def choose(self, name: str) -> None:
        """Choose the network that is trained next."""
        self.card.setCurrentIndex(max(0, self.card.findData(name)))
        self._name_file()

    @property
    def info(self) -> ModelInfo:
        return self.infos[self.card.currentData()]

    def start(self) -> None:
        """Start a training of the chosen network."""
        path = self.path.path
        if self.run is not None:
            self.run.warning = ""
        if missing := self.examples.missing(self.info):
            self._refuse(missing)
            return
        if path.suffix != ".safetensors" or not path.parent.is_dir():
            self._refuse(f"Weights are written to FILE.safetensors in a folder that is there, not to {path}.")
            return
        if sum(run.process.running for run in self.runs) >= RUNNING:
            self._refuse(f"{RUNNING} trainings run already; stop one of them first.")
            return
        others = [self.infos[a.data()] for a in self.beside.menu().actions() if a.isChecked()]
        self._waiting += others
        self._start(self.info, self.path.take())
        if others:
            first = len(self.runs) - 1
            self.tabs.setCurrentIndex(1)
            self._start_waiting()
            self.which.setCurrentIndex(first)

    def _start(self, info: ModelInfo, path: Path) -> None:
        loss = str(self.loss.currentData()) if self.run is not None and self.run.info is info else ""
        wanted = Wanted(
            path, self.epochs.value(), self.seed.value(), self.rate.value(), loss, self.chain,
            examples=self.examples.path, goes_on=self.kept.wished and path == self.path.path,
        )  # fmt: skip
        run = Run(info, wanted, len(self.runs) + 1, self)
        run.changed.connect(self._changed)
        run.shown.connect(partial(self._show_live, run))
        run.over.connect(partial(self._over, run))
        self.runs.append(run)
        self.which.addItem(run.name)
        self._begin(run)
        self.which.setCurrentIndex(self.which.count() - 1)
        self.kept.look()
        self._changed()

    def _begin(self, run: Run) -> None:
        self.launch(run)
        if not self.follow.isChecked():
            run.process.ask("watch", value=False)
        run.process.ask("rate", value=self.rate.value())  # what goes on has had others, and this one is read here
        if speed := self.speed.currentData():
            run.process.ask("speed", value=speed)

    def _start_waiting(self) -> None:
        while self._waiting and sum(run.process.running for run in self.runs) < RUNNING:
            info = self._waiting.pop(0)
            self._start(info, self.path.free(info))

    def _name_file(self) -> None:
        self.path.propose(self.path.free(self.info))
        self.examples.of(self.info)
        self._offer_others()
        self._refuse("")  # of the network before
        if self.run is not None:
            self._offer(self.run)

    def _offer_others(self) -> None:
        """Offer the networks that take the same data, to be trained beside the chosen one."""
        menu, info = self.beside.menu(), self.info
        chosen = {a.data() for a in menu.actions() if a.isChecked()}
        menu.clear()
        for other in self.infos.values():
            if other is not info and other.input_shape == info.input_shape:
                action = menu.addAction(other.title)
                action.setData(other.name)
                action.setCheckable(True)
                action.setChecked(other.name in chosen)
        self.beside.setEnabled(bool(menu.actions()))

    def _taken(self) -> set[Path]:
        """Return the files that trainings have written or will write; one that was stopped leaves its own to others."""
        runs = [run for run in self.runs if run.process.running or run.resumable or run.wanted.path.exists()]
        return {run.wanted.path.absolute() for run in runs} | written_by_others()

    # steering -------------------------------------------------------------------------------------------------
    def _steer(self, index: int) -> None:
        self.run = self.runs[index] if 0 <= index < len(self.runs) else None
        self._followed(self.follow.isChecked())
        self.draw()

    def _ask(self, what: str, value: object = None) -> None:
        if (run := self.run) is None or not run.process.running:
            return
        run.warning = ""
        if value != "":
            run.process.ask(what, **({} if value is None else {"value": value}))
        if what == "loss":
            run.told.loss = str(value)

    def toggle(self) -> None:
        """Pause, or go on, also with what was cut off."""
        if self.run is not None and self.run.resumable:
            self.run.again()
            self._begin(self.run)
        elif self.run is not None:
            self._ask("play" if self.run.told.paused else "pause")
            self.run.told.paused = not self.run.told.paused
            self._enable()

    def single(self) -> None:
        """Make one step and stand."""
        if self.run is not None:
            if not self.run.told.paused:
                self._ask("pause")
            self._ask("step")
            self.run.told.paused = True
            self._enable()

    def cancel(self) -> None:
        """End the training that is steered."""
        if self.run is not None:
            self.run.process.stop()

    def _rewound(self, step: int) -> None:
        if self.run is not None:
            self.run.back(step)

    def _nudged(self, _: int) -> None:
        if self.run is not None and not self.time.isSliderDown():
            self.run.back(self.time.sliderPosition())

    # what a run says ------------------------------------------------------------------------------------------
    def _changed(self) -> None:
        if not self._due.isActive():
            self._due.start()

    def _show_live(self, run: Run, path: str = "") -> None:
        if run is self.run and run.process.running and self.follow.isChecked():
            self.shown.emit(run.info.name, str(Path(run.folder.name) / LIVE))

    def drawn(self, path: str) -> None:
        """Ask for the next network of the training whose file was drawn."""
        for run in self.runs:
            if run.folder.name == str(Path(path).parent):
                run.process.ask("shown")

    def learns(self, path: str) -> bool:
        """Say whether the network of that file is in training here."""
        return any(run.process.running and run.folder.name == str(Path(path).parent) for run in self.runs)

    def _followed(self, on: bool) -> None:
        for run in self.runs:
            run.process.ask("watch", value=on)
        if on and self.run is not None and self.run.told.live:
            self._show_live(self.run)

    def _over(self, run: Run, path: str) -> None:
        if path and run is self.run:
            self.trained.emit(run.info.name, path)
        elif not path:
            self.gone.emit(str(Path(run.folder.name) / LIVE))
        self._start_waiting()
        self._changed()

    def draw(self) -> None:
        """Show what was told: as often as it can be seen, not as often as it is told."""
        self._enable()
        run = self.run
        if run is None:
            return
        t = run.told
        self._offer(run)
        panel = self.losses if self.tabs.currentIndex() == 0 else self.errors
        panel.show_runs(self.runs, run)
        with QSignalBlocker(self.time):
            self.time.setRange(0, max(1, t.step, *(t.kept or [0])))
            if not self.time.isSliderDown():
                self.time.setValue(t.step)
        self.bar.setRange(0, 1000 if t.total else 0 if run.process.running else 1000)
        if t.total:
            self.bar.setValue(round(1000 * t.step / t.total))
        self._say(" ".join(filter(None, (run.sentence or run.progress(), run.warning))), bad=run.alarming)

    def _offer(self, run: Run) -> None:
        """Offer the losses of the run that is steered; of one that is over only to a next one of its network."""
        choices = run.told.choices if run.process.running or run.info is self.info else ()
        if list(choices) != [self.loss.itemData(k) for k in range(self.loss.count())][0 if choices else 1 :]:
            self.loss.clear()
            for name in choices or ("",):
                self.loss.addItem(name or "of its recipe", name)
        if choices:
            self.loss.setCurrentIndex(max(0, self.loss.findData(run.told.loss)))

    def _enable(self) -> None:
        run = self.run
        on = run is not None and run.process.running
        steered = on and run is not None and run.told.steered
        for box in (self.one, self.finish, self.stop):
            box.setEnabled(on)
        self.reseed.setEnabled(steered)
        self.export.setEnabled(bool(self.runs))
        self.time.setEnabled(steered and bool(run is not None and run.told.kept))
        self.loss.setEnabled(not on or (run is not None and len(run.told.choices) > 1))
        self.which.setVisible(len(self.runs) > 1)
        self.play.setEnabled(on or (run is not None and run.resumable))
        self.play.setText("Play" if run is not None and (run.told.paused or run.resumable) else "Pause")

    def _say(self, text: str, bad: bool = False) -> None:
        self.status.setText(text)
        self.status.setStyleSheet(f"color: {theme.current().bad if bad else theme.current().muted};")

    def _refuse(self, why: str) -> None:
        """Say why nothing is started; a training that runs says something ten times a second, so beside that."""
        if self.run is None:
            self._say(why or BEFORE, bad=bool(why))
        else:
            self.run.warning = why
            self.draw()

    def _dress(self) -> None:
        for panel in (self.losses, self.errors):
            panel.apply_theme()
        self.draw()

    def closeEvent(self, event: QCloseEvent) -> None:
        if event.spontaneous() and not may_end(self.runs, self.run):
            event.ignore()
            return
        self._waiting = []
        for run in self.runs:
            self.gone.emit(str(Path(run.folder.name) / LIVE))
            run.close()
        event.accept()  # QDialog would ask `reject`, which closes, and stay open

    def reject(self) -> None:
        if may_end(self.runs, self.run):
            self.close()
