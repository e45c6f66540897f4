"""A newcomer's third tour of the whole window, with keys and mouse: what was wrong, and has to stay right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import chain_text, parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle
from widgets.base.controls.param_control import ParamControl
from widgets.base.look import theme
from widgets.base.settings import open_settings
from widgets.views.choosing.filters import FAVOURITES
from widgets.window.lessons.course import LESSONS
from widgets.window.main_window import MainWindow

CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
ROUNDED = 2  # levels of 255


def _press(
    qtbot: QtBot, window: MainWindow, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    qtbot.keyClick(window.focusWidget() or window, key, modifiers)


def _palette(qtbot: QtBot, window: MainWindow, text: str) -> list[str]:
    """Open the palette by its keys, type, and return the paths of what it shows."""
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=10_000)
    _press(qtbot, window, Qt.Key.Key_P, CTRL_SHIFT)
    assert window.palette_box.isVisible()
    qtbot.keyClicks(window.palette_box.line, text)
    return window.palette_box.shown()


def test_half_a_turn_has_one_name(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    for _ in range(2):
        _press(qtbot, window, Qt.Key.Key_BracketLeft)
        settle(qtbot, window)
    assert chain_text(window.controller.state.steps) == "rotate:180"
    assert "rotate:180" in window.windowTitle()
    for _ in range(4):  # the other way round to the same place
        _press(qtbot, window, Qt.Key.Key_BracketRight)
        settle(qtbot, window)
    assert chain_text(window.controller.state.steps) == "rotate:180"


def test_layers_and_culprits_are_found_by_their_names(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("plain-cnn", steps=parse_chain("rotate:90"), layer="conv1"))
    settle(qtbot, window, measured=True)
    assert _palette(qtbot, window, "conv3")[0] == "Layers › conv3"
    qtbot.keyClick(window.palette_box.line, Qt.Key.Key_Return)
    assert window.controller.state.layer == "conv3"
    settle(qtbot, window, measured=True)
    guilty = window.controller.frame.squares[0].guilty
    assert _palette(qtbot, window, "next guilty")[0] == "Layer › Next guilty layer"
    qtbot.keyClick(window.palette_box.line, Qt.Key.Key_Return)
    assert len(guilty) > 1 and window.controller.state.layer in set(guilty) - {"conv3"}


def test_the_palette_outlives_menus_that_are_filled_anew(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    _palette(qtbot, window, "")
    assert window.controller.catalogue is not None
    window.menus.show_catalogue(window.controller.catalogue)  # as when more is found while it is open
    qtbot.keyClicks(window.palette_box.line, "planted a stride")
    path = "Model › Images › G3  The convolutional block › Planted fault: a stride"
    assert window.palette_box.shown()[0] == path
    window.menus.show_catalogue(window.controller.catalogue)
    qtbot.keyClick(window.palette_box.line, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert window.controller.state.model == "fault-stride" and not window.infobar.isVisible()


def test_the_palette_shows_where_an_action_is_and_says_that_nothing_fits(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    window.resize(1024, 700)
    box = window.palette_box
    path = "Model › Compare with › L4  Adversarial networks › Deep convolutional GAN of faces (DCGAN)"
    assert path in _palette(qtbot, window, "compare gan")
    places = [path.rpartition(" › ")[0] for path in box.shown() if path.startswith("Model")]
    assert max(map(box.list.fontMetrics().horizontalAdvance, places)) + 12 <= box.list.columnWidth(1)
    # grey cannot be read on the colour of the chosen row
    first, second = box.list.topLevelItem(0), box.list.topLevelItem(1)
    grey = QColor(theme.current().muted)
    assert first.data(1, Qt.ItemDataRole.ForegroundRole) is None
    assert second.foreground(1).color() == grey
    qtbot.keyClick(box.line, Qt.Key.Key_Down)
    assert first.foreground(1).color() == grey and second.data(1, Qt.ItemDataRole.ForegroundRole) is None
    qtbot.keyClicks(box.line, "zzzz")
    assert not box.shown() and "zzzz" in box.nothing.text() and box.nothing.isVisible()
    qtbot.keyClick(box.line, Qt.Key.Key_Escape)


def test_the_name_of_a_layer_is_whole_where_there_is_room(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="schnet", layer="embedding.table"))
    title = window.panes.named("inspector").table.title
    qtbot.waitUntil(lambda: title.toolTip() == "embedding.table", timeout=10_000)
    assert title.text() == "embedding.table"


def test_panels_below_get_their_height_back_when_what_needs_room_above_goes(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    window.resize(1024, 600)
    settle(qtbot, window, measured=True)
    dock = window.docks.docks["errors"]
    qtbot.waitUntil(lambda: dock.height() > 150, timeout=10_000)
    high = dock.height()
    window.greeting.show_again()
    qtbot.waitUntil(lambda: dock.height() < high, timeout=10_000)
    qtbot.mouseClick(window.greeting_card.close_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dock.height() == high, timeout=10_000)


def test_a_person_s_own_height_of_the_panels_below_is_kept(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    dock = window.docks.docks["errors"]
    window.resizeDocks([dock], [150], Qt.Orientation.Vertical)
    qtbot.waitUntil(lambda: dock.height() < 160, timeout=10_000)
    chosen = dock.height()
    window.say("info", "A message that fits.")
    window.infobar.hide()
    settle(qtbot, window, measured=True)
    assert dock.height() == chosen


def test_every_kind_of_data_fits_into_a_window_of_a_thousand_pixels(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="o-cnn"))
    window.show_view("slices")
    settle(qtbot, window, measured=True)
    assert window.minimumSizeHint().width() <= 1000


def test_the_window_stands_within_the_screen(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    room = window.screen().availableGeometry()
    window.setGeometry(room.right() - 300, room.bottom() - 300, 1000, 700)
    window.fit_screen()
    qtbot.waitUntil(lambda: room.contains(window.frameGeometry()), timeout=10_000)
    assert window.width() == 1000, "moved, not made smaller"
    window.resize(room.width() + 200, 700)
    window.fit_screen()
    qtbot.waitUntil(lambda: room.contains(window.frameGeometry()), timeout=10_000)


def test_nothing_of_an_old_badge_is_left_where_a_picture_was_taken(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    stage = window.panes.front()
    window.show()
    window.activateWindow()
    settle(qtbot, window, measured=True)
    QApplication.processEvents()  # "nothing to test" is on the screen, wider than what comes

    def take(_: object) -> None:
        stage.catch_up()
        stage.snapshot()

    window.controller.frame_ready.connect(take)
    _press(qtbot, window, Qt.Key.Key_BracketLeft)
    settle(qtbot, window, measured=True)
    screen = window.screen()

    def clean() -> bool:
        at = stage.mapTo(window, QPoint())
        shown = screen.grabWindow(window.winId(), at.x(), at.y(), stage.width(), stage.height()).toImage()
        drawn = stage.grab().toImage().convertToFormat(shown.format())
        found, wanted = (np.frombuffer(one.constBits(), np.uint8).astype(int) for one in (shown, drawn))
        # a ramp of colours that lies between pixels is rounded by where a repaint begins; a badge is of another colour
        return found.shape == wanted.shape and bool(np.abs(found - wanted).max() <= ROUNDED)

    qtbot.waitUntil(clean, timeout=5_000)


@pytest.mark.slow
def test_a_control_that_a_lesson_points_at_is_wholly_in_sight(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    window.resize(1280, 800)
    window.controller.open_session(str(next(LESSONS.glob("66-*.json"))))
    inspector = window.panes.named("inspector")

    def pointed() -> bool:
        rows = [c for c in inspector.findChildren(ParamControl) if c.param.name == "together" and c.isVisible()]
        return bool(rows) and rows[0].visibleRegion().boundingRect().height() == rows[0].height()

    qtbot.waitUntil(pointed, timeout=60_000)
    # what is laid out late beside it does not take it away again
    row = next(c for c in inspector.findChildren(ParamControl) if c.param.name == "together" and c.isVisible())
    (area,) = (a for a in inspector.findChildren(QScrollArea) if a.isAncestorOf(row))
    filling = QWidget()
    filling.setFixedHeight(2 * area.height())
    area.widget().layout().insertWidget(0, filling)
    qtbot.waitUntil(lambda: filling.isVisible() and pointed(), timeout=3_000)


def test_no_transforms_are_offered_before_it_is_known_what_acts(qtbot: QtBot, tmp_path: Path) -> None:
    state = State(model="gan-by-hand", steps=State().with_step("permute", (1.0, 0.0)).steps)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(lambda: LocalEngine(main.cards()), state, settings)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.show_view("inspector")
    inspector = window.panes.named("inspector")
    window.controller.state_changed.emit(state, state)
    assert [name for name, section in inspector.sections.items() if not section.isHidden()] == ["permute"]
    window.controller.begin()
    settle(qtbot, window)
    shown = [name for name, section in inspector.sections.items() if not section.isHidden()]
    assert "permute" in shown and "rotate" not in shown


def test_two_programs_on_one_settings_file_keep_what_the_other_has_kept(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    gallery = window.panes.named("gallery")
    write = (
        "import sys; from PySide6.QtCore import QSettings; s = QSettings(sys.argv[1], QSettings.Format.IniFormat);"
        "s.setValue(sys.argv[2], sys.argv[3].split()); s.sync()"
    )

    def elsewhere(settings: QSettings, key: str, *values: str) -> None:
        settings.sync()
        subprocess.run([sys.executable, "-c", write, settings.fileName(), key, " ".join(values)], check=True)

    gallery.favourites.toggle("gcn")
    elsewhere(open_settings(), FAVOURITES, "gcn", "lstm")
    elsewhere(window.settings, "recent", "/a/theirs.csv", "/b/theirs.csv")
    gallery.models.starred.emit("plain-cnn")
    window.files.remember("/c/mine.csv")
    assert gallery.favourites.names == ["gcn", "lstm", "plain-cnn"]
    assert window.files.recent() == ["/c/mine.csv", "/a/theirs.csv", "/b/theirs.csv"]
    open_settings().remove(FAVOURITES)  # all tests share it
