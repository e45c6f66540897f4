"""Verdicts in the whole window are earned: nothing is green where nothing was moved or nothing could be tested."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from torch import nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import chain_text, parse_chain
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS, card
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.base.look import theme
from widgets.maps.diagram import ROLES
from widgets.views.stage import Stage
from widgets.window.main_window import MainWindow


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    short = card(
        "steps", lambda: nn.Linear(1, 2), domain="sequence", sample="numbers-5", input=SequenceInput(channels=1)
    )
    return lambda: LocalEngine(CARDS | {short.name: short}, trust=True)


def badge_on_the_stage(window: MainWindow) -> str:
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage)
    return stage.rows[0].readout.verdict


def greens(window: MainWindow) -> int:
    """Return how many pixels of the window have the colour of what holds."""
    image, good = window.grab().toImage(), theme.current().good
    return sum(image.pixelColor(x, y).name() == good for x in range(image.width()) for y in range(image.height()))


@pytest.mark.slow
def test_the_identity_is_grey_and_its_button_turns_it(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu"))
    settle(qtbot, window, measured=True)
    line = window.diagnosis
    assert line.text.text() == "Nothing to test yet: turn it." and badge_on_the_stage(window) == "nothing to test"
    assert ROLES[badge_on_the_stage(window)] == "muted"
    assert greens(window) == 0 and line.button.isVisible() and line.button.text() == "Turn it"
    qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.steps == parse_chain("rotate:90"), timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    assert not line.button.isVisible()
    assert line.text.text().startswith("Holds at every layer") and badge_on_the_stage(window) == "holds"
    assert greens(window) > 0


@pytest.mark.slow
def test_an_element_between_places_is_grey_and_has_a_way_out(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu", steps=parse_chain("rotate:80+translate:0.4")))
    settle(qtbot, window, measured=True)
    line = window.diagnosis
    assert line.text.text().startswith("This element puts values between places")
    assert badge_on_the_stage(window) == "no verdict" and greens(window) == 0
    qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: chain_text(window.controller.state.steps).startswith("rotate:90"), timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].verdict == "holds" and not line.button.isVisible()
    window.controller.undo()
    assert chain_text(window.controller.state.steps).startswith("rotate:80")


def test_a_picture_shifted_out_of_sight_has_no_error_of_zero(qtbot: QtBot, open_window: Open) -> None:
    """Nothing was left to compare, and the stage wrote a large 0 beside a difference that was not empty."""
    window = open_window(State("fine", device="cpu", steps=parse_chain("translate:400,0,zero")))
    settle(qtbot, window, measured=True)
    stage, inspector = window.panes.named("stage"), window.panes.named("inspector")
    assert isinstance(stage, Stage) and inspector is not None
    assert stage.rows[0].readout.value is None and badge_on_the_stage(window) == "no verdict"
    assert "nothing is left to compare" in stage.caption()
    assert window.diagnosis.text.text().startswith("All of x is cut off: nothing is left to compare.")
    cells = inspector.table.cells  # type: ignore[attr-defined]
    assert [cells[key, 0].text() for key in ("cumulative", "local", "decibel", "kept")] == ["–", "–", "–", "0%"]


def test_badge_and_words_agree_on_a_layer_that_passes_an_error_on(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("faulty", device="cpu", steps=parse_chain("rotate:90"), layer="3"))
    settle(qtbot, window, measured=True)
    stage, inspector = window.panes.named("stage"), window.panes.named("inspector")
    assert stage is not None and inspector is not None
    assert badge_on_the_stage(window) == "broken earlier" and ", broken earlier)" in stage.caption()
    assert inspector.table.heads[0].text() == "broken earlier"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_start_without_an_element_begins_at_one_that_shows_something(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widgets.window.controller.Controller.begin", _begin_moved(monkeypatch))
    window = open_window(State("fine", device="cpu"))
    assert chain_text(window.controller.state.steps) == "rotate:90" and not window.controller.can_undo
    net = tmp_path / "net.py"
    net.write_text("from torch import nn\n\ndef net():\n    return nn.Conv2d(1, 2, 3, padding=1)\n")
    tried = LocalEngine.first_steps

    def unable(engine: LocalEngine, state: State) -> object:
        if state.model.endswith(":net"):
            raise ValueError("it is turned all the same: its data are read by another process, which may be busy")
        return tried(engine, state)

    monkeypatch.setattr(LocalEngine, "first_steps", unable)
    window = open_window(State(f"{net}:net", device="cpu"))
    qtbot.waitUntil(lambda: chain_text(window.controller.state.steps) == "rotate:90", timeout=LONGEST_MS)
    settle(qtbot, window)
    given = open_window(State("fine", device="cpu", steps=parse_chain("reflect:horizontal")))
    assert chain_text(given.controller.state.steps) == "reflect:horizontal"


@pytest.mark.slow
def test_short_data_begin_at_an_element_that_leaves_something_of_them(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A delay by five steps pushes all of five numbers out; the button of the identity takes no such one either."""
    monkeypatch.setattr("widgets.window.controller.Controller.begin", _begin_moved(monkeypatch))
    window = open_window(State("steps", sample="numbers-5", device="cpu"))
    settle(qtbot, window, measured=True)
    assert window.controller.frame is not None
    assert chain_text(window.controller.frame.state.steps) == "shift:2" and not window.controller.can_undo
    assert window.controller.frame.squares[0].verdict == "holds" and not window.diagnosis.button.isVisible()
    window.controller.reset()
    settle(qtbot, window, measured=True)
    assert window.diagnosis.text.text() == "Nothing to test yet: shift it."
    qtbot.mouseClick(window.diagnosis.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: chain_text(window.controller.state.steps) == "shift:2", timeout=LONGEST_MS)


def _begin_moved(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    from widgets.window.controller import Controller

    begin = Controller.begin

    def moved(self: Controller) -> None:
        window = self.parent()
        assert isinstance(window, MainWindow)
        window.begin_moved()
        begin(self)

    return moved
