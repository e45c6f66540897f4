"""Odd and bad files of points, molecules, volumes and panoramas, opened in the window by its dialog and by dropping."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.explorer.parts.hostile.spatial import Case, spatial_files
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from tests.widgets.window.opening.test_kinds import asked_for, dropped
from widgets.window.main_window import MainWindow

CASES = spatial_files()
MODELS = sorted({case.model for case in CASES.values()})
LONGEST_SENTENCE = 320


def cases_of(model: str, refused: bool) -> list[Case]:
    return [case for case in CASES.values() if case.model == model and case.refused is refused]


def said(window: MainWindow) -> str:
    """Return what a person reads of the data: the line above the views, and the line of notes."""
    bars = (window.infobar, window.data_line)
    # one line holds a few of them; its tip has all
    return " ".join(text for bar in bars if bar.isVisible() for text in (bar.text.text(), bar.toolTip()))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.slow
def test_what_is_refused_is_said_and_changes_nothing(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    window = open_window(State(model, device="cpu"))
    before, frame = window.controller.state, window.controller.frame
    for case, way in zip(cases_of(model, refused=True), cycle((asked_for, dropped)), strict=False):
        window.infobar.hide()
        window.controller.refresh()  # a frame of the former state is under way, and is no answer to what comes now
        way(window, case.made(tmp_path), monkeypatch)
        qtbot.waitUntil(window.infobar.isVisible, timeout=LONGEST_MS)
        settle(qtbot, window)
        assert window.infobar.isVisible(), f"{case.name}: the sentence goes before it can be read"
        sentence = window.infobar.text.text()
        assert case.name in sentence and re.search(case.said, sentence), (case.name, sentence)
        assert "\n" not in sentence and len(sentence) < LONGEST_SENTENCE
        assert window.controller.state == before and not window.controller.can_undo, case.name
        assert window.controller.frame is not None and frame is not None
        assert window.controller.frame.sample_title == frame.sample_title, "what is shown stays"
    window.grab()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.slow
def test_what_is_taken_is_shown_with_its_note_and_undone(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    window = open_window(State(model, device="cpu"))
    before = window.controller.state.sample
    for case, way in zip(cases_of(model, refused=False), cycle((asked_for, dropped)), strict=False):
        path = case.made(tmp_path)
        way(window, path, monkeypatch)
        qtbot.waitUntil(lambda path=path: window.controller.state.sample == str(path), timeout=LONGEST_MS)
        settle(qtbot, window)
        assert window.controller.state.model == model, case.name
        assert re.search(case.said, said(window)), (case.name, said(window))
        window.grab()
        window.controller.undo()
        settle(qtbot, window)
        assert window.controller.state.sample == before
