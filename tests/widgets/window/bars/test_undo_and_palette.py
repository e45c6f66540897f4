"""An undo brings back what was in front, the timeline what was chosen elsewhere; the palette begins afresh."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate, settle
from widgets.spaces.sequence.views.timeline import TimelineView


def test_an_undo_to_other_data_brings_back_the_panels_that_were_in_front(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="lstm", sample="sine"))
    settle(qtbot, window)
    window.show_view("gates")
    window.show_view("equation")
    qtbot.waitUntil(lambda: "gates" in window.docks.in_front())
    before = window.docks.in_front()
    window.controller.set_model("d4-cnn")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: "errors" in window.docks.in_front())
    window.show_view("filters")
    window.controller.undo()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: window.docks.in_front() == before)
    assert window.panes.in_front() == "timeline"
    window.controller.redo()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: window.panes.in_front() == "filters")


def test_a_layer_that_is_chosen_elsewhere_is_scrolled_into_sight_in_the_timeline(
    qtbot: QtBot, open_window: Open
) -> None:
    window = open_window(State(model="transformer", sample="letters-12", steps=parse_chain("reverse")))
    window.resize(1000, 620)
    settle(qtbot, window)
    frame = window.controller.frame
    view = window.panes.named("timeline")
    assert frame is not None and isinstance(view, TimelineView)

    def in_sight(layer: str) -> bool:
        canvas = view.canvas
        own = [canvas.area(slot) for slot in canvas.slots if slot.row.layer == layer]
        plot = canvas.plotted
        return any(area.top() >= plot.top() - 1 and area.bottom() <= plot.bottom() + 1 for area in own)

    hidden = [slot.row.layer for slot in view.canvas.slots if slot.row.layer and not in_sight(slot.row.layer)]
    assert hidden, "else nothing has to be scrolled"
    for layer in hidden[:3]:
        view.canvas.bar.setValue(0)
        assert not in_sight(layer)
        window.controller.change({"layer": layer})
        settle(qtbot, window)
        qtbot.waitUntil(lambda layer=layer: in_sight(layer))
    view.canvas.bar.setValue(0)
    window.controller.apply("shift", (2.0, 0.0))
    settle(qtbot, window)
    assert view.canvas.bar.value() == 0, "how far a person has scrolled stays while the layer does"


def test_the_palette_begins_afresh_where_its_keys_are_pressed_again(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    activate(qtbot, window)
    settle(qtbot, window)
    keys = window.menus.actions["palette"].shortcut()
    box = window.palette_box
    qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(box.isVisible)
    every = box.shown()
    qtbot.keyClicks(box.line, "theme")
    assert keys.toString() == "Ctrl+Shift+P" and box.shown() != every
    qtbot.keyClick(box.line, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert box.isVisible() and box.line.text() == "" and box.shown() == every
    qtbot.keyClick(box.line, Qt.Key.Key_Escape)
    assert not box.isVisible()
