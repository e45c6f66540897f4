"""The globe in the whole window: what it shows, exports and undo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.spaces.points.drawing.spectrum import Spectrum
from explorer.spaces.sphere.elements.turn import about
from explorer.spaces.sphere.harmonics import map_points
from explorer.square.frame import BACK
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate, settle
from widgets.base.view import Wish
from widgets.figures.dressing import lay_out
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.mesh.drawing.board import scale_width
from widgets.spaces.points.charts.degree_chart import DegreeChart, cuts
from widgets.spaces.sphere.views.globe import SPECTRA, GlobeView, ball

FIRST = State(model="sphere-cnn", sample="globe", steps=parse_chain("turn-sphere:60,0,30"), layer="lift")


def test_a_globe_is_the_panorama_wrapped_round_a_ball() -> None:
    points, faces = ball(12)
    np.testing.assert_allclose(points, map_points(12).numpy(), atol=1e-12)
    a, b, c = (points[faces[:, k]] for k in range(3))
    assert (np.einsum("ij,ij->i", a + b + c, np.cross(b - a, c - a)) > 0).all(), "faces look outwards"


def test_alt_and_a_drag_turn_the_function(qtbot: QtBot) -> None:
    """The rotations of a drag follow the one that there was, whichever axis they are about."""
    view = GlobeView()
    qtbot.addWidget(view)
    view.set_state(FIRST)
    before = about(60.0, 0.0, 30.0).matrix
    for further in (about(7.0, 80.0, -20.0).matrix, before.T, before @ before):
        with qtbot.waitSignal(view.wished) as wish:
            view.canvas.turned.emit(further)
        name, values = wish.args[0].step
        assert name == "turn-sphere" and np.abs(about(*values).matrix - further @ before).max() < 1e-3
        assert wish.args[0].tag == "turn-sphere"


@pytest.mark.slow
def test_u_takes_answers_back_beside_those_of_x(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(FIRST)
    view = window.panes.front()
    assert isinstance(view, GlobeView)
    activate(qtbot, window)
    qtbot.keyClick(view, Qt.Key.Key_U)
    settle(qtbot, window)
    assert [look.title for look in view.canvas.looks] == ["x", "ρ(g)x", "F(x)", BACK]
    found = view.numbers()
    np.testing.assert_allclose(found[BACK], found["F(x)"], atol=1e-5)
    window.controller.reset()
    settle(qtbot, window)
    assert [look.title for look in view.canvas.looks] == ["x", "F(x)"], "nothing is to be taken back"


@pytest.mark.slow
def test_the_window_shows_a_globe_and_its_spectrum(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(FIRST)
    view = window.panes.front()
    assert isinstance(view, GlobeView), "the view that was made for it comes to the front"
    view.settle()
    assert [look.title for look in view.canvas.looks] == ["x", "ρ(g)x", "ρ′(g)F(x)", "F(ρ(g)x)"]
    found = view.numbers()
    np.testing.assert_allclose(found["spectrum of x"], found["spectrum of ρ(g)x"], rtol=1e-4)
    assert np.abs(found["x"] - found["ρ(g)x"]).max() > 0.1
    np.testing.assert_allclose(found["ρ′(g)F(x)"], found["F(ρ(g)x)"], atol=1e-5)
    for chart, names, degrees in zip(view.spectra, SPECTRA, (7, 5), strict=True):
        shown = chart.spectrum
        assert shown is not None and chart.names == names and shown.kinds == tuple(map(str, range(degrees)))
        np.testing.assert_allclose(shown.before, found[f"spectrum of {names[0]}"])
        np.testing.assert_allclose(shown.before, shown.after, rtol=1e-4)
        assert shown.mixed[0] < 1e-5 and shown.mixed[1:].min() > 0.05, "they mix within each degree, but for constants"
    for chart, names in zip(view.spectra, SPECTRA, strict=True):
        told = chart.header.shown() + [chart.names[k] for k in range(2) if chart.header.legend.isVisible()]
        assert set(names) <= set(told), "both bars are named, however narrow the chart is"
    for cell in view.canvas.board.cells.items:
        disc, shorter = cell.triad.rect(), min(cell.frame.rect().width(), cell.frame.rect().height())
        assert disc.width() < 0.35 * shorter or not cell.triad.isVisible(), "axes hide little of a ball"
    assert "values of degree 2\npower" in view.spectra[0].read(QPointF(2.0, 0.0))
    for ending in ("svg", "png"):
        export_view(view, tmp_path / f"a.{ending}")
        assert (tmp_path / f"a.{ending}").stat().st_size > 4000
    export_numbers(view, tmp_path / "a.npz")
    assert "layer lift" in view.caption() and "turn-sphere:60,0,30" in view.caption()
    window.controller.grant(Wish(changes={"layer": "head"}))
    settle(qtbot, window)
    assert [look.title for look in view.canvas.looks] == ["x", "ρ(g)x"]
    assert view.spectra[1].spectrum is None and "no coefficients" in view.spectra[1].message
    window.controller.undo()
    settle(qtbot, window)
    assert len(view.canvas.looks) == 4


@pytest.mark.slow
def test_two_models_are_shown_beside_each_other(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(replace(FIRST, compare="sphere-cnn-relu", layer="act1"))
    view = window.panes.front()
    assert isinstance(view, GlobeView)
    view.settle()
    titles = [square.title for square, _ in view.parts()]
    named = [f"{name} · {title}" for title in titles for name in ("ρ′(g)F(x)", "F(ρ(g)x)")]
    assert [look.title for look in view.canvas.looks] == named
    exact, cut = (look.scalars for look in view.canvas.looks[:2]), (look.scalars for look in view.canvas.looks[2:])
    assert np.ptp([np.asarray(v) for v in exact], 0).max() < 1e-4 < np.ptp([np.asarray(v) for v in cut], 0).max()
    assert len(view.panoramas[1].item.values) == 2, "the answer of each"
    for (_, part), chart in zip(view.parts(), view.spectra, strict=True):
        assert chart.spectrum is not None
        np.testing.assert_array_equal(chart.spectrum.before, part.spectra["F(x)"])
    assert {name.split("/")[0] for name in view.numbers()} == {"sphere-cnn", "sphere-cnn-relu"}


@pytest.mark.slow
def test_panoramas_have_the_room_of_their_scale_where_it_is_little(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(FIRST)
    view = window.panes.front()
    assert isinstance(view, GlobeView)
    for wide, seen in ((1600, True), (1024, False)):
        window.resize(wide, 700)
        for grid in view.panoramas:
            qtbot.waitUntil(lambda grid=grid, seen=seen: grid.bar.isVisible() == seen)
            frame = grid.item.frame()
            assert frame.width() > 0.5 * grid.width() or frame.height() > 0.6 * grid.height(), (wide, frame)


def test_bars_are_cut_into_coefficients_that_mix_while_their_sum_stands_still(qtbot: QtBot) -> None:
    parts = ((np.array([4.0]), np.array([1.0, 0.0, 2.0])), (np.array([4.0]), np.array([0.5, 1.5, 1.0])))
    both = (np.array([4.0, 3.0]),) * 2
    x, y = cuts(Spectrum(("0", "1"), (1, 1), *both, np.zeros(2), parts), 0.1)
    assert y.tolist() == [1, 1, 0.5, 0.5, 2, 2], "a line between each two coefficients that are there"
    assert (x[:2] < 1).all() and (x[2:] > 1).all(), "those of x at the left, those of ρ(g)x at the right"
    assert not cuts(Spectrum(("0", "1"), (1, 1), *both, np.zeros(2), parts), 2.0)[0].size, "no line hides a low bar"
    chart = DegreeChart(None, "power")
    qtbot.addWidget(chart)
    chart.show_spectrum(Spectrum(("0", "1"), (1, 1), *both, np.zeros(2), parts))
    assert chart.cuts.getData()[0].size == 6
    chart.show_spectrum(Spectrum(("0", "1"), (1, 1), *both, np.zeros(2)))
    assert chart.cuts.getData()[0] is None or not chart.cuts.getData()[0].size, "sizes that do not add up stay whole"


def test_a_column_of_a_paper_has_the_whole_scale_of_each_globe_and_axes(qtbot: QtBot, open_window: Open) -> None:
    """Four in a row left no room for the upper number of a scale, nor for more than the zero of an axis."""
    window = open_window(FIRST)
    view = window.panes.front()
    assert isinstance(view, GlobeView)
    view.resize(360, 540)
    lay_out(view)
    boxes, least = view.canvas.cells(), scale_width(view.canvas.looks)
    assert all(box.width() >= least for box in boxes)
    assert len({box.left() for box in boxes}) == len({box.top() for box in boxes}) == 2
    first, second = view.spectra
    assert first.geometry().top() > view.panoramas[0].geometry().top(), "below, and not beside"
    assert first.width() > 140 and second.width() > 140
    view.resize(760, 540)
    lay_out(view)
    assert len({box.top() for box in view.canvas.cells()}) == 1
    assert first.geometry().top() == view.panoramas[0].geometry().top()
