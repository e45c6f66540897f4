"""The window with a fake engine: what a person clicks, presses, drops and closes."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QSettings, QSize, Qt, QUrl
from PySide6.QtGui import (
    QAction,
    QColor,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QGuiApplication,
    QKeySequence,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QSpinBox,
    QTabBar,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from explorer.declare.elements import chain_text, parse_chain
from explorer.square.frame import Failure, Frame
from explorer.state.catalogue import Busy, Catalogue, SampleInfo
from explorer.state.session import load_session, save_session
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, activate
from tests.widgets.parts.frames.fake_engine import FakeEngine
from tests.widgets.parts.frames.mesh_frames import mesh_frame
from tests.widgets.parts.frames.sample_catalogue import make_info
from widgets.base.look import theme
from widgets.base.view import View, ViewSpec, Wish
from widgets.views.log import VIEW as LOG
from widgets.window.bars.palette import score
from widgets.window.lessons.course import LESSONS
from widgets.window.main_window import MainWindow


class Probe(View):
    """A view that writes down what it is told."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frames: list[Frame | None] = []
        self.orbits: list[Any] = []
        self.catalogues: list[Any] = []
        self.themes: list[str] = []
        self.line = QLineEdit()
        self.button = QPushButton("press")
        self.box = QComboBox()
        self.box.addItems(["one", "two"])
        column = QVBoxLayout(self)
        for widget in (QLabel("probe"), self.line, self.button, self.box):
            column.addWidget(widget)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_frame(self, frame: Frame | None) -> None:
        self.frames.append(frame)

    def show_orbit(self, curves: Any) -> None:
        self.orbits.append(curves)

    def show_catalogue(self, catalogue: Any) -> None:
        self.catalogues.append(catalogue)

    def apply_theme(self) -> None:
        self.themes.append(theme.current().name)


SPECS = (
    ViewSpec("stage", "Stage", Probe, "center", 0, "The square.", "Ctrl+1"),
    ViewSpec("filters", "Filters", Probe, "center", 1),
    ViewSpec("gallery", "Gallery", Probe, "left", 0),
    ViewSpec("layers", "Layers", Probe, "left", 1),
    ViewSpec("inspector", "Transform", Probe, "right", 0),
    ViewSpec("errors", "Errors", Probe, "bottom", 0),
    ViewSpec("orbit", "Orbit", Probe, "bottom", 1),
    LOG,
)


class Bench:
    """Windows with a fake engine each, closed at the end."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.folder = folder
        self.windows: list[MainWindow] = []

    def settings(self) -> QSettings:
        return QSettings(str(self.folder / "settings.ini"), QSettings.Format.IniFormat)

    def window(
        self,
        specs: Any = SPECS,
        start: Callable[[], Any] | None = None,
        state: State | None = None,
        ready: bool = True,
        size: QSize | None = None,
    ) -> MainWindow:
        engine = FakeEngine()
        window = MainWindow(start or (lambda: engine), state or State(sample="digit-3"), self.settings(), specs)
        window.engine = engine  # type: ignore[attr-defined]
        self.windows.append(window)
        if size is not None:
            window.resize(size)
        with self.qtbot.waitExposed(window):
            window.show()
        window.activateWindow()
        window.controller.begin()
        if ready:
            self.until(lambda: window.controller.frame is not None and not window.controller.waiting)
        return window

    def until(self, condition: Callable[[], Any]) -> None:
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=LONGEST_MS)

    def settle(self, window: MainWindow) -> None:
        self.until(lambda: not window.controller.waiting)

    def press(self, window: MainWindow, keys: str) -> None:
        """Press a key combination where the focus is."""
        combination = QKeySequence(keys)[0]
        target = QApplication.focusWidget() or window
        self.qtbot.keyClick(target, combination.key(), combination.keyboardModifiers())

    def close(self) -> None:
        for window in self.windows:
            window.engine.gate.set()  # type: ignore[attr-defined]
            window.close()
            window.deleteLater()
        self.windows.clear()


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    it = Bench(qtbot, tmp_path)
    yield it
    it.close()
    theme.use("light")


def view(window: MainWindow, name: str) -> Probe:
    found = window.panes.named(name)
    assert isinstance(found, Probe)
    return found


def steps(window: MainWindow) -> str:
    return chain_text(window.controller.state.steps)


def trigger(window: MainWindow, name: str) -> None:
    window.menus.actions[name].trigger()


def action_named(menu: QMenu, text: str) -> QAction:
    return next(a for a in menu.actions() if a.text() == text)


# ---- opening and closing


@pytest.mark.parametrize("size", [QSize(1280, 800), QSize(900, 640)])
@pytest.mark.slow
def test_the_window_opens_with_the_views_that_there_are(bench: Bench, size: QSize) -> None:
    """With the real views: nothing is known of them here but their base class."""
    window = bench.window(specs=None, size=size)
    assert window.size() == size, "no panel asks for more than there is"
    bench.until(lambda: window.controller.curves and window.controller.curves[0].done == 72)
    window.controller.grant(Wish(changes={"compare": "c4-cnn", "layer": "relu1"}, step=("rotate", (30.0,))))
    bench.settle(window)
    for spec in window.panes.specs:
        window.show_view(spec.name)
    trigger(window, "untransform")
    window.set_theme("dark")
    bench.settle(window)


@pytest.mark.parametrize("turn", range(5))
def test_opening_and_closing_leaves_nothing(bench: Bench, turn: int) -> None:
    before = threading.active_count()
    window = bench.window(specs=None)
    window.controller.player.start()
    window.controller.randomise()
    window.close()
    assert threading.active_count() == before
    assert not window.controller.player.playing


def test_closing_twice_and_while_loading(bench: Bench) -> None:
    go = threading.Event()

    def start() -> FakeEngine:
        go.wait(10)
        return FakeEngine()

    window = bench.window(start=start, ready=False)
    bench.until(lambda: window.loading.isVisible() and "PyTorch" in window.loading.text.text())
    go.set()
    window.close()
    window.close()
    assert not window.isVisible()


def test_until_the_first_frame_there_is_a_loading_page(bench: Bench) -> None:
    go = threading.Event()
    engine = FakeEngine()

    def start() -> FakeEngine:
        go.wait(10)
        return engine

    window = bench.window(start=start, ready=False)
    bench.until(lambda: window.loading.text.text() == "Loading PyTorch…")
    assert window.loading.bar.isVisible() and not window.status.bar.isVisible()
    assert not window.menus.actions["undo"].isEnabled()
    bench.until(window.isActiveWindow)
    QTest.keyClick(window.windowHandle(), Qt.Key.Key_Space)  # the key goes to whoever has the focus
    assert QApplication.activePopupWidget() is None, "a list of the tool bar was opened"
    go.set()
    bench.until(lambda: window.panes.isVisible())
    assert not window.loading.isVisible()


def test_a_start_that_fails_is_a_page_and_not_a_box(bench: Bench) -> None:
    def start() -> FakeEngine:
        raise ImportError("libcudart.so.12: cannot open shared object file")

    window = bench.window(start=start, ready=False)
    bench.until(lambda: "could not be started" in window.loading.title.text())
    assert "libcudart" in window.loading.text.text() and not window.loading.bar.isVisible()
    assert window.docks.docks["log"].isVisible()
    window.loading.copy_button.click()
    assert "Traceback" in QGuiApplication.clipboard().text()
    bench.until(lambda: not window.status.bar.isVisible())
    window.loading.quit_button.click()
    assert not window.isVisible()


def test_it_says_when_it_is_on_screen(bench: Bench, qtbot: QtBot) -> None:
    window = MainWindow(FakeEngine, State(), bench.settings(), SPECS)
    with qtbot.waitSignal(window.on_screen):
        window.show()
    window.close()
    window.deleteLater()


# ---- frames and views


def test_every_view_gets_what_there_is_when_it_is_seen(bench: Bench) -> None:
    window = bench.window()
    bench.until(lambda: window.controller.curves and window.controller.curves[0].done == 72)
    assert view(window, "stage").frames[-1] is window.controller.frame
    hidden = view(window, "layers")
    assert hidden.frames == [] and len(hidden.catalogues) == 1
    window.show_view("layers")
    assert hidden.frames == [window.controller.frame] and hidden.orbits[-1][0].done == 72


def test_a_view_that_breaks_does_not_take_the_others_with_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    window = bench.window()
    caught: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: caught.append(str(error)))
    monkeypatch.setattr(view(window, "errors"), "show_frame", lambda frame: 1 / 0)
    count = len(view(window, "stage").frames)
    window.controller.grant(Wish(step=("rotate", (5.0,))))
    bench.settle(window)
    assert len(view(window, "stage").frames) > count
    bench.until(lambda: caught)  # each view draws in a turn of its own
    assert caught == ["division by zero"]
    log = window.panes.named("log")
    assert "Errors: ZeroDivisionError" in log.text()  # type: ignore[attr-defined]


def test_a_wish_of_a_view_is_granted_and_the_title_follows(bench: Bench) -> None:
    window = bench.window()
    view(window, "stage").wished.emit(Wish(step=("rotate", (90.0,))))
    bench.settle(window)
    bench.until(lambda: window.windowTitle() == "D4 group CNN · <digit-3> · rotate:90 — Equiscope")
    trigger(window, "reset")
    assert window.windowTitle() == "D4 group CNN · <digit-3> · identity — Equiscope"


def test_the_read_out_is_in_the_status_bar(bench: Bench) -> None:
    window = bench.window()
    width = window.minimumSizeHint().width()
    view(window, "stage").hovered.emit("row 3, column 4: 0.25 " * 40)
    assert window.status.reading.text().startswith("row 3")
    assert window.minimumSizeHint().width() == width
    view(window, "stage").hovered.emit("")
    assert window.status.reading.text() == ""


def test_time_and_device_are_read_out(bench: Bench) -> None:
    window = bench.window()
    assert window.quick.time.text() == "12.3 ms"
    assert window.quick.device.itemText(0) == "auto (cpu)"
    assert [window.quick.device.itemData(i) for i in range(3)] == ["auto", "cpu", "cuda:0"]
    window.quick.device.setCurrentIndex(1)
    window.quick.device.activated.emit(1)
    window.quick.dtype.activated.emit(window.quick.dtype.currentIndex())
    assert window.controller.state.device == "cpu"
    window.controller.undo()
    assert window.quick.device.currentData() == "auto"


def test_busy_shows_progress_and_a_way_to_cancel(bench: Bench) -> None:
    window = bench.window()
    window.engine.gate.clear()  # type: ignore[attr-defined]
    window.controller.grant(Wish(step=("rotate", (5.0,))))
    bench.until(lambda: window.status.cancel.isVisible())
    assert window.status.doing.text() == "Computing…"
    height = window.status.height()
    window.status.cancel.click()
    bench.until(lambda: not window.status.cancel.isVisible())
    assert window.status.height() == height
    window.show_busy(Busy("Training…", 0.25))
    assert window.status.bar.value() == 250


# ---- the error bar


def test_an_error_keeps_the_last_frame_and_goes_with_the_next(bench: Bench) -> None:
    window = bench.window()
    good = window.controller.frame
    engine = window.engine  # type: ignore[attr-defined]
    engine.error = ValueError("kernel 5 is larger than the image, choose a larger sample")
    window.controller.grant(Wish(step=("rotate", (5.0,))))
    bench.until(window.infobar.isVisible)
    assert "kernel 5 is larger" in window.infobar.text.text()
    assert QApplication.activeModalWidget() is None
    assert window.panes.isVisible() and view(window, "stage").frames[-1] is good
    window.infobar.details_button.click()
    log = window.panes.named("log")
    assert log.isVisible() and "Traceback" in log.text()  # type: ignore[attr-defined]
    engine.error = None
    window.controller.grant(Wish(step=("rotate", (6.0,))))
    bench.until(lambda: not window.infobar.isVisible())


def test_a_long_error_wraps_and_can_be_closed(bench: Bench) -> None:
    window = bench.window(size=QSize(1000, 700))
    window.say_failure(Failure(State(), "What went wrong takes many words. " * 12, "layer conv2", ""))
    bench.until(lambda: window.infobar.height() > 3 * window.infobar.fontMetrics().height())
    assert window.width() == 1000
    assert window.infobar.text.text().endswith("—  layer conv2")
    assert not window.infobar.details_button.isVisible()
    window.infobar.close_button.click()
    assert not window.infobar.isVisible()


def test_a_message_about_a_file_outlives_the_next_frame(bench: Bench) -> None:
    window = bench.window()
    window.say("info", "Saved x.json")
    window.controller.randomise()
    bench.settle(window)
    assert window.infobar.isVisible()


def test_what_went_well_goes_away_and_what_went_wrong_stays(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widgets.window.bars.infobar.GONE_MS", 100)
    window = bench.window()
    window.say("info", "Saved x.json")
    assert window.infobar.isVisible() and window.infobar.passing
    bench.until(lambda: not window.infobar.isVisible())
    window.say("info", "Saved x.json")
    window.say_failure(Failure(State(), "no"))
    assert window.infobar.isVisible() and not window.infobar.passing


def test_what_is_said_of_a_model_stays_until_the_model_is_shown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("widgets.window.bars.infobar.GONE_MS", 50)
    window = bench.window()
    asked: list[bool] = []

    def awaited() -> bool:
        asked.append(True)
        return True  # a network that takes its time

    window.infobar.awaited = awaited
    window.say("info", "x.npz is a cloud of points: now SchNet is shown.")
    bench.until(lambda: len(asked) > 2)  # it would have gone more than twice
    assert window.infobar.isVisible() and window.infobar.passing
    window.infobar.awaited = lambda: False
    bench.until(lambda: not window.infobar.isVisible())


# ---- keys


def test_keys_of_the_element(bench: Bench) -> None:
    window = bench.window()
    view(window, "stage").setFocus()
    bench.press(window, "F")
    assert steps(window) == "reflect:horizontal"
    bench.press(window, "F")
    bench.press(window, "[")
    assert steps(window) == "rotate:90"
    bench.press(window, "]")
    bench.press(window, "]")
    assert steps(window) == "rotate:-90"
    bench.press(window, "Ctrl+0")
    assert steps(window) == ""
    bench.press(window, "Space")
    exact = steps(window)
    assert exact
    bench.press(window, "Ctrl+I")
    bench.press(window, "Ctrl+Z")
    assert steps(window) == exact
    bench.press(window, "Shift+Space")
    assert steps(window) not in ("", exact)
    bench.press(window, "U")
    assert window.controller.state.untransform and window.menus.actions["untransform"].isChecked()


def test_undo_and_redo_by_key_and_their_menu_entries(bench: Bench) -> None:
    window = bench.window()
    undo, redo = window.menus.actions["undo"], window.menus.actions["redo"]
    assert (undo.isEnabled(), redo.isEnabled()) == (False, False)
    bench.press(window, "[")
    bench.press(window, "[")
    bench.press(window, "Ctrl+Z")
    assert steps(window) == "rotate:90" and undo.isEnabled() and redo.isEnabled()
    bench.press(window, "Ctrl+Y")
    assert steps(window) == "rotate:180"
    bench.press(window, "Ctrl+Z")
    bench.press(window, "Ctrl+Shift+Z")
    assert steps(window) == "rotate:180" and not redo.isEnabled()


def test_arrows_shift_while_the_stage_has_the_focus(bench: Bench) -> None:
    window = bench.window()
    view(window, "stage").setFocus()
    for key in ("Right", "Right", "Down", "Left", "Up", "Up"):
        bench.press(window, key)
    assert steps(window) == "translate:1,-1"
    bench.press(window, "Ctrl+Z")
    assert steps(window) == "", "a run of arrows is one entry"
    view(window, "inspector").line.setFocus()
    bench.press(window, "Right")
    assert steps(window) == ""


def test_keys_belong_to_the_widget_that_takes_them(bench: Bench) -> None:
    window = bench.window()
    panel = view(window, "inspector")
    panel.line.setFocus()
    bench.qtbot.keyClicks(panel.line, "F [u] p")
    assert panel.line.text() == "F [u] p" and steps(window) == ""
    pressed: list[int] = []
    panel.button.clicked.connect(lambda: pressed.append(1))
    panel.button.setFocus()
    bench.press(window, "Space")
    assert pressed == [1] and steps(window) == ""
    panel.box.setFocus()
    bench.press(window, "Down")
    assert panel.box.currentText() == "two"


def test_play_and_cancel_by_key(bench: Bench) -> None:
    window = bench.window()
    view(window, "stage").setFocus()
    bench.press(window, "P")
    assert window.controller.player.playing and window.menus.actions["play"].text() == "&Pause orbit"
    bench.until(lambda: steps(window))
    window.say("info", "something")
    bench.press(window, "Esc")
    assert not window.controller.player.playing and not window.infobar.isVisible()
    trigger(window, "play")
    trigger(window, "play")
    assert not window.controller.player.playing


def test_no_key_is_given_twice(bench: Bench) -> None:
    window = bench.window(specs=None)
    keys: dict[str, str] = {}
    for name, action in window.menus.actions.items():
        for sequence in action.shortcuts():
            text = sequence.toString()
            assert text not in keys, f"{text} is the key of both {keys[text]} and {name}"
            keys[text] = name
    for wanted in ("Space", "Shift+Space", "Ctrl+Z", "Ctrl+Y", "Ctrl+S", "Ctrl+E", "F1", "F", "U", "P", "Esc"):
        assert wanted in keys
    assert {"Ctrl+Shift+P", "Ctrl+Shift+Z", "Left", "Up", "[", "]"} <= set(keys)


# ---- menus


def test_the_models_are_in_a_menu_by_domain_and_row(bench: Bench) -> None:
    window = bench.window()
    menu = window.menus.menus["Model"]
    grids = action_named(menu, "Images").menu()
    assert isinstance(grids, QMenu)
    assert [a.text() for a in grids.actions()] == ["Plain CNN  (G3)", "C4 group CNN  (G7)", "D4 group CNN  (G7)"]
    assert [a.isChecked() for a in grids.actions()] == [False, False, True]
    action_named(grids, "Plain CNN  (G3)").trigger()
    assert window.controller.state.model == "plain-cnn"
    assert action_named(grids, "Plain CNN  (G3)").isChecked()
    compare = action_named(menu, "Compare with").menu()
    assert isinstance(compare, QMenu)
    assert [a.text() for a in compare.actions()] == ["C4 group CNN  (G7)", "D4 group CNN  (G7)"], "of its kind alone"
    action_named(compare, "D4 group CNN  (G7)").trigger()
    assert window.controller.state.compare == "d4-cnn"
    trigger(window, "alone")
    assert window.controller.state.compare == ""


def test_samples_and_transforms_are_in_menus(bench: Bench) -> None:
    window = bench.window()
    action_named(window.menus.menus["Data"], "A flower").trigger()
    assert window.controller.state.sample == "flower"
    trigger(window, "reflect_vertical")
    trigger(window, "brightness_0+")
    assert steps(window) == "reflect:vertical+brightness:1.05"
    trigger(window, "translate_orbit")
    assert window.controller.state.orbit == "translate"
    window.controller.set_model("gcn")
    assert not window.menus.actions["menu_rotate"].isVisible()
    assert not window.menus.actions["turn_left"].isVisible()


def test_device_precision_and_speed_are_in_menus(bench: Bench) -> None:
    window = bench.window()
    run = window.menus.menus["Run"]
    for title, entry in (("&Device", "cuda:0"), ("P&recision", "float64"), ("Orbit &speed", "2×")):
        inner = action_named(run, title).menu()
        assert isinstance(inner, QMenu)
        action_named(inner, entry).trigger()
        assert [a.text() for a in inner.actions() if a.isChecked()] == [entry]
    assert (window.controller.state.device, window.controller.state.dtype) == ("cuda:0", "float64")
    assert window.controller.player.speed == 2.0


# ---- palette


def test_the_palette_finds_and_runs_an_action(bench: Bench) -> None:
    window = bench.window()
    view(window, "stage").setFocus()
    bench.press(window, "Ctrl+Shift+P")
    box = window.palette_box
    assert box.isVisible() and QApplication.focusWidget() is box.line
    assert len(box.shown()) > 30 and box.shown()[0] == "File › Open data"
    bench.qtbot.keyClicks(box.line, "rot left")
    assert box.shown()[0] == "Transform › Rotate by 90° to the left"
    bench.press(window, "Return")
    assert not box.isVisible() and steps(window) == "rotate:90"


def test_the_palette_reaches_models_and_views_and_is_left_by_escape(bench: Bench) -> None:
    window = bench.window()
    trigger(window, "palette")
    box = window.palette_box
    bench.qtbot.keyClicks(box.line, "plain c")
    assert box.shown()[0] == "Model › Images › Plain CNN  (G3)"
    bench.press(window, "Down")
    bench.press(window, "Up")
    bench.press(window, "Up")  # round to the last
    assert box.list.currentIndex().row() == len(box.shown()) - 1
    window.controller.player.start()
    bench.press(window, "Esc")
    assert not box.isVisible() and window.controller.player.playing, "Escape is for the palette alone"
    trigger(window, "palette")
    bench.qtbot.keyClicks(box.line, "zzzz")
    assert box.shown() == []
    bench.press(window, "Return")
    view(window, "stage").setFocus()
    assert not box.isVisible(), "it goes when one clicks elsewhere"


def test_what_one_does_comes_before_files_and_names_are_whole(bench: Bench, tmp_path: Path) -> None:
    window = bench.window(size=QSize(1000, 700))
    for k in range(3):
        (tmp_path / f"open-{k}.json").write_text("{}")
        window.files.remember(str(tmp_path / f"open-{k}.json"))
    trigger(window, "palette")
    box = window.palette_box
    assert not any(path.startswith("File › Open recent") for path in box.shown()[:40]), (
        "nothing typed: they are the last"
    )
    bench.qtbot.keyClicks(box.line, "open")
    found = [path for path in box.shown() if "open" in path.lower()]
    files = [path.startswith("File › Open recent") for path in found]
    assert files == sorted(files) and sum(files) >= 3 and not files[0], "what opens anything, then single files"
    metrics = box.list.fontMetrics()
    names = [path.rpartition(" › ")[2] for path, action in box.offered if not action.property("file")]
    assert max(map(metrics.horizontalAdvance, names)) + 12 <= box.list.columnWidth(0)
    bench.press(window, "Esc")


def test_scores() -> None:
    names = ["Edit › Undo", "Edit › Redo", "View › Reset layout", "Transform › Rotate by 90° to the left"]

    def best(query: str) -> str:
        return max((n for n in names if score(query, n) is not None), key=lambda n: score(query, n) or 0.0)

    assert best("undo") == names[0]
    assert best("re") == names[1]
    assert best("rl") == names[2]
    assert best("90 rot") == names[3]
    assert score("xyz", names[0]) is None and score("", names[0]) is not None
    digits = [f"Data › {path}" for path in ("Sets › 40 digits", "Images › Digit 4 … Grating › Digit 4 b")]
    digits += ["Data › Images › Digit 4 … Grating › Digit 4"]
    assert max(digits, key=lambda n: score("digit 4", n) or 0.0) == digits[-1]
    layers = ["Layer › Zero conv3", "Layers › conv3"]
    assert max(layers, key=lambda n: score("conv3", n) or 0.0) == layers[1]
    # letters that happen to occur one after the other are no name
    for name in ("Graphs › Graph convolution, attention", "Points and molecules › LieTransformer: attention (E4)"):
        assert score("animation", f"Model › {name}") is None
    run = "Transform › {0} › Run the orbit along {0}"
    assert (score("run trans", run.format("Dilation")) or 0.0) < (score("run trans", run.format("Translation")) or 0.0)
    assert score("animation", "File › Export orbit as GIF/MP4", "Make an animation of the orbit") is not None
    assert (score("orbit", "Edit › Undo", "Back along the orbit") or 0.0) < (score("orbit", "Run › Play orbit") or 0.0)


# ---- files


def drag_enter(x: int, y: int, mime: QMimeData) -> QDragEnterEvent:
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    try:
        return QDragEnterEvent(QPointF(x, y), copy, mime, left, none)
    except TypeError:  # PySide6 up to 6.11
        return QDragEnterEvent(QPoint(x, y), copy, mime, left, none)


def drop(window: MainWindow, *paths: str) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(path) for path in paths])
    where, copy, left = QPointF(300, 300), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    enter = drag_enter(300, 300, mime)
    QApplication.sendEvent(window, enter)
    assert enter.isAccepted() and window.drop_hint.isVisible()
    QApplication.sendEvent(window, QDropEvent(where, copy, mime, left, none))
    assert not window.drop_hint.isVisible()


def test_files_are_opened_by_dropping_them(bench: Bench, tmp_path: Path) -> None:
    window = bench.window()
    picture, session = tmp_path / "größe & co.png", tmp_path / "s.json"
    picture.write_bytes(b"")
    save_session(session, State(model="plain-cnn", sample="digit-7"))
    drop(window, str(picture))
    bench.until(lambda: window.controller.state.sample == str(picture))
    drop(window, str(session))
    assert window.controller.state.model == "plain-cnn"
    assert window.files.recent() == [str(session), str(picture)]
    assert [a.text() for a in window.menus.recent.actions()][:0] == []
    window.menus.recent.aboutToShow.emit()
    entries = [a.text() for a in window.menus.recent.actions() if a.text()]
    assert entries == ["s.json", "größe && co.png", "Clear this list"]
    window.menus.recent.actions()[-1].trigger()
    assert window.files.recent() == []


def test_what_is_no_file_is_not_taken(bench: Bench) -> None:
    window = bench.window()
    mime = QMimeData()
    mime.setText("just words")
    enter = drag_enter(3, 3, mime)
    enter.ignore()
    QApplication.sendEvent(window, enter)
    assert not window.drop_hint.isVisible()
    QApplication.sendEvent(window, QDragLeaveEvent())


def test_a_dropped_file_that_is_nothing_is_said(bench: Bench, tmp_path: Path) -> None:
    window = bench.window()
    path = tmp_path / "broken.json"
    path.write_text('{"equiscope": 1, "state": {"steps": [["rotate", [NaN]]]}}')
    drop(window, str(path))
    assert "it holds NaN" in window.infobar.text.text()


def test_a_session_is_saved_and_opened_with_its_layout(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = bench.window()
    path = tmp_path / "mine.json"
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(path))
    window.controller.set_steps(parse_chain("rotate:30"))
    window.docks.docks["gallery"].close()
    trigger(window, "save")
    assert load_session(path).state == window.controller.state
    assert "Saved" in window.infobar.text.text()
    window.controller.reset()
    window.docks.docks["gallery"].show()
    monkeypatch.setattr(window.files, "ask_save", lambda *_: pytest.fail("it knows where"))
    monkeypatch.setattr(window.files, "ask_open", lambda *_: str(path))
    trigger(window, "open_session")
    assert steps(window) == "rotate:30" and window.docks.docks["gallery"].isHidden()
    window.controller.reset()
    trigger(window, "save")
    assert load_session(path).state.steps == ()


def test_a_session_that_cannot_be_saved_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    window = bench.window()
    monkeypatch.setattr(window.files, "ask_save", lambda *_: "/nowhere/at/all.json")
    trigger(window, "save_as")
    assert "No such file or directory" in window.infobar.text.text()
    monkeypatch.setattr(window.files, "ask_save", lambda *_: "")  # the person thought better of it
    window.infobar.hide()
    trigger(window, "save_as")
    assert not window.infobar.isVisible()


def test_a_lesson_brings_its_page(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = {"title": "Turning", "text": "Drag the *ring*. ![x](file:///etc/passwd)", "equation": "F(gx) = gF(x)"}
    save_session(tmp_path / "01-turn-it.json", State(sample="digit-7"), lesson)
    monkeypatch.setattr("widgets.window.lessons.course.LESSONS", tmp_path)
    window = bench.window()
    window.menus.lessons.aboutToShow.emit()
    entry = window.menus.lessons.actions()[0]
    assert entry.text() == "1  Turning"
    entry.trigger()
    lesson = window.files.guide.panel
    assert lesson is not None and lesson in window.tabifiedDockWidgets(window.docks.docks["gallery"])
    text = lesson.plain_text()
    assert text.startswith("Turning") and "Drag the ring." in text and "F(gx) = gF(x)" in text
    assert window.files.session_path == "", "a lesson is not saved over"


def deepest(menu: QMenu) -> list[QMenu]:
    """Return the menu and those inside, however deep."""
    inside = [m for a in menu.actions() if isinstance(m := a.menu(), QMenu)]
    return [menu, *(m for inner in inside for m in deepest(inner))]


def test_many_models_samples_and_lessons_fit_on_a_small_screen(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [make_info(f"m{k}", title=f"Model {k}", domain=("grid", "graph", "set")[k % 3], rows=(f"N{k % 9 + 1}",))
              for k in range(120)]  # fmt: skip
    samples = [SampleInfo(f"s{k}", f"Sample {k}", ("grid", "graph")[k % 2]) for k in range(150)]
    for k in range(49):
        state = State(model=f"m{0 if k < 24 else 1 + k % 2}")
        save_session(tmp_path / f"{k + 1:02}-lesson.json", state, {"title": f"Lesson {k + 1}", "text": "x"})
    monkeypatch.setattr("widgets.window.lessons.course.LESSONS", tmp_path)
    window = bench.window()
    for _ in range(2):
        window.controller.begin_with(Catalogue(tuple(models), tuple(samples), (), (), ()))
        lessons = window.menus.lessons
        lessons.aboutToShow.emit()
        assert [a.text() for a in lessons.actions()] == ["Images", "Graphs, sets and attention"]
        first, second = (m for m in deepest(lessons) if m is not lessons)
        assert [a.text() for a in first.actions()] == [f"{k}  Lesson {k}" for k in range(1, 25)]
        assert second.actions()[0].text() == "25  Lesson 25" and len(second.actions()) == 25
        for name, leaves in (("Model", 240), ("Data", 150)):
            menu = window.menus.menus[name]
            inside = deepest(menu)
            assert all(m.sizeHint().height() < 700 for m in inside), name
            marked = [a for m in inside for a in m.actions() if a.isCheckable()]
            assert len(marked) == leaves, "each once, and models once more to compare with"
    assert "Open data" in "".join(a.text().replace("&", "") for a in window.menus.menus["Data"].actions())


def test_data_of_another_kind_bring_their_model_and_it_is_said(bench: Bench) -> None:
    window = bench.window()
    known = window.controller.catalogue
    assert known is not None
    karate = SampleInfo("karate", "Zachary's club", "graph")
    window.controller.catalogue = replace(known, samples=(*known.samples, karate))
    window.controller.grant(Wish(changes={"sample": "karate"}))
    text = window.infobar.text.text()
    assert window.infobar.isVisible()
    assert text == "Zachary's club: now “Graph convolution”, as the network before cannot take a graph."
    window.infobar.hide()
    trigger(window, "undo")
    window.controller.grant(Wish(changes={"sample": "flower"}))
    assert not window.infobar.isVisible(), "nothing else has changed"


def test_copy_as_command(bench: Bench) -> None:
    window = bench.window()
    window.controller.set_steps(parse_chain("rotate:30"))
    trigger(window, "command")
    assert QGuiApplication.clipboard().text() == "python main.py --model d4-cnn --data digit-3 --transform rotate:30"


def test_the_view_with_the_focus_is_exported(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    window = bench.window()
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(tmp_path / "a.svg"))
    view(window, "errors").line.setFocus()
    trigger(window, "export_view")
    page = window.files.figure_page
    assert page is not None and page.view.objectName() == "errors"
    bench.until(lambda: not page.picture.pixmap().isNull())
    page.kind.setCurrentIndex(page.kind.findData(".svg"))
    page.width_box.setCurrentIndex(page.width_box.findData(85.0))
    page.caption.setChecked(False)
    page.go.click()
    text = (tmp_path / "a.svg").read_text("utf-8")
    assert 'width="85mm"' in text and "Relative equivariance" not in text
    assert window.settings.value("folder") == str(tmp_path)
    window.setFocus()
    trigger(window, "export_view")
    again = window.files.figure_page
    assert again is not None and again is not page and again.view.objectName() == "stage"
    assert (again.ending, again.style_chosen.width, again.style_chosen.caption) == (".svg", 85.0, False)
    again.reject()
    window.files.export_view(view(window, "errors"))
    last = window.files.figure_page
    assert last is not None
    last.kind.setCurrentIndex(last.kind.findData(".csv"))
    bench.until(lambda: last.told.text() == "There are no numbers in this view yet.")
    assert not last.go.isEnabled()


def test_the_window_answers_while_many_numbers_are_written(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = bench.window()
    folder = tmp_path / "numbers"
    folder.mkdir()
    path = folder / "a.csv"
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(path))
    stage = view(window, "stage")
    many = np.random.default_rng(0).standard_normal((500, 10_000)).astype(np.float32)
    monkeypatch.setattr(stage, "numbers", lambda: {"maps": many})
    for cancelled in (True, False):
        window.files.export_view(stage)
        page = window.files.figure_page
        assert page is not None
        page.kind.setCurrentIndex(page.kind.findData(".csv"))
        bench.until(lambda page=page: "65 MB" in page.told.text())
        QTest.keyClick(page.go, Qt.Key.Key_Return)
        bench.until(lambda: window.status.doing.text() == "Writing numbers…" and window.status.bar.value() > 0)
        QTest.keyClick(window, Qt.Key.Key_BracketLeft)
        bench.settle(window)
        assert window.controller.frame is not None and window.controller.frame.state == window.controller.state
        assert not path.exists() and window.status.doing.text() == "Writing numbers…"
        if cancelled:
            window.status.cancel.click()
        else:
            window.close()
        bench.until(lambda: not list(folder.iterdir()))


def test_what_a_person_makes_is_not_kept_among_the_lessons(bench: Bench, tmp_path: Path) -> None:
    window = bench.window()
    (tmp_path / "own.txt").write_text("x")
    window.files.remember(str(tmp_path / "own.txt"))
    lesson = next(LESSONS.glob("*.json"))
    window.files.remember(str(lesson))
    assert window.files.recent()[0] == str(lesson)
    assert window.settings.value("folder") == str(tmp_path), "weights and figures are proposed there"


def test_captures_need_an_engine_that_exports_them(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    window = bench.window()
    engine = window.engine  # type: ignore[attr-defined]
    monkeypatch.setattr(window.files, "ask_save", lambda *_: "x.safetensors")
    trigger(window, "export_captures")
    bench.until(lambda: "cannot be exported" in window.infobar.text.text())
    asked: list[Any] = []
    engine.export_captures = lambda state, path: asked.append((state, path))
    trigger(window, "export_captures")
    bench.until(lambda: window.infobar.text.text() == "Saved x.safetensors")
    assert asked == [(window.controller.state, "x.safetensors")]


def test_the_orbit_is_filmed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    films: list[tuple[list[np.ndarray], str]] = []
    export = types.ModuleType("widgets.figures.export")
    export.save_animation = lambda pictures, path, fps: films.append((pictures, path))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "widgets.figures.export", export)
    monkeypatch.setattr("widgets.figures.export", export, raising=False)
    monkeypatch.setattr("widgets.window.automation.recording.PICTURES", 6)
    window = bench.window(state=State(sample="digit-3", steps=parse_chain("rotate:30")))
    monkeypatch.setattr(window.files, "ask_save", lambda *_: "orbit.gif")
    trigger(window, "export_orbit")
    bench.until(lambda: films)
    pictures, path = films[0]
    assert path == "orbit.gif" and len(pictures) == 6
    assert all(p.shape == pictures[0].shape and p.dtype == np.uint8 and p.ndim == 3 for p in pictures)
    bench.until(lambda: window.infobar.text.text() == "Saved orbit.gif")
    assert steps(window) == "rotate:30"
    monkeypatch.setattr("widgets.window.automation.recording.PICTURES", 60)
    trigger(window, "export_orbit")
    bench.until(lambda: steps(window) != "rotate:30")
    window.controller.set_model("plain-cnn")  # the person has had enough
    bench.settle(window)
    assert len(films) == 1


def test_a_film_that_is_cancelled_leaves_nothing_but_the_element_of_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    films: list[Any] = []
    export = types.ModuleType("widgets.figures.export")
    export.save_animation = lambda pictures, path, fps: films.append(path)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "widgets.figures.export", export)
    monkeypatch.setattr("widgets.figures.export", export, raising=False)
    window = bench.window(state=State(sample="digit-3", steps=parse_chain("rotate:30")))
    monkeypatch.setattr(window.files, "ask_save", lambda *_: "orbit.gif")
    for at_once in (False, True):  # between two pictures, and before the first
        trigger(window, "export_orbit")
        if not at_once:
            bench.until(lambda: steps(window) not in ("rotate:30", "rotate:-180"))
        assert window.status.doing.text() == "Filming the orbit…"
        window.status.cancel.click()
        assert steps(window) == "rotate:30" and window.status.doing.isHidden()
        bench.settle(window)
        assert steps(window) == "rotate:30" and not films


@pytest.mark.parametrize("chain", ["translate:3,0", "rotate:30"])
def test_a_film_meets_whole_steps_alone(bench: Bench, monkeypatch: pytest.MonkeyPatch, chain: str) -> None:
    export = types.ModuleType("widgets.figures.export")
    films: list[Any] = []
    export.save_animation = lambda pictures, path, fps: films.append(path)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "widgets.figures.export", export)
    monkeypatch.setattr("widgets.figures.export", export, raising=False)
    monkeypatch.setattr("widgets.window.automation.recording.PICTURES", 10)
    name = chain.partition(":")[0]
    window = bench.window(state=State(sample="digit-3", steps=parse_chain(chain), orbit=name))
    met: set[float] = set()
    window.controller.state_changed.connect(lambda _, new: met.update(s.values[0] for s in new.steps))
    monkeypatch.setattr(window.files, "ask_save", lambda *_: "orbit.gif")
    trigger(window, "export_orbit")
    bench.until(lambda: films)
    assert len(met) > 5 and all(value == round(value) for value in met)


# ---- docks, layout, theme


def test_panels_are_closed_restored_and_brought_to_the_front(bench: Bench) -> None:
    window = bench.window()
    dock = window.docks.docks["errors"]
    dock.close()
    assert dock.isHidden()
    trigger(window, "show_errors")
    assert dock.isVisible()
    trigger(window, "show_filters")
    assert window.panes.front() is view(window, "filters")
    dock.toggleViewAction().trigger()
    assert dock.isHidden()
    window.docks.docks["gallery"].setFloating(True)
    trigger(window, "reset_layout")
    assert dock.isVisible() and not window.docks.docks["gallery"].isFloating()


def test_a_title_is_shown_where_no_tab_shows_it(bench: Bench) -> None:
    window = bench.window()
    gallery, inspector = window.docks.docks["gallery"], window.docks.docks["inspector"]
    bench.until(lambda: gallery.titleBarWidget().height() == 0 and inspector.titleBarWidget().height() > 10)
    window.docks.docks["layers"].close()
    bench.until(lambda: gallery.titleBarWidget().height() > 10)
    window.docks.docks["layers"].show()
    bench.until(lambda: gallery.titleBarWidget().height() == 0)
    gallery.setFloating(True)
    bench.until(lambda: gallery.titleBarWidget().height() > 10)


def test_a_tab_has_a_menu(bench: Bench) -> None:
    window = bench.window()
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    tabs = next(t for t in window.findChildren(QTabBar, options=direct) if t.tabText(0) == "Gallery")
    tabs.customContextMenuRequested.emit(tabs.tabRect(1).center())
    menu = next(m for m in window.findChildren(QMenu) if m.isVisible())
    action_named(menu, "Close").trigger()
    menu.close()
    assert window.docks.docks["layers"].isHidden()


@pytest.mark.parametrize(("size", "columns"), [(QSize(1280, 800), 1), (QSize(2200, 1200), 2)])
def test_the_first_layout_fits_the_size(bench: Bench, size: QSize, columns: int) -> None:
    window = bench.window(size=size)
    trigger(window, "reset_layout")
    bench.until(lambda: window.docks.docks["errors"].width() > 100)
    errors, orbit = window.docks.docks["errors"], window.docks.docks["orbit"]
    assert (orbit in window.tabifiedDockWidgets(errors)) is (columns == 1)
    assert errors.isVisible() and not errors.visibleRegion().isEmpty(), "the first panel is on top"
    stage = window.panes
    assert stage.width() > 0.5 * size.width() and stage.height() > 0.45 * size.height()


def test_layout_size_and_theme_are_remembered(bench: Bench) -> None:
    first = bench.window(size=QSize(1100, 720))
    first.docks.docks["gallery"].close()
    first.set_theme("dark")
    first.close()
    second = bench.window()
    assert second.docks.docks["gallery"].isHidden() and second.docks.docks["layers"].isVisible()
    assert second.size() == QSize(1100, 720)
    assert theme.current() is theme.DARK
    second.close()
    other = bench.window(specs=SPECS[:-2])
    assert other.docks.docks["gallery"].isVisible(), "the layout of other panels is not restored"


def test_settings_that_are_nonsense_do_no_harm(bench: Bench) -> None:
    settings = bench.settings()
    for name, value in (("geometry", "x"), ("layout", 3), ("theme", "pink"), ("recent", "one")):
        settings.setValue(name, value)
    settings.sync()
    window = bench.window()
    assert window.docks.docks["gallery"].isVisible()
    assert window.files.recent() == ["one"]


def test_settings_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from widgets.base.settings import open_settings

    monkeypatch.setenv("EQUISCOPE_SETTINGS", str(tmp_path / "here.ini"))
    assert open_settings().fileName() == str(tmp_path / "here.ini")


def test_the_theme_is_switched(bench: Bench) -> None:
    window = bench.window()
    themes = action_named(window.menus.menus["View"], "&Theme").menu()
    assert isinstance(themes, QMenu)
    action_named(themes, "Dark").trigger()
    assert theme.current() is theme.DARK
    assert view(window, "stage").themes[-1] == view(window, "layers").themes[-1] == "dark"
    assert window.palette().window().color().name() == theme.DARK.window
    window.set_theme("light")
    assert view(window, "stage").themes[-1] == "light"
    QGuiApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert theme.current() is theme.LIGHT, "a choice is not overruled by the system"
    window.close()
    count = len(view(window, "stage").themes)
    theme.use("dark")
    assert len(view(window, "stage").themes) == count


# ---- help


@pytest.mark.parametrize("name", ["light", "dark"])
def test_outlines_of_controls_can_be_seen(bench: Bench, name: str) -> None:
    window = bench.window()
    window.set_theme(name)
    for made in (QComboBox, QCheckBox, QLineEdit, QSpinBox, QPushButton):
        control = made(window)
        control.resize(120, 30)
        control.show()
        picture = control.grab().toImage()
        ground = QColor(theme.current().window)
        seen = {picture.pixelColor(x, y).name() for x in range(0, 24) for y in range(picture.height())}
        assert max(contrast(QColor(one), ground) for one in seen) >= 3.0, made.__name__
        control.hide()
        control.deleteLater()
    for role in ("muted", "accent", "first", "second", "good", "bad", "edge"):
        for ground in ("window", "panel", "raised"):
            assert contrast(QColor(getattr(theme.current(), role)), QColor(getattr(theme.current(), ground))) >= 3.0


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast of two colours, as WCAG 2 defines it."""

    def light(colour: QColor) -> float:
        parts = (colour.redF(), colour.greenF(), colour.blueF())
        lin = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * lin[0] + 0.7152 * lin[1] + 0.0722 * lin[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_tab_shows_where_the_focus_is(bench: Bench) -> None:
    window = bench.window()
    activate(bench.qtbot, window)
    assert window.focus_ring.around() is None
    seen = []
    for _ in range(4):
        activate(bench.qtbot, window)
        bench.press(window, "Tab")
        activate(bench.qtbot, window)
        bench.until(lambda: window.focus_ring.around() is QApplication.focusWidget() is not None)
        focus = QApplication.focusWidget()
        assert focus is not None and window.focus_ring.around() is focus
        seen.append(focus)
    assert len(set(map(id, seen))) > 1
    bench.qtbot.mouseClick(view(window, "stage"), Qt.MouseButton.LeftButton)
    bench.until(lambda: QApplication.focusWidget() is not seen[-1] and window.focus_ring.around() is None)
    assert window.focus_ring.around() is None, "a hand knows where it has clicked"


def test_help(bench: Bench) -> None:
    window = bench.window()
    for name, words in (("keys", "Shift+Space"), ("about", "torch 2.13.0")):
        trigger(window, name)
        dialog = next(d for d in window.findChildren(QDialog) if d.isVisible())
        assert not dialog.isModal()
        page = dialog.findChild(QTextBrowser)
        assert page is not None and words in page.toPlainText()
        dialog.close()
        bench.until(lambda: not any(d.isVisible() for d in window.findChildren(QDialog)))
    assert view(window, "stage").whatsThis() == "The square."
    trigger(window, "what")
    from PySide6.QtWidgets import QWhatsThis

    assert QWhatsThis.inWhatsThisMode()
    QWhatsThis.leaveWhatsThisMode()


def test_a_view_with_a_play_button_is_connected(bench: Bench) -> None:
    from PySide6.QtCore import Signal

    class Playing(Probe):
        play_toggled = Signal(object)

        def set_playing(self, on: bool) -> None:
            self.shows = on

    specs = (*SPECS[:-2], ViewSpec("orbit", "Orbit", Playing, "bottom"), LOG)
    window = bench.window(specs=specs)
    panel = view(window, "orbit")
    panel.play_toggled.emit(True)  # type: ignore[attr-defined]
    assert window.controller.player.playing and panel.shows is True  # type: ignore[attr-defined]
    panel.play_toggled.emit(False)  # type: ignore[attr-defined]
    assert not window.controller.player.playing and panel.shows is False  # type: ignore[attr-defined]


def test_nothing_is_left_of_a_closed_window(bench: Bench) -> None:
    window = bench.window()
    destroyed: list[int] = []
    window.destroyed.connect(lambda: destroyed.append(1))
    bench.close()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert destroyed == [1]


def test_a_mesh_is_met_on_its_surface_and_the_stage_is_there_when_asked_for(bench: Bench) -> None:
    domains = ("grid", "graph", "set", "sequence")
    surface = ViewSpec("surface", "Surface", Probe, "center", 1, domains=("mesh",))
    window = bench.window((replace(SPECS[0], domains=domains), surface, *SPECS[2:]))
    stage, mesh = view(window, "stage"), view(window, "surface")

    def offered() -> list[bool]:
        return [window.panes.offered(name) for name in ("stage", "surface")]

    assert offered() == [True, False]
    frame = window.controller.frame
    assert frame is not None
    window.show_frame(mesh_frame())
    assert offered() == [False, True] and window.panes.front() is mesh
    window.show_view("stage")
    assert offered() == [True, True] and window.panes.front() is stage
    window.show_frame(frame)
    assert offered() == [True, False] and window.panes.front() is stage
