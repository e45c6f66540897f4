"""Exported figures of views in space: whole headings, labels beside their nodes, axes over what they lie on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPdfWriter
from PySide6.QtWidgets import QGraphicsScene

from explorer.spaces.points.drawing.routes import Route
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.frames.points_frames import TURN, give, points_frame
from widgets.spaces.mesh.drawing.board import Triad
from widgets.spaces.mesh.drawing.camera import Eye
from widgets.spaces.points.charts.routes_chart import RoutesChart, spaced
from widgets.spaces.points.views.degrees import DegreesView
from widgets.spaces.points.views.lifted import LiftedView
from widgets.spaces.points.views.routes import RoutesView

NARROW = 220, 160


@pytest.mark.parametrize("width", [180, 900])
def test_labels_of_paths_lie_beside_their_nodes_and_over_no_other_label(qtbot: Any, width: int) -> None:
    chart = opened(qtbot, RoutesChart(), width, 150)
    kinds = ("0", "1", "2", "3", "4", "5")
    chart.show_routes(tuple(Route(a, b, a, 1.0 if b == "0" else 1e-4, f"{a}{b}") for a in kinds for b in kinds))
    chart.grab()
    bars = [bar.mapRectToScene(bar.path().boundingRect()) for bar in chart.nodes if bar.isVisible()]
    labels = [label.sceneBoundingRect() for label in chart.labels if label.isVisible()]
    assert 3 <= len(labels) <= len(bars)
    margin = 4.0  # round the words of a label
    for k, label in enumerate(labels):
        words = label.adjusted(margin, margin, -margin, -margin)
        assert not any(words.intersects(bar) for bar in bars)
        assert not any(words.intersects(o.adjusted(margin, margin, -margin, -margin)) for o in labels[:k])


def test_the_axes_of_space_are_seen_through_in_a_pdf_too(qtbot: Any) -> None:
    scene = QGraphicsScene()
    ground = scene.addRect(QRectF(0, 0, 300, 300))
    ground.setBrush(QColor("red"))
    Triad(ground).show_axes(Eye(np.zeros(3), np.eye(3), 3.0), QRectF(0, 0, 300, 300))
    made = QBuffer()
    made.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(made)
    painter = QPainter(writer)
    scene.render(painter)
    painter.end()
    written = bytes(made.data().data())
    # a gradient of what is seen through is opaque there
    assert b"/SMask" in written and b"/ShadingType" not in written


@pytest.mark.parametrize(
    ("view", "model", "layer"),
    [(DegreesView, "tensor-field-network", "layer1.gate"), (RoutesView, "tensor-field-network", "layer2.product"),
     (LiftedView, "lieconv", "near")],
)  # fmt: skip
def test_figures_of_narrow_panels_are_wide_enough_for_their_headings(
    qtbot: Any, view: type[Any], model: str, layer: str
) -> None:
    made = opened(qtbot, view(), *NARROW)
    give(made, points_frame(model, TURN, layer))
    wide = made.figure_size()
    assert wide.width() > 2 * NARROW[0] and wide.height() > NARROW[1]


def test_a_figure_of_bases_alone_does_not_speak_of_sizes(qtbot: Any) -> None:
    view = opened(qtbot, DegreesView(), 600, 300)
    give(view, points_frame("schnet", TURN, "interactions.0"))
    assert view.caption().startswith("Functions of basis")
    give(view, points_frame("tensor-field-network", TURN, "layer1.gate"))
    assert view.caption().startswith("Sizes of values by degree at layer1.gate and functions of basis")


def test_each_path_is_reached_and_chosen_by_keys(qtbot: Any) -> None:
    chart = opened(qtbot, RoutesChart(), 500, 260)
    kinds = ("0", "1", "2")
    chart.show_routes(tuple(Route(a, b, a, 1.0 + len(a), f"{a}{b}") for a in kinds for b in kinds))
    chosen: list[Route] = []
    chart.chosen.connect(chosen.append)
    chart.setFocus()
    for _ in chart.routes:
        qtbot.keyClick(chart, Qt.Key.Key_Up)
        qtbot.keyClick(chart, Qt.Key.Key_Return)
    assert sorted(route.layer for route in chosen) == sorted(route.layer for route in chart.routes)


def test_thin_nodes_keep_their_labels_where_these_have_room_beside_each_other(qtbot: Any) -> None:
    """A lesson asks for the path that gives 1e, whose node is a hair: its label was left out."""
    chart = opened(qtbot, RoutesChart(), 900, 190)
    energies = {"0e": 0.2, "1o": 0.3, "1e": 1e-4, "2e": 0.5, "2o": 1e-4}
    chart.show_routes(tuple(Route("0e", kind, kind, energy, kind) for kind, energy in energies.items()))
    chart.grab()
    assert sum(label.isVisible() for label in chart.labels) == 1 + 5 + 5


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([10.0, 50.0, 90.0], [10.0, 50.0, 90.0]),
        ([50.0, 50.0, 50.0], [40.0, 50.0, 60.0]),
        ([0.0, 1.0, 99.0], [5.0, 15.0, 95.0]),
        ([50.0, 94.0, 95.0], [50.0, 85.0, 95.0]),
    ],
)
def test_labels_are_moved_apart_no_further_than_they_must(wanted: list[float], found: list[float]) -> None:
    assert spaced(wanted, 10.0, 5.0, 95.0) == pytest.approx(found)
