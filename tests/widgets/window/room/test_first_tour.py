"""The first tour of the whole window, with the mouse and the keys."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import chain_text, parse_chain
from explorer.state.state import State
from explorer.work.progress import step
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.base.controls.measure_table import MeasureTable
from widgets.views.choosing.gallery import GalleryView
from widgets.views.choosing.model_card import CardDelegate
from widgets.window.main_window import MainWindow


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


def gallery_of(window: MainWindow) -> GalleryView:
    view = window.panes.named("gallery")
    assert isinstance(view, GalleryView)
    return view


def press(qtbot: QtBot, button: QWidget) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def listed(view: GalleryView) -> list[str]:
    items = [view.models.item(row) for row in range(view.models.count())]
    infos = [view.models.info(item) for item in items if not item.isHidden()]
    return [info.name for info in infos if info is not None]


@pytest.mark.parametrize(("switch", "words"), [("own", "Open model"), ("favourites", "star")])
def test_what_there_is_none_of_yet_says_how_to_come_by_it(
    qtbot: QtBot, open_window: Open, switch: str, words: str
) -> None:
    window = open_window(State("fine", device="cpu"))
    view = gallery_of(window)
    every = listed(view)
    press(qtbot, view.filters.switches[switch])
    assert view.nothing.isVisible() and words in view.nothing.text() and "matches" not in view.nothing.text()
    view.nothing.linkActivated.emit("all")
    assert view.models.isVisible() and listed(view) == every != []


def test_a_star_lists_a_model_among_the_favourites(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu"))
    view = gallery_of(window)
    delegate = view.models.itemDelegate()
    assert isinstance(delegate, CardDelegate)
    item = next(i for i in map(view.models.item, range(view.models.count())) if view.models.info(i) is not None)
    view.models.scrollToItem(item)
    star = delegate.star_rect(view.models.visualItemRect(item)).center()
    before = window.controller.state
    qtbot.mouseClick(view.models.viewport(), Qt.MouseButton.LeftButton, pos=star)
    press(qtbot, view.filters.switches["favourites"])
    assert listed(view) == [view.models.info(item).name] and window.controller.state == before
    qtbot.mouseClick(
        view.models.viewport(),
        Qt.MouseButton.LeftButton,
        pos=delegate.star_rect(view.models.visualItemRect(item)).center(),
    )
    assert not listed(view) and "No favourites yet" in view.nothing.text()


def test_the_button_to_the_nearest_exact_element_leaves_nothing_idle(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu", steps=parse_chain("rotate:80+translate:0.3,0")))
    settle(qtbot, window, measured=True)
    button = window.diagnosis.button
    qtbot.waitUntil(lambda: button.isVisible() and "exact" in button.text(), timeout=LONGEST_MS)
    press(qtbot, button)
    qtbot.waitUntil(lambda: chain_text(window.controller.state.steps) == "rotate:90", timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    assert not button.isVisible() or "exact" not in button.text()


def test_what_a_person_ends_is_told_as_what_they_asked_for(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu"))
    settle(qtbot, window, measured=True)
    began, said = threading.Event(), []
    window.controller.log.connect(lambda level, text: said.append((level, text)))

    def work(engine: object) -> None:
        began.set()
        while True:
            step("", math.nan)
            threading.Event().wait(0.01)

    window.controller.do(work, "Reading film.avi…")
    qtbot.waitUntil(began.is_set)
    held = window.focusWidget()
    assert held is not None
    qtbot.keyClick(held, Qt.Key.Key_Escape)
    qtbot.waitUntil(window.infobar.isVisible, timeout=LONGEST_MS)
    assert window.infobar.text.text() == "Reading film.avi: cancelled." and window.infobar.passing
    assert ("info", "Reading film.avi: cancelled.") in said and not [s for s in said if s[0] == "error"]


class TestWithEveryModel:
    @pytest.fixture
    def start(self) -> Callable[[], LocalEngine]:
        import main

        return lambda: LocalEngine(main.cards())

    @pytest.mark.slow
    def test_the_welcome_goes_when_there_is_nothing_to_turn(self, qtbot: QtBot, open_window: Open) -> None:
        window = open_window(State(device="cpu"))
        window.greeting.greet()
        window.controller.set_model("plain-cnn")
        settle(qtbot, window)
        assert window.greeting_card.isVisible()
        window.controller.set_model("gcn")
        settle(qtbot, window)
        assert not window.greeting_card.isVisible()
        window.menus.actions["greeting"].trigger()  # asked for, it stays
        window.controller.set_model("gat")
        settle(qtbot, window)
        assert window.greeting_card.isVisible()

    @pytest.mark.slow
    def test_a_picture_brings_the_model_that_the_program_begins_with(
        self, qtbot: QtBot, open_window: Open, tmp_path: Path
    ) -> None:
        pixels = np.random.default_rng(0).integers(0, 255, (240, 320, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photo.png")
        window = open_window(State("autoregressive", device="cpu"))
        window.controller.open_path(str(tmp_path / "photo.png"))
        qtbot.waitUntil(lambda: window.controller.state.model == State().model, timeout=LONGEST_MS)
        settle(qtbot, window)

    @pytest.mark.slow
    def test_two_verdicts_stand_side_by_side_in_full(self, qtbot: QtBot, open_window: Open) -> None:
        window = open_window(
            State("bahdanau", compare="seq2seq", layer="alignment", steps=parse_chain("shift:1"), device="cpu")
        )
        window.resize(1000, 700)
        settle(qtbot, window, measured=True)
        inspector = window.panes.named("inspector")
        assert inspector is not None
        table = inspector.findChild(MeasureTable)
        assert table is not None
        qtbot.waitUntil(lambda: all("earlier" in head.text() for head in table.heads), timeout=LONGEST_MS)
        for head in table.heads:
            wide = max(head.fontMetrics().horizontalAdvance(line) for line in head.text().split("\n"))
            assert wide <= head.width()
