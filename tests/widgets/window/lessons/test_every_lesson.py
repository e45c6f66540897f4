"""Every step of every lesson, done in the whole window: its condition is fulfilled, and the card ticks."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QComboBox, QTabBar
from pytestqt.qtbot import QtBot

from explorer.state.lessons.pattern import CHOSEN, view_named
from explorer.state.session import load_session
from explorer.state.state import State
from tests.models.cards.lesson_doing import do
from tests.widgets.parts.driving.windows import Open, settle
from widgets.window.lessons.course import LESSONS
from widgets.window.lessons.guide import Guide
from widgets.window.lessons.targets import choices, in_sight, options, place_of
from widgets.window.main_window import MainWindow

PATHS = {path.stem[:2]: path for path in sorted(LESSONS.glob("*.json"))}
TAUGHT = [number for number, path in PATHS.items() if load_session(path).tasks]
IN_ONE_WINDOW = 5  # lessons
SLOWEST_MS = 120_000  # until the first answer of a large network
PATIENCE_MS = 20_000  # from an answer until it is seen


def begin(qtbot: QtBot, window: MainWindow, number: str) -> Guide:
    window.controller.open_session(str(PATHS[number]))
    settle(qtbot, window)
    guide = window.files.guide
    qtbot.waitUntil(lambda: guide.wanted is None, timeout=SLOWEST_MS)
    return guide


def choose(qtbot: QtBot, window: MainWindow, wanted: str) -> None:
    """Choose in a list or by a tab what a pattern like "matrix > V*" asks for; some is offered once it is measured."""

    def offered() -> list[tuple[QComboBox | QTabBar, int]]:
        lists = [(f"{name}{CHOSEN}", box) for name, box in choices(window)]
        return [(b, k) for name, b in lists for k, text in enumerate(options(b)) if fnmatchcase(name + text, wanted)]

    qtbot.waitUntil(lambda: bool(offered()), timeout=PATIENCE_MS)
    box, k = offered()[0]
    box.setCurrentIndex(k)
    if isinstance(box, QComboBox):
        box.activated.emit(k)


def take(qtbot: QtBot, window: MainWindow, guide: Guide, k: int, start: State) -> None:
    """Do what a step asks for: in the state and by opening views where it says when it is done, else by its button."""
    task, panel = guide.walk.tasks[k], guide.panel
    assert panel is not None
    if not task.patterns:
        card = panel.cards[k]
        window.show_view("layers")
        panel.show()
        panel.raise_()
        panel.bring_card(k)
        button = card.seen_button if not card.seen_button.isHidden() else card.reveal_button
        qtbot.waitUntil(button.isVisible, timeout=PATIENCE_MS)
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        return
    for pattern in task.patterns:
        since = guide.walk.since(k, start)
        state, views = do(pattern, window.controller.state, since, in_sight(window))
        window.controller.open_state(state)
        for view in sorted(views - in_sight(window)):
            window.show_view(view_named(view))
        settle(qtbot, window)
        for view in sorted(view for view in views if CHOSEN in view):
            choose(qtbot, window, view)
        QApplication.processEvents()  # the guide looks in the turn after it


def ticked(qtbot: QtBot, guide: Guide, number: str, k: int) -> None:
    try:
        qtbot.waitUntil(lambda: guide.walk.done[k], timeout=PATIENCE_MS)
    except qtbot.TimeoutError:
        pytest.fail(f"lesson {number}, step {k + 1} is not ticked: {guide.walk.tasks[k].do}")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("first", range(0, len(TAUGHT), IN_ONE_WINDOW), ids=lambda k: TAUGHT[k])
def test_each_step_is_ticked_in_the_window(qtbot: QtBot, open_window: Open, first: int) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    for number in TAUGHT[first : first + IN_ONE_WINDOW]:
        guide = begin(qtbot, window, number)
        start = window.controller.state
        assert not any(guide.walk.done), f"lesson {number} begins with a step done"
        for k, task in enumerate(guide.walk.tasks):
            assert guide.walk.current == k or guide.walk.done[k], f"lesson {number} points at another step than {k}"
            guide.show_step(k)
            qtbot.waitUntil(lambda: place_of(window, task) is not None, timeout=PATIENCE_MS)  # noqa: B023
            take(qtbot, window, guide, k, start)
            ticked(qtbot, guide, number, k)
            panel = guide.panel
            assert panel is not None and panel.cards[k].mark.text() == "✓", f"lesson {number}, step {k}"
        assert guide.walk.finished
        assert guide.course.done(PATHS[number]), f"lesson {number} is not counted as done"
