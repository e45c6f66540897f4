"""Differences of two runs and histograms as they are drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.declare.telling.summaries import Difference, Differences, Histogram, LayerFigures, Statistics
from tests.widgets.parts.driving.view_driving import gather, odd_frames, opened
from tests.widgets.parts.frames.sample_frames import LAYERS, make_frame
from widgets.charts.library import pg
from widgets.views.charts.differences import SCALE, DifferencesView
from widgets.views.charts.values import ValuesView

ODD = odd_frames()
RELATIVE = (0.0, 1e-3, 0.5, None, 2.0)


def compared(layer="lift", found=True, of=RELATIVE):
    frame = make_frame()
    frame = replace(frame, state=replace(frame.state, against="sample=digit-5"))
    notes = ["" if r is not None else "4×4 there" for r in of]
    each = {n.name: Difference(r, r, note) for n, r, note in zip(LAYERS, of, notes, strict=True)}
    maps = np.random.default_rng(0).standard_normal((4, 5, 5)).astype(np.float32)
    told = Differences("Digit 5", each, layer, maps, maps + 1, -np.ones_like(maps)) if found else None
    return replace(frame, squares=(replace(frame.squares[0], differences=told),))


def figured(layer="lift"):
    frame = make_frame()
    edges = np.linspace(-1.0, 3.0, 5)
    histogram = Histogram(layer, edges, np.array([1, 2, 3, 4]), np.array([4, 3, 2, 1]), 10, 20)
    figures = LayerFigures(values={"lift": Statistics(0.5, 1.0, -1.0, 3.0, 0.25, 0, 0, 20)}, histogram=histogram)
    return replace(frame, squares=(replace(frame.squares[0], figures=figures),))


@pytest.fixture
def view(qtbot):
    return opened(qtbot, DifferencesView(), 900, 300)


def test_a_point_stands_for_each_layer_that_can_be_compared(view):
    view.set_frame(compared())
    x, y = view.chart.marks.getData()
    assert x.tolist() == [0, 1, 2, 4]
    assert y == pytest.approx(SCALE.decade([SCALE.low, 1e-3, 0.5, 2.0]))
    assert view.chart.read(pg.Point(3, -1)) == "group_pool: 4×4 there"
    assert "differs by 0.5" in view.chart.read(pg.Point(2.2, -1))
    assert view.sentence.text() == "Differs from Digit 5 from relu1 on, most at head (2 of its size)."
    assert view.numbers()["relative"][2] == 0.5 and view.numbers()["note"][3] == "4×4 there"


def test_no_empty_chart_stands_where_no_layer_can_be_compared(view):
    view.set_frame(compared(of=(None,) * len(LAYERS)))
    assert view.sentence.text() == "No layer of this run can be compared with Digit 5: 4×4 there."
    assert view.chart.isHidden() and view.grids[0].isVisible()
    view.set_frame(compared())
    assert view.chart.isVisible()


@pytest.mark.parametrize(
    ("there", "said"), [(None, "difference: not there"), (np.ones((2, 3, 3)), "difference: other shapes")]
)
def test_maps_that_cannot_be_subtracted_say_why(view, there, said):
    frame = compared(of=(None,) * len(LAYERS))
    told = replace(frame.squares[0].differences, there=there, apart=None)
    view.set_frame(replace(frame, squares=(replace(frame.squares[0], differences=told),)))
    assert view.grids[2].title.text == said


def test_a_click_on_a_layer_selects_it(view):
    view.set_frame(compared())
    wishes = gather(view)
    view.chart.clicked_at(pg.Point(2.1, -1))
    assert wishes[-1].changes == {"layer": "block.conv"}


def test_differences_stay_until_those_of_the_next_frame_come(view):
    view.set_frame(compared())
    view.set_frame(compared(found=False))
    assert view.chart.isVisible()
    other = compared(found=False)
    view.set_frame(replace(other, state=replace(other.state, against="sample=digit-7")))
    assert not view.chart.isVisible() and view.pages.label.text() == "Comparing the layers of both runs…"
    view.set_frame(make_frame())
    assert "Compare this run" in view.pages.label.text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("make", [DifferencesView, ValuesView])
def test_odd_frames_are_drawn(qtbot, make, name):
    view = opened(qtbot, make(), 500, 200)
    for frame in (ODD[name], compared(), figured(), None):
        view.set_frame(frame)
        view.grab()
        view.numbers(), view.caption()


def test_both_sides_of_the_square_are_counted(qtbot):
    view = opened(qtbot, ValuesView(), 600, 250)
    view.set_frame(figured())
    chart = view.charts[0]
    assert chart.columns.rectangles()[:, 3].tolist() == [1, 2, 3, 4]
    assert chart.moved.rectangles()[:, 3].tolist() == [4, 3, 2, 1]
    said = chart.read(pg.Point(0.5, 1))
    assert said == "from 0 to 1: 2 values of F(x), 3 of F(ρ(g)x); of 20 values 10 are counted"
    assert view.numbers()["F(x)"].tolist() == [1, 2, 3, 4]
