"""Films: pictures in space are those of the stage at rest; one that is given up says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.automation import recording
from widgets.window.main_window import MainWindow


@pytest.mark.slow
def test_pictures_of_a_film_are_as_sharp_as_the_stage_at_rest(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "PICTURES", 3)
    films: list[Any] = []
    monkeypatch.setattr(recording, "write", lambda _, pictures, *__: films.append(pictures))
    window = open_window(State("egnn", steps=parse_chain("rotation:40,25,10"), orbit="rotation", device="cpu"))
    window.show_view("points")
    settle(qtbot, window, measured=True)
    view = window.panes.named("points")
    assert view is not None
    film = recording.Recorder(window.controller, view, "film.gif")
    film.begin()
    qtbot.waitUntil(lambda: len(films) == 1, timeout=LONGEST_MS)
    settle(qtbot, window)
    last = film.elements[-1]
    window.controller.change({"steps": window.controller.state.with_step("rotation", last).steps})
    settle(qtbot, window)
    view.catch_up()
    view.settle()
    still = recording.as_array(view.snapshot().toImage()).astype(int)
    assert len(films[0]) == len(film.elements) > 1
    assert np.abs(films[0][-1].astype(int) - still[: films[0][-1].shape[0], : films[0][-1].shape[1]]).mean() < 0.2


def test_a_film_that_is_asked_for_before_the_first_answer_waits_for_it(
    qtbot: QtBot, start: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first seconds there was "nothing to film yet", and no advice."""
    monkeypatch.setattr(recording, "PICTURES", 3)
    window = MainWindow(
        start,
        State("dense-to-conv", sample="letter-f", steps=parse_chain("rotate:90"), device="cpu"),
        QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat),
    )
    path = tmp_path / "film.gif"
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(path))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.controller.begin()
    assert window.controller.frame is None
    window.menus.actions["export_orbit"].trigger()
    assert "begins with the first answer" in window.infobar.text.text() and window.infobar.isVisible()
    qtbot.waitUntil(path.exists, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: window.infobar.text.text() == f"Saved {path}", timeout=LONGEST_MS)
    window.close()


def test_a_film_that_is_given_up_for_a_turn_says_so(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """It ended without a word, and no file was there."""
    window = open_window(State("c4-cnn", steps=parse_chain("rotate:90"), device="cpu"))
    settle(qtbot, window)
    view = window.panes.named("stage")
    assert view is not None
    recording.Recorder(window.controller, view, str(tmp_path / "film.gif")).begin()
    window.controller.set_steps(parse_chain("rotate:30"))
    qtbot.waitUntil(lambda: window.infobar.text.text() == recording.GIVEN_UP, timeout=20_000)
