"""Training from the window: beside it, with a curve, stopped for real, and opened with its weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.main_window import MainWindow
from widgets.window.training.page import TrainPage

# what `train` says, without a training: steps until it is told to end by its number of epochs
TRAIN = """
import json, shutil, sys
out = sys.argv[sys.argv.index("--out") + 1]
epochs = int(sys.argv[sys.argv.index("--epochs") + 1]) if "--epochs" in sys.argv else 3
if "--rate" in sys.argv and float(sys.argv[sys.argv.index("--rate") + 1]) > 100:
    sys.exit("equiscope: the loss is not a number after 3 steps, so the training has stopped")
step = 0
while step < 10 * epochs:
    step += 1
    print(json.dumps({"step": step, "epoch": step // 10, "epochs": epochs, "losses": {"loss": 1 / step}}), flush=True)
    if epochs > 1000 and step == 20:
        sys.stdin.read()  # for ever
shutil.copy(WEIGHTS, out)
print(json.dumps({"written": out, "figures": {"upright_error": 0.25}}), flush=True)
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


@pytest.fixture
def page(qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainPage:
    weights, script = tmp_path / "made.safetensors", tmp_path / "train.py"
    save_file({k: v.clone() + 1 for k, v in CARDS["fine"].build().state_dict().items()}, weights)
    script.write_text(TRAIN.replace("WEIGHTS", repr(str(weights))))
    monkeypatch.setattr("widgets.window.training.process.PROGRAM", (str(script),))
    window = open_window(State("fine", device="cpu", layer="2"))
    window.menus.actions["train"].trigger()
    made = window.files.trainer.page
    assert made is not None and made.isVisible()
    made.path.setText(str(tmp_path / "out.safetensors"))
    return made


def window_of(page: TrainPage) -> MainWindow:
    window = page.parent()
    assert isinstance(window, MainWindow)
    return window


def test_a_training_is_drawn_and_its_weights_are_shown(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    window = window_of(page)
    with qtbot.waitSignal(page.trained, timeout=LONGEST_MS):
        qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
        assert page.go.text() == "Stop" and not page.epochs.isEnabled()
    assert page.chart.steps[-1] == 30 and page.go.text() == "Start" and "upright error 0.25" in page.status.text()
    settle(qtbot, window)
    state = window.controller.state
    assert state.model == f"fine@{tmp_path / 'out.safetensors'}" and state.layer == "2"
    assert window.menus.actions["train"].isEnabled()  # it can be trained again
    window.controller.undo()
    assert window.controller.state.model == "fine"
    window.controller.set_model("modest")
    assert not window.menus.actions["train"].isEnabled()


def test_stop_ends_it_for_real(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    page.epochs.setValue(5000)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(page.chart.steps) and page.chart.steps[-1] == 20, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: "epoch 2 of 5000" in page.status.text(), timeout=LONGEST_MS)
    window_of(page).controller.set_steps(())  # the window goes on
    settle(qtbot, window_of(page))
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert not page.process.running and page.status.text().startswith("Stopped")
    assert not (tmp_path / "out.safetensors").exists() and page.go.text() == "Start"


def test_a_diverging_loss_and_a_wrong_folder_are_said(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    page.rate.setValue(1000)
    with qtbot.waitSignal(page.process.failed, timeout=LONGEST_MS):
        qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert page.status.text().startswith("The loss is not a number after 3 steps")
    page.path.setText(str(tmp_path / "nowhere" / "w.safetensors"))
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert not page.process.running and "folder that is there" in page.status.text()


def test_closing_the_page_ends_the_training(qtbot: QtBot, page: TrainPage) -> None:
    page.epochs.setValue(5000)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(page.chart.steps), timeout=LONGEST_MS)
    page.close()
    assert not page.process.running


def test_a_loss_that_hardly_falls_is_drawn(qtbot: QtBot, page: TrainPage) -> None:
    """Less than a decade from first to last: a division by zero while painting ended the program."""
    for step in range(20):
        page.chart.add_step(step, 0.9 - 0.002 * step)
        page.chart.draw()
    page.chart.grab()
    labels = [
        page.chart.left.tickStrings(values, 1.0, 1.0) for _, values in page.chart.left.tickValues(-0.07, -0.04, 200)
    ]
    assert len(set(labels[0])) == len(labels[0]) >= 2
