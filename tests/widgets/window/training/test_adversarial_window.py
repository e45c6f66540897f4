"""Trainings of shipped networks steered in the window: which half learns, samples, terms, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from safetensors.numpy import load_file

from explorer.declare.states.model_name import LIVE
from explorer.state.state import State
from models.training.adversarial.in_turn import D_ALONE, G_ALONE
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.main_window import MainWindow
from widgets.window.training.page import TrainPage
from widgets.window.training.run import Run

Opened = tuple[MainWindow, TrainPage]
START_MS = 3 * LONGEST_MS  # for what a process does that imports torch and trains, beside others
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def train(qtbot: QtBot, open_window: Open, tmp_path: Path) -> Callable[[State], Opened]:
    def opened(state: State) -> Opened:
        window = open_window(state)
        window.menus.actions["train"].trigger()
        page = window.files.trainer.page
        assert page is not None and page.isVisible()
        page.path.setText(str(tmp_path / "out.safetensors"))
        return window, page

    return opened


def click(qtbot: QtBot, button: Any) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def begun(qtbot: QtBot, page: TrainPage) -> Run:
    click(qtbot, page.go)
    run = page.runs[-1]
    qtbot.waitUntil(lambda: run.told.step >= 3, timeout=START_MS)
    return run


def choose(qtbot: QtBot, page: TrainPage, name: str) -> None:
    """Choose a loss with the mouse, from the list that the box unfolds."""
    qtbot.waitUntil(lambda: page.loss.findText(name) >= 0, timeout=START_MS)
    entries = page.loss.view()

    def chosen() -> bool:
        if page.loss.currentText() == name and not entries.isVisible():
            return True
        # the list takes no click for as long as the one that unfolded it may be half of a double click; and a server
        # of windows without a manager may take the focus from a list that follows another closely, which folds it
        if entries.isVisible():
            at = entries.visualRect(page.loss.model().index(page.loss.findText(name), 0)).center()
            qtbot.mouseMove(entries.viewport(), at)
            qtbot.mouseClick(entries.viewport(), Qt.MouseButton.LeftButton, pos=at)
        else:
            click(qtbot, page.loss)
        return False

    qtbot.waitUntil(chosen, timeout=START_MS)


def stood(qtbot: QtBot, page: TrainPage, run: Run) -> dict[str, np.ndarray]:
    """Pause, and return the parameters of the network as it stands."""
    said: list[int] = []
    run.process.told.connect(lambda found: said.append(found["paused"]) if "paused" in found else None)
    click(qtbot, page.play)
    qtbot.waitUntil(lambda: bool(said), timeout=START_MS)
    return dict(load_file(Path(run.folder.name) / LIVE))


@pytest.mark.slow
def test_the_half_that_is_chosen_learns_alone(qtbot: QtBot, train: Callable[[State], Opened]) -> None:
    _, page = train(State("gan-line", device="cpu"))
    page.epochs.setValue(100_000)
    run = begun(qtbot, page)
    before = stood(qtbot, page, run)
    for name, half in ((D_ALONE, "discriminator"), (G_ALONE, "generator")):
        choose(qtbot, page, name)
        # what the process had sent before it was asked may come after the choice
        qtbot.waitUntil(lambda wanted=name: run.told.loss == wanted, timeout=START_MS)
        step = run.told.step
        click(qtbot, page.play)
        qtbot.waitUntil(lambda at=step: run.told.step > at + 5, timeout=START_MS)
        after = stood(qtbot, page, run)
        assert page.loss.currentText() == name, "what is chosen stays chosen"
        assert {key.partition(".")[0] for key in before if not np.array_equal(before[key], after[key])} == {half}
        before = after


@pytest.mark.slow
def test_samples_change_while_the_network_learns(qtbot: QtBot, train: Callable[[State], Opened]) -> None:
    window, page = train(State("dcgan", device="cpu"))
    view = window.panes.named("samples")
    window.show_view("samples")

    def drawn() -> np.ndarray:
        found = view.numbers()
        return np.asarray(next(iter(found.values()))) if found else np.zeros(0)

    qtbot.waitUntil(lambda: drawn().size > 0, timeout=START_MS)
    seen = [drawn()]
    begun(qtbot, page)
    for _ in range(2):
        qtbot.waitUntil(
            lambda: drawn().shape == seen[0].shape and not np.array_equal(drawn(), seen[-1]), timeout=START_MS
        )
        seen.append(drawn())


@pytest.mark.slow
def test_a_divergence_is_drawn_in_nats_whatever_it_is_multiplied_by(
    qtbot: QtBot, train: Callable[[State], Opened]
) -> None:
    _, page = train(State("sprite-vae", device="cpu"))
    run = begun(qtbot, page)
    stood(qtbot, page, run)
    qtbot.waitUntil(lambda: page.losses.part.findText("divergence") >= 0, timeout=LONGEST_MS)
    page.losses.part.setCurrentText("divergence")
    page.draw()
    ((_, drawn, _),) = page.losses.chart.drawn
    terms = run.told.losses
    np.testing.assert_allclose(drawn.y, (terms["loss"].y - terms["reconstruction"].y) / 4.0, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_a_training_goes_on_while_another_kind_of_data_is_chosen(
    qtbot: QtBot, train: Callable[[State], Opened]
) -> None:
    window, page = train(State("gan-line", device="cpu"))
    page.epochs.setValue(100_000)
    run = begun(qtbot, page)
    window.controller.set_model("plain-cnn")
    settle(qtbot, window)
    window.menus.actions["train"].trigger()
    assert window.files.trainer.page is page and page.info.name == "plain-cnn"
    step = run.told.step
    qtbot.waitUntil(lambda: run.told.step > step + 5, timeout=LONGEST_MS)
    assert page.run is run and page.play.isEnabled()


@pytest.mark.slow
def test_a_code_book_is_counted_while_it_learns(qtbot: QtBot, train: Callable[[State], Opened]) -> None:
    window, page = train(State("dvae", device="cpu"))
    window.show_view("codebook")
    view = window.panes.named("codebook")
    run = begun(qtbot, page)

    def counted() -> bool:
        frame = window.controller.frame
        usage = next((values for name, values in view.numbers().items() if name.endswith("usage")), None)
        live = frame is not None and LIVE in frame.state.model
        return live and usage is not None and float(np.ptp(usage)) > 0 and abs(float(usage.sum()) - 1) < 1e-2

    qtbot.waitUntil(counted, timeout=START_MS)
    qtbot.waitUntil(lambda: {"used", "perplexity"} <= set(run.told.figures), timeout=LONGEST_MS)


@pytest.mark.slow
def test_a_step_on_the_slider_is_drawn(qtbot: QtBot, train: Callable[[State], Opened]) -> None:
    window, page = train(State("plain-cnn", device="cpu"))
    run = begun(qtbot, page)
    qtbot.waitUntil(lambda: len(run.told.kept) > 2, timeout=START_MS)
    stood(qtbot, page, run)
    settle(qtbot, window)
    for _ in range(2):
        for key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            before = answer(window)
            qtbot.keyClick(page.time, key)
            qtbot.waitUntil(lambda old=before: answer(window) != old, timeout=START_MS)
            settle(qtbot, window)
    assert run.told.step in run.told.kept


def answer(window: MainWindow) -> list[float]:
    """Return what the network that is drawn answers."""
    frame = window.controller.frame
    assert frame is not None
    found: list[float] = frame.squares[0].output.tolist()
    return found
