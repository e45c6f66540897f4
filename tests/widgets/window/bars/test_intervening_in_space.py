"""Changes of points, of values and of degrees by a click with the other button, in the views in space."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.square.frame import Frame
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle
from widgets.spaces.points.charts.degree_chart import DegreeChart
from widgets.spaces.points.views.degrees import DegreesView
from widgets.spaces.points.views.points import PointsView
from widgets.spaces.sphere.views.globe import GlobeView
from widgets.window.main_window import MainWindow

RIGHT = Qt.MouseButton.RightButton


def menu_here(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    found = QApplication.activePopupWidget()
    assert isinstance(found, QMenu)
    return found


def click(qtbot: QtBot, text: str) -> None:
    """Click an entry of the open menu."""
    menu = menu_here(qtbot)
    action = next(a for a in menu.actions() if a.text() == text)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def changed(window: MainWindow) -> list[str]:
    return [str(one) for one in window.controller.state.interventions]


def frame_of(window: MainWindow) -> Frame:
    assert window.controller.frame is not None
    return window.controller.frame


def right_click_bar(qtbot: QtBot, chart: DegreeChart, index: int) -> None:
    assert chart.spectrum is not None
    at = chart.at(index, 0.4 * float(chart.spectrum.before.max()))
    qtbot.mouseClick(chart.viewport(), RIGHT, pos=at.toPoint())


def seen(chart: DegreeChart) -> list[bool]:
    """Return of which bars there is something."""
    return [] if chart.spectrum is None else [bool(v > 0) for v in chart.spectrum.before]


@pytest.fixture
def molecule(qtbot: QtBot, open_window: Open) -> MainWindow:
    state = State("tensor-field-network", sample="ethanol-3d", layer="layer2.gate", device="cpu",
                  steps=parse_chain("rotation:40,25,10"))  # fmt: skip
    window = open_window(state)
    window.show_view("degrees")
    settle(qtbot, window, measured=True)
    return window


def test_all_values_of_a_degree_are_zeroed_undone_and_redone(qtbot: QtBot, molecule: MainWindow) -> None:
    view = molecule.panes.named("degrees")
    assert isinstance(view, DegreesView)
    qtbot.waitUntil(lambda: view.degrees.spectrum is not None)
    right_click_bar(qtbot, view.degrees, 1)
    click(qtbot, "Zero degree 1")
    assert changed(molecule) == ["layer2.gate[degree 1]:zero"]
    settle(qtbot, molecule, measured=True)
    assert frame_of(molecule).squares[0].verdict == "holds", "a whole degree turns into itself"
    qtbot.waitUntil(lambda: seen(view.degrees) == [True, False, True])
    molecule.controller.undo()
    assert not changed(molecule)
    qtbot.waitUntil(lambda: seen(view.degrees) == [True, True, True])
    molecule.controller.redo()
    assert changed(molecule) == ["layer2.gate[degree 1]:zero"]


def test_the_drawn_value_and_the_atom_under_the_mouse_are_changed(qtbot: QtBot, molecule: MainWindow) -> None:
    view = molecule.panes.named("points")
    assert isinstance(view, PointsView)
    view.settle()
    canvas = view.canvas
    qtbot.mouseClick(canvas, RIGHT, pos=canvas.vertex_at(0, 0).toPoint())
    click(qtbot, "Zero particle 0")
    assert changed(molecule) == ["layer2.gate[particle 0]:zero"]
    settle(qtbot, molecule)
    view.value.setCurrentIndex(view.value.findData(8))
    view.value.activated.emit(view.value.currentIndex())
    corner = canvas.cells()[0].topLeft() + QPointF(6, 6)
    qtbot.mouseClick(canvas, RIGHT, pos=corner.toPoint())
    click(qtbot, "Zero value 8")
    assert changed(molecule)[-1] == "layer2.gate[value 8]:zero"
    settle(qtbot, molecule, measured=True)
    part = view.parts()[0][1]
    assert not part.values[:, 8:11].any() and part.values[1:, 11:14].any() and not part.values[0].any()


def test_a_component_of_a_vector_is_no_value(qtbot: QtBot, molecule: MainWindow) -> None:
    """The law that a whole value keeps is broken by one of its numbers, at that layer."""
    from explorer.declare.states.interventions import parse_intervention

    molecule.controller.change({"interventions": (parse_intervention("layer2.gate[8]:zero"),)})
    settle(qtbot, molecule, measured=True)
    assert frame_of(molecule).squares[0].verdict == "broken"


def test_a_degree_of_a_function_on_the_sphere_is_taken_out(qtbot: QtBot, open_window: Open) -> None:
    state = State("sphere-cnn", layer="lift", device="cpu", steps=parse_chain("turn-sphere:60,0,30"))
    window = open_window(state)
    settle(qtbot, window, measured=True)
    view = window.panes.named("globe")
    assert isinstance(view, GlobeView)
    view.settle()
    right_click_bar(qtbot, view.spectra[1], 3)
    click(qtbot, "Zero degree 3")
    assert changed(window) == ["lift[degree 3]:zero"]
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: seen(view.spectra[1]) == [True, True, True, False, True])
    assert frame_of(window).squares[0].verdict == "holds"
