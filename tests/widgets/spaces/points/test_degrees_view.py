"""The Degrees view: spectra that stand still under motions, and functions of a distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication

from explorer.spaces.points.drawing.spectrum import Spectrum
from explorer.spaces.volume.drawing.values import VolumePart
from explorer.square.frame import Frame
from tests.widgets.parts.driving.view_driving import odd_frames, opened
from tests.widgets.parts.frames.points_frames import MOVING, TURN, give, points_frame
from widgets.spaces.points.views.degrees import DegreesView


@pytest.fixture
def view(qtbot: Any) -> DegreesView:
    made = opened(qtbot, DegreesView(), 900, 240)
    assert isinstance(made, DegreesView)
    return made


@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_points_say_what_to_do(view: DegreesView, name: str) -> None:
    view.set_frame(odd_frames()[name])
    view.grab()
    assert view.degrees.message.strip() and view.numbers() == {} and view.caption() == ""


def test_the_spectrum_stands_still_while_components_mix(view: DegreesView) -> None:
    give(view, points_frame(chain=TURN))
    found = view.degrees.spectrum
    assert found is not None and found.kinds == ("0e", "1o", "2e") and found.counts == (8, 8, 4)
    np.testing.assert_allclose(found.before, found.after, rtol=1e-5)
    assert found.mixed[0] < 1e-5 and found.mixed[1] > 0.1 and found.mixed[2] > 0.1
    assert set(view.numbers()) == {"kind", "F(x)", "F(ρ(g)x)", "components changed", "distance", "functions"}


def test_a_fault_changes_the_spectrum(view: DegreesView) -> None:
    give(view, points_frame("fault-tensor-field", TURN))
    found = view.degrees.spectrum
    assert found is not None and np.abs(found.before[1:] / found.after[1:] - 1).max() > 1e-2


def test_the_selected_point_has_a_spectrum_of_its_own(view: DegreesView) -> None:
    part = give(view, points_frame(chain=f"{TURN}+permute:3", node=2))
    whole, one = part.spectrum_at(None), view.degrees.spectrum
    assert whole is not None and one is not None and not np.allclose(whole.before, one.before)
    np.testing.assert_allclose(one.before, one.after, rtol=1e-5)


def test_places_are_vectors_from_their_middle(view: DegreesView) -> None:
    give(view, points_frame(MOVING, "displacement:3,0,0", "layers.3.moved", "bodies"))
    found = view.degrees.spectrum
    assert found is not None and found.kinds == ("1o",) and found.mixed[0] < 1e-5


def volume_degrees(view: DegreesView, model: str, chain: str, layer: str) -> tuple[Frame, Spectrum | None]:
    frame = points_frame(model, chain, layer, "corner-3d")
    view.set_state(frame.state)
    view.set_frame(frame)
    view.settle()
    view.grab()
    return frame, view.degrees.spectrum


def test_of_volumes_the_spectrum_stands_still_while_components_mix(view: DegreesView) -> None:
    frame, found = volume_degrees(view, "steerable-cnn-3d", "cube:xyz120", "gate1")
    assert found is not None and found.kinds == ("0e", "1o", "2e") and found.counts == (6, 4, 2)
    np.testing.assert_allclose(found.before, found.after, rtol=1e-4)
    assert found.mixed[0] < 1e-4, "what changes its place alone is not mixed"
    assert found.mixed[1] > 0.1 and found.mixed[2] > 0.1
    part = frame.squares[0].of(VolumePart)
    assert part is not None
    # the functions that kernels are made of, with a tick at each distance of two voxels
    assert view.basis.curve is part.curves["conv1"] and view.functions.count() == 3
    ticks = np.unique(view.basis.edges.getData()[0])
    np.testing.assert_allclose(ticks, [1, 2**0.5, 3**0.5, 2, 5**0.5, 6**0.5, 8**0.5, 3])
    assert {"kind", "distance"} <= set(view.numbers()) and "gate1" in view.caption()


def test_of_volumes_a_fault_changes_the_spectrum(view: DegreesView) -> None:
    _, found = volume_degrees(view, "fault-steerable-3d", "cube:xyz120", "gate1")
    assert found is not None and np.abs(found.before[1:] / found.after[1:] - 1).max() > 1e-2


def test_vectors_and_whole_volumes_have_degrees_and_orientations_none(view: DegreesView) -> None:
    _, whole = volume_degrees(view, "steerable-cnn-3d", "cube:xyz120", "mean")
    assert whole is not None and whole.kinds == ("0e", "1o") and whole.mixed[1] > 0.1
    np.testing.assert_allclose(whole.before, whole.after, rtol=1e-4)
    _, vectors = volume_degrees(view, "oh-vectors", "cube:z90", "vectors")
    assert vectors is not None and vectors.kinds == ("1o",) and vectors.mixed[0] > 0.1
    _, none = volume_degrees(view, "oh-vectors", "cube:z90", "relu1")
    assert none is None and "no values of a degree" in view.degrees.message and not view.basis.isVisible()


def test_functions_of_an_angle_are_chosen_with_ticks_at_the_angles_of_x(view: DegreesView) -> None:
    part = give(view, points_frame("dimenet", "", "rounds.0", "water-3d"))
    assert [view.functions.itemText(k) for k in range(view.functions.count())] == ["radial", "angular"]
    assert view.basis.curve is part.curves["radial"]
    view.functions.setCurrentText("angular")
    view.functions.activated.emit(1)
    assert view.basis.curve is part.curves["angular"] and view.functions.isVisible()
    ways = part.position[:, None] - part.position[None]
    (_, h1, h2) = np.argsort(-part.numbers, kind="stable")
    o = int(np.argmax(part.numbers))
    cosine = ways[h1, o] @ ways[h2, o] / np.linalg.norm(ways[h1, o]) / np.linalg.norm(ways[h2, o])
    ticks = np.unique(view.basis.edges.getData()[0])
    assert np.abs(ticks - np.degrees(np.arccos(cosine))).min() < 0.1 and 0 < ticks.min() and ticks.max() < 180
    give(view, points_frame("schnet", TURN, "interactions.0"))
    assert not view.functions.isVisible() and view.basis.curve is not None


def test_scalars_have_none_and_the_basis_is_drawn(view: DegreesView) -> None:
    part = give(view, points_frame("schnet", TURN, "interactions.0"))
    assert view.degrees.spectrum is None and "no values of a degree" in view.degrees.message
    assert "such as ways" in view.degrees.message  # the one layer that has some
    assert view.basis.isVisible() and view.basis.curve is part.curves["basis"]
    assert "function" in view.basis.read(view.basis.box.viewRect().center())


def test_each_kind_of_value_is_reached_by_keys_with_its_menu(view: DegreesView, qtbot: Any) -> None:
    give(view, points_frame("tensor-field-network", TURN, "layer1.gate"))
    chart = view.degrees
    asked: list[int] = []
    chart.asked.connect(lambda degree, at: asked.append(degree))
    assert chart.spectrum is not None
    chart.setFocus()
    for _ in range(2 * len(chart.spectrum.kinds)):
        qtbot.keyClick(chart, Qt.Key.Key_Right)
        QApplication.sendEvent(chart, QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint()))
    assert asked == [int(kind[0]) for kind in chart.spectrum.kinds for _ in range(2)]
