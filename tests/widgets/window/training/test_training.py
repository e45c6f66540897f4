"""Training from the window: a real process that is steered, drawn, shown, taken back, stopped, opened at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.states.model_name import LIVE, in_training
from explorer.state.state import State
from explorer.work.files.places import ROOT
from explorer.work.progress import clock
from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from tests.explorer.parts.small_cards import CARDS, card, symmetric_net
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.base.look import theme
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.window.main_window import MainWindow
from widgets.window.training.curves import FAINT, ErrorChart
from widgets.window.training.page import TrainPage
from widgets.window.training.panels import ErrorPanel, LossPanel
from widgets.window.training.run import Run
from widgets.window.training.told import Series, Told

# the program with the cards of this file
PROGRAM = """
import sys
sys.path.insert(0, ROOT)
from explorer.app.command import cli
from explorer.app.command.doors import Doors
from tests.widgets.window.training.test_training import OURS
def none(*_): raise AssertionError
sys.exit(cli.main(sys.argv[1:], Doors(lambda: OURS, none, none, none, none, none)))
"""


def learn(
    epochs: int | None = None, seed: int = 0, progress: Any = None, size: float = 1.0
) -> tuple[nn.Module, Mapping[str, float]]:
    """Learn noise by heart."""
    epochs = epochs or 3
    torch.set_num_threads(1)  # in the process of the training; a busy machine loses much by more
    with torch.inference_mode(False), torch.enable_grad():
        network = symmetric_net().train()
        chance = torch.Generator().manual_seed(seed)
        x, y = size * torch.randn(16, 1, 29, 29, generator=chance), torch.randint(10, (16,), generator=chance)
        optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
        course = Course(
            network, optimizer, None, chance, epochs=epochs, examples=16, batch=2, losses=CLASSES, progress=progress,
            judge=lambda network: {"accuracy": float((network(x).argmax(1) == y).double().mean())},
        )  # fmt: skip
        for rows in course:
            course.learn(course.loss(network(x[rows]), y[rows]))
        return network.eval(), {"upright_error": 0.25}


OURS = CARDS | {
    "fine": card("fine", symmetric_net, "D4", "C4", train=learn, boundary="zero"),
    "other": card("other", symmetric_net, train=learn),
}


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(OURS)


@pytest.fixture
def page(qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TrainPage:
    script = tmp_path / "train.py"
    script.write_text(PROGRAM.replace("ROOT", repr(str(ROOT))))
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


def click(qtbot: QtBot, button: Any) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def begun(qtbot: QtBot, page: TrainPage, epochs: int = 100_000, step: int = 3) -> Run:
    """Start a training that takes long and wait until it runs."""
    page.epochs.setValue(epochs)
    click(qtbot, page.go)
    run = page.runs[-1]
    qtbot.waitUntil(lambda: run.told.step >= step, timeout=LONGEST_MS)
    return run


def standing(qtbot: QtBot, page: TrainPage, run: Run) -> int:
    """Pause, and return the step at which it stands."""
    if not run.told.paused:
        click(qtbot, page.play)
    said: list[int] = []
    run.process.told.connect(lambda found: said.append(found["paused"]) if "paused" in found else None)
    qtbot.waitUntil(lambda: bool(said), timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: run.told.step == said[-1], timeout=LONGEST_MS)
    return run.told.step


@pytest.mark.slow
def test_a_training_is_drawn_and_its_weights_are_shown(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    window = window_of(page)
    page.epochs.setValue(2)
    with qtbot.waitSignal(page.trained, timeout=LONGEST_MS):
        click(qtbot, page.go)
    run = page.runs[0]
    page.draw()
    assert run.told.step == 16 and list(run.told.losses["loss"].x) == list(range(1, 17))
    assert "upright error 0.25" in page.status.text() and page.losses.chart.drawn[0][0] == "1 fine"
    assert set(run.told.figures) == {"accuracy"} and "4" in run.told.errors
    settle(qtbot, window)
    state = window.controller.state
    assert state.model == f"fine@{tmp_path / 'out.safetensors'}" and state.layer == "2"
    assert window.menus.actions["train"].isEnabled()  # it can be trained again
    window.controller.set_model("modest")
    assert not window.menus.actions["train"].isEnabled()


@pytest.mark.slow
def test_the_network_that_is_shown_is_the_one_that_learns(qtbot: QtBot, page: TrainPage) -> None:
    window = window_of(page)
    run = begun(qtbot, page)
    live = f"fine@{Path(run.folder.name) / LIVE}"
    qtbot.waitUntil(lambda: window.controller.state.model == live, timeout=LONGEST_MS)
    settle(qtbot, window)
    standing(qtbot, page, run)
    settle(qtbot, window)
    seen = window.controller.frame
    assert seen is not None
    serial, answer = seen.serial, seen.squares[0].output.tolist()
    click(qtbot, page.one)
    qtbot.waitUntil(lambda: _newer(window, serial), timeout=LONGEST_MS)
    settle(qtbot, window)
    assert window.controller.frame is not None and window.controller.frame.squares[0].output.tolist() != answer
    assert not any("was run again" in text for text in _said(window))
    page.close()  # nothing was written: what was shown before is shown again
    assert not run.process.running and not Path(run.folder.name).exists()
    settle(qtbot, window)
    assert window.controller.state.model == "fine"


def _newer(window: MainWindow, serial: int) -> bool:
    frame = window.controller.frame
    return frame is not None and frame.serial > serial


def _said(window: MainWindow) -> list[str]:
    return [window.infobar.text.text()] if hasattr(window.infobar, "text") else []


@pytest.mark.slow
def test_pause_step_and_back(qtbot: QtBot, page: TrainPage) -> None:
    run = begun(qtbot, page)
    step = standing(qtbot, page, run)
    assert page.play.text() == "Play"
    click(qtbot, page.one)
    qtbot.waitUntil(lambda: run.told.step == step + 1, timeout=LONGEST_MS)
    assert run.told.kept[0] == 0
    losses = run.told.losses["loss"]
    loss, known = float(losses.y[0]), len(losses)
    run.back(0)
    qtbot.waitUntil(lambda: run.told.step == 0, timeout=LONGEST_MS)
    assert len(losses) == known > 1, "what followed can be gone forward to"
    assert run.told.epoch == 0 and "loss" not in run.progress()
    click(qtbot, page.one)
    qtbot.waitUntil(lambda: run.told.step == 1, timeout=LONGEST_MS)
    assert len(losses) == 1 and max(run.told.kept) <= 1, "it goes on in another way"
    assert float(losses.y[0]) == loss  # the same step again, to the bit
    click(qtbot, page.play)
    qtbot.waitUntil(lambda: run.told.step > 20, timeout=LONGEST_MS)
    page.loss.setCurrentIndex(page.loss.findData("squared error"))
    page.loss.activated.emit(page.loss.currentIndex())
    page.rate.setValue(0.5)
    page.speed.setCurrentIndex(2)
    step = standing(qtbot, page, run)
    assert step > 20 and run.process.running
    click(qtbot, page.finish)  # written, although it was not over
    qtbot.waitUntil(lambda: bool(run.results), timeout=LONGEST_MS)
    assert run.wanted.path.exists() and run.results == {"upright_error": 0.25}


@pytest.mark.slow
def test_the_seed_waits_for_the_next_start_unless_it_is_asked_for_now(qtbot: QtBot, page: TrainPage) -> None:
    assert not page.reseed.isEnabled()
    run = begun(qtbot, page)
    step = standing(qtbot, page, run)
    page.seed.setFocus()
    qtbot.keyClicks(page.seed, "7\t")  # the field is left
    click(qtbot, page.one)
    qtbot.waitUntil(lambda: run.told.step == step + 1, timeout=LONGEST_MS)
    assert run.told.drawn is None and "seed" not in run.progress()
    seed = page.seed.value()
    click(qtbot, page.reseed)
    qtbot.waitUntil(lambda: (run.told.seed, run.told.drawn) == (seed, step + 1), timeout=LONGEST_MS)
    assert f"seed {seed} since step {step + 1:,}" in run.progress()
    page.loss.setCurrentIndex(page.loss.findData("squared error"))
    page.loss.activated.emit(page.loss.currentIndex())
    run.back(0)
    qtbot.waitUntil(lambda: run.told.step == 0, timeout=LONGEST_MS)
    page.draw()
    assert run.told.drawn is None and page.loss.currentData() == "cross-entropy", "both are those of that step"


@pytest.mark.slow
def test_a_training_goes_back_with_the_line_in_the_chart(qtbot: QtBot, page: TrainPage) -> None:
    run = begun(qtbot, page)
    qtbot.waitUntil(lambda: len(run.told.kept) > 3, timeout=LONGEST_MS)
    step = standing(qtbot, page, run)
    page.draw()
    chart, kept = page.losses.chart, run.told.kept
    assert chart.now.isVisible() and chart.now.value() == step
    goal = kept[len(kept) // 2]
    middle = chart.plotted.center().y()

    def mouse(kind: QEvent.Type, x: float) -> None:
        button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else Qt.MouseButton.LeftButton
        held = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseButtonRelease else Qt.MouseButton.LeftButton
        place = QPointF(x, middle)
        on = chart.viewport()
        event = QMouseEvent(kind, place, on.mapToGlobal(place), button, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(on, event)

    start, end = chart.at(step, 0).x(), chart.at(goal, 0).x()
    mouse(QEvent.Type.MouseButtonPress, start)
    for share in np.linspace(0, 1, 30):
        mouse(QEvent.Type.MouseMove, start + share * (end - start))
    mouse(QEvent.Type.MouseButtonRelease, end)
    qtbot.waitUntil(lambda: run.told.step == goal, timeout=LONGEST_MS)
    page.draw()
    assert chart.now.value() == goal and run.told.paused
    with qtbot.waitSignal(run.changed, timeout=0):  # at once: it stands there already
        chart.dragged(QPointF(goal + 0.25, 0), done=True)
    page.draw()
    assert chart.now.value() == goal, "it had stayed where it was dropped"
    faint = [line for line in chart.lines if len(line.getData()[0]) and line.opts["pen"].color().alpha() == FAINT]
    (after,) = faint
    assert after.getData()[0][0] == goal and after.getData()[0][-1] == step
    click(qtbot, page.finish)  # written is the network of that step: what followed is gone
    qtbot.waitUntil(lambda: bool(run.results), timeout=LONGEST_MS)
    page.draw()
    assert run.told.step == goal == run.told.losses["loss"].x[-1] and page.bar.value() == 1000


@pytest.mark.slow
def test_stop_ends_it_for_real(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    run = begun(qtbot, page)
    window_of(page).controller.set_steps(())  # the window goes on
    settle(qtbot, window_of(page))
    click(qtbot, page.stop)
    assert not run.process.running
    qtbot.waitUntil(lambda: page.status.text().startswith("Stopped"), timeout=LONGEST_MS)
    assert not (tmp_path / "out.safetensors").exists() and page.go.isEnabled()


@pytest.mark.slow
def test_a_diverging_loss_goes_back_and_a_wrong_folder_is_said(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    page.rate.setValue(100_000)
    page.epochs.setValue(1000)
    click(qtbot, page.go)
    run = page.runs[0]
    qtbot.waitUntil(lambda: run.bad, timeout=LONGEST_MS)
    assert "so the training has stopped" in run.sentence and "It stands at step" in run.sentence
    assert run.process.running and run.told.paused
    page.rate.setValue(1.0)  # and it goes on from there
    step = run.told.step
    click(qtbot, page.play)
    qtbot.waitUntil(lambda: run.told.step > step + 5, timeout=LONGEST_MS)
    page.path.setText(str(tmp_path / "nowhere" / "w.safetensors"))
    click(qtbot, page.go)
    assert len(page.runs) == 1 and "folder that is there" in page.status.text()


@pytest.mark.slow
def test_networks_are_trained_side_by_side(qtbot: QtBot, page: TrainPage, tmp_path: Path) -> None:
    page.folder = tmp_path
    (other,) = page.beside.menu().actions()
    assert other.data() == "other"
    other.setChecked(True)
    begun(qtbot, page)
    assert [run.info.name for run in page.runs] == ["fine", "other"] and page.run is page.runs[0]
    qtbot.waitUntil(lambda: all(len(run.told.errors.get("4", ())) >= 1 for run in page.runs), timeout=LONGEST_MS)
    page.draw()
    assert page.tabs.currentIndex() == 1 and sum(chart.isVisible() for chart in page.errors.charts) == 2
    assert page.errors.charts[0].box.whole == page.errors.charts[1].box.whole
    page.tabs.setCurrentIndex(0)
    qtbot.waitUntil(
        lambda: [name for name, _, _ in page.losses.chart.drawn] == ["1 fine", "2 other"], timeout=LONGEST_MS
    )
    page.which.setCurrentIndex(1)  # the one that is steered is named first, where the legend has no room for all
    qtbot.waitUntil(
        lambda: [name for name, _, _ in page.losses.chart.drawn] == ["2 other", "1 fine"], timeout=LONGEST_MS
    )
    assert page.losses.overlaid.isVisible()
    first, second = page.losses.overlaid.menu().actions()
    assert first.isEnabled() and not second.isEnabled()
    first.trigger()
    qtbot.waitUntil(lambda: [name for name, _, _ in page.losses.chart.drawn] == ["2 other"], timeout=LONGEST_MS)
    assert all("1 fine" not in name for name in page.losses.numbers())


def test_the_settings_can_be_folded_away_beside_a_small_window(qtbot: QtBot, page: TrainPage) -> None:
    before, fold = page.width(), page.fold
    click(qtbot, fold)
    assert not page.settings.isVisible() and page.play.isVisible() and page.width() < before - 300
    click(qtbot, fold)
    assert page.settings.isVisible() and page.width() == before


def test_times_of_hours_and_days_can_be_read() -> None:
    assert [clock(s) for s in (5, 65, 27_046, 400_000)] == ["0:05", "1:05", "7:30:46", "4 days"]


def test_a_loss_that_hardly_falls_is_drawn(qtbot: QtBot, page: TrainPage) -> None:
    """Less than a decade from first to last: a division by zero while painting ended the program."""
    points = Series()
    for step in range(20):
        points.add(step, 0.9 - 0.002 * step)
    page.losses.chart.show_curves([("loss", points, "#000000")], 20)
    page.losses.chart.grab()
    labels = [
        page.losses.chart.left.tickStrings(values, 1.0, 1.0)
        for _, values in page.losses.chart.left.tickValues(-0.07, -0.04, 200)
    ]
    assert len(set(labels[0])) == len(labels[0]) >= 2


def test_errors_of_rounding_do_not_fill_the_chart_and_one_point_is_seen(qtbot: QtBot) -> None:
    chart = ErrorChart()
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    chart.show()
    run = SimpleNamespace(name="1 d4-cnn", number=1, told=Told(transform="rotate:90", step=40))
    for k, name in enumerate(("lift", "conv2", "head")):
        run.told.errors[name] = Series()
        run.told.errors[name].add(0, (k + 1) * 1e-7)
    chart.show_run(run)  # type: ignore[arg-type]
    (x0, x1), (low, high) = chart.box.viewRange()
    assert low <= -8 and high >= 0, "what holds lies low, whatever rounding does"
    assert x0 < 0 and x1 >= 40, "as far as the training is"
    assert "largest at head" in " ".join(text for text, _, _ in chart.header.parts)
    before = chart.grab().toImage()
    point = chart.at(0, -7.0).toPoint()
    colours = {before.pixelColor(point.x() + dx, point.y() + dy).name() for dx in (-1, 0, 1) for dy in (-1, 0, 1)}
    assert len(colours - {theme.current().plot, theme.current().line}) > 0, "a point alone is a dot"


@pytest.fixture
def told() -> Run:
    """Return what a training has told, without its process."""
    found = Told(step=4, transform="rotate:90", losses={"loss": Series(), "KL": Series()}, errors={"conv": Series()})
    for step in range(1, 5):
        found.losses["loss"].add(step, 1 / step)
        found.losses["KL"].add(step, 0.5)
        found.errors["conv"].add(step, 0.125 * step)
    wanted = SimpleNamespace(seed=3, rate=0.5)
    process = SimpleNamespace(running=False)
    made = SimpleNamespace(name="1 vae", number=1, told=found, wanted=wanted, process=process)
    return made  # type: ignore[return-value]


def test_curves_are_saved_as_figures_and_as_numbers(qtbot: QtBot, told: Run, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    for panel, name, last in ((LossPanel(parent), "1 vae, loss", 0.25), (ErrorPanel(parent), "1 vae, conv", 0.5)):
        panel.resize(500, 300)
        panel.show_runs([told], told)
        for ending in ("png", "svg", "pdf"):
            export_view(panel, tmp_path / f"curves.{ending}")
        text = (tmp_path / "curves.svg").read_text("utf-8")
        assert "1 vae" in text and "seed 3" in text and "each step" not in text, "without the controls"
        assert (tmp_path / "curves.png").stat().st_size > 3000 and (tmp_path / "curves.pdf").read_bytes()[:4] == b"%PDF"
        export_numbers(panel, tmp_path / "curves.npz")
        with np.load(tmp_path / "curves.npz") as arrays:
            assert arrays[name][-1] == last and arrays[f"{name}, step"].tolist() == [1, 2, 3, 4]
        assert set(panel.numbers()) == {name, f"{name}, step"}


def test_the_page_offers_its_curves_for_export(qtbot: QtBot, page: TrainPage, told: Run) -> None:
    files = window_of(page).files
    assert not page.export.isEnabled(), "there are none yet"
    page.runs.append(told)
    page.draw()
    click(qtbot, page.export)
    assert files.figure_page is not None and files.figure_page.view is page.losses
    files.figure_page.close()
    page.runs.clear()


@pytest.mark.slow
def test_a_session_saved_while_it_learns_opens_when_the_training_has_gone(
    qtbot: QtBot, page: TrainPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(qtbot, page)
    standing(qtbot, page, run)
    window = window_of(page)
    for _ in range(2):  # what is shown may be older than what was written at last: it is shown anew
        click(qtbot, page.follow)
    settle(qtbot, window)
    assert window.controller.frame is not None
    answer = window.controller.frame.squares[0].output.tolist()
    asked: list[str] = []

    def name(title: str, suggested: str, filters: str) -> str:
        asked.append(suggested)
        return str(tmp_path / "mine.json")

    monkeypatch.setattr(window.files, "ask_save", name)
    window.files.save()
    assert asked == ["fine-training.json"]
    assert any("mine.safetensors" in text for text in _said(window))
    page.close()  # and with it the file that the window showed
    settle(qtbot, window)
    window.files.open(str(tmp_path / "mine.json"))
    settle(qtbot, window)
    assert window.controller.state.model == f"fine@{tmp_path / 'mine.safetensors'}"
    assert window.controller.frame.squares[0].output.tolist() == answer


@pytest.mark.slow
def test_going_away_from_what_learns_unticks_it_and_a_tick_comes_back(qtbot: QtBot, page: TrainPage) -> None:
    window = window_of(page)
    run = begun(qtbot, page)
    qtbot.waitUntil(lambda: in_training(window.controller.state.model), timeout=LONGEST_MS)
    window.menus.actions["undo"].trigger()
    assert window.controller.state.model == "fine" and not page.follow.isChecked() and run.process.running
    page.follow.click()
    qtbot.waitUntil(lambda: in_training(window.controller.state.model), timeout=LONGEST_MS)
    window.menus.actions["undo"].trigger()
    assert not page.follow.isChecked()
    window.menus.actions["redo"].trigger()
    assert page.follow.isChecked() and in_training(window.controller.state.model)
    click(qtbot, page.finish)
    qtbot.waitUntil(lambda: not run.process.running, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: not in_training(window.controller.state.model), timeout=LONGEST_MS)
    assert page.follow.isChecked(), "that it is over is no wish of the person"
