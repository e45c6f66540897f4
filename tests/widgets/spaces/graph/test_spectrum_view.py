"""The spectrum view: what is drawn is the graph Fourier transform, and a click shows an eigenvector."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from explorer.spaces.graph.drawing.values import GraphPart
from explorer.state.state import State
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.graph_frames import graph_frame, graph_square, karate, structure_of
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.graph.views.spectrum import SpectrumView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, SpectrumView())


def with_part(frame, **changes):
    square = frame.squares[0]
    return replace(frame, squares=(replace(square, part=replace(square.of(GraphPart), **changes)), *frame.squares[1:]))


@pytest.mark.parametrize("name", ODD)
def test_frames_without_a_graph_say_what_to_do(view, name):
    view.set_frame(ODD[name])
    view.grab()
    assert "Choose a graph" in view.charts[0].message or "no graph" in view.charts[0].message
    assert not view.vector.isVisible()
    assert view.numbers() == {} and view.caption() == ""


def test_a_spectrum_that_is_being_computed_says_so(view):
    view.set_frame(with_part(karate(), spectrum=None))
    assert "being computed" in view.charts[0].message
    view.set_frame(karate())
    assert view.charts[0].message == ""
    view.set_frame(with_part(karate(), spectrum=None, missing={"spectrum": "It is too large."}))
    assert view.charts[0].message == "It is too large."  # it was "being computed" for ever


def test_stems_stand_at_eigenvalues_and_their_heights_are_shares_of_energy(view):
    frame = karate()
    view.set_frame(frame)
    chart, spectrum = view.charts[0], frame.squares[0].of(GraphPart).spectrum
    lines = chart.lines
    assert lines.count.sum() == 34 and np.all(np.diff(lines.values) > 0)
    assert lines.x.sum() == pytest.approx(1) and lines.layer.sum() == pytest.approx(1)
    power = (spectrum.x**2).sum(1)
    assert lines.x[0] == pytest.approx(power[0] / power.sum())
    # three times (I + A_hat) / 2: the response is (1 - lambda / 2)^3
    known = np.isfinite(lines.response)
    np.testing.assert_allclose(lines.response[known], (1 - lines.values[known] / 2) ** 3, atol=1e-6)
    assert chart.box.viewRange()[1] == pytest.approx([-6, 1])
    for marks, stems, shares in zip(chart.marks, chart.stems, (lines.x, lines.layer)):
        x, heights = marks.getData()
        np.testing.assert_allclose(heights, np.log10(shares))
        np.testing.assert_allclose(stems.getData()[1][1::2], heights)
        assert np.abs((x - lines.values) * chart.pixels().x()).max() < 3.01
    x, curve = chart.response.getData()
    np.testing.assert_array_equal(x, lines.values[known])
    np.testing.assert_allclose(curve, np.log10(lines.response[known]))


def test_the_rayleigh_quotient_is_the_energy_of_the_field(view):
    frame = karate()
    view.set_frame(frame)
    part = frame.squares[0].of(GraphPart)
    before, after = view.charts[0].lines.means
    assert after == pytest.approx(part.energy["conv2"], rel=1e-5)
    assert before > after  # smoothing lowers it
    assert [line.value() for line in view.charts[0].means] == [before, after]


def test_the_read_out_gives_the_numbers_of_an_eigenvalue(view, qtbot):
    view.set_frame(karate())
    chart, said = view.charts[0], []
    view.hovered.connect(said.append)
    mouse = PlotMouse(chart)
    mouse.move(mouse.middle(chart.lines.values[0]))
    assert "λ1 = " in said[-1] and "response 1" in said[-1] and "conv2" in said[-1]


def test_a_click_shows_the_eigenvector_and_again_the_next_of_equal_ones(view):
    frame = karate()
    view.set_frame(frame)
    chart, spectrum = view.charts[0], frame.squares[0].of(GraphPart).spectrum
    level = int(np.argmax(chart.lines.count))
    first, count = int(chart.lines.first[level]), int(chart.lines.count[level])
    assert count > 1
    mouse = PlotMouse(chart)
    for turn in (0, 1, count):
        mouse.click(mouse.middle(chart.lines.values[level]))
        expected = first + min(turn, 1) if turn < count else first + 2 % count
        assert view.selected == expected
        np.testing.assert_array_equal(view.vector.values, spectrum.vectors[:, expected])
        assert chart.rug.picked == level
    chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Left)
    assert view.selected == first + 2 % count - 1


def test_colours_below_an_eigenvector_go_from_its_lowest_to_its_highest(view):
    """The bar had one colour: its range was that of a picture of one pixel."""
    view.set_frame(karate())
    chart = view.charts[0]
    mouse = PlotMouse(chart)
    mouse.click(mouse.middle(chart.lines.values[1]))
    image = view.grab().toImage()
    strip = view.vector.colours.colours
    seen = strip.sceneBoundingRect()
    place = view.vector.mapTo(view, seen.center().toPoint())
    half = int(seen.width() / 2) - 2
    low, high = (image.pixelColor(place.x() + side, place.y()) for side in (-half, half))
    assert seen.width() < 100 and low.blue() > low.red() and high.red() > high.blue()


def test_the_eigenvector_stays_when_a_frame_comes_and_goes_when_there_is_none_like_it(view):
    view.set_frame(karate())
    view.pick(30)
    view.set_frame(karate(compare=True))
    assert view.selected == 30
    view.set_frame(graph_frame(graph_square(structure_of(nx.path_graph(5)))))
    assert view.selected is None and "Click an eigenvalue" in view.vector.message


@pytest.mark.parametrize("places", [False, True])
def test_a_click_on_a_node_of_the_eigenvector_selects_it(view, places):
    wishes = gather(view)
    view.set_frame(karate(places=places))
    view.pick(1)
    view.grab()
    chart = view.vector
    mouse = PlotMouse(chart)
    if places:
        at = mouse.at_data(*chart.places[7])
        expected = 7
        np.testing.assert_array_equal(np.stack(chart.nodes.getData(), 1), chart.places)
        assert chart.pixels().x() == pytest.approx(chart.pixels().y(), rel=0.02)
        assert all(chart.plotted.contains(mouse.at_data(*place)) for place in chart.places)
    else:
        at = mouse.middle(33.5)
        expected = None
        sides = chart.bars.rectangles()
        np.testing.assert_allclose(sides[:, 2] + sides[:, 3], np.sort(chart.values), atol=0.02)
    mouse.click(at)
    if expected is None:  # the last bar is the largest value's, which two members share
        expected = wishes[-1].changes["node"]
        assert chart.values[expected] == pytest.approx(chart.values.max(), abs=1e-9)
    assert wishes[-1].changes == {"node": expected}
    assert f"member {expected + 1}: u2 = " in mouse.read(at)


def test_a_layer_that_is_no_field_on_nodes_leaves_the_input(view):
    frame = karate()
    spectrum = replace(frame.squares[0].of(GraphPart).spectrum, layer=None)
    view.set_frame(with_part(frame, spectrum=spectrum, kind="edge"))
    chart = view.charts[0]
    assert chart.lines.layer is None and chart.lines.response is None
    assert "no field on the nodes" in str(chart.header.parts)
    view.grab()
    assert "response" not in view.numbers()


def test_a_partial_spectrum_says_so_and_takes_the_layers_quotient_from_its_energy(view):
    frame = karate()
    part = frame.squares[0].of(GraphPart)
    spectrum = part.spectrum
    few = replace(spectrum, eigenvalues=spectrum.eigenvalues[:10], vectors=spectrum.vectors[:, :10],
                  x=spectrum.x[:10], layer=spectrum.layer[:10], partial=True)  # fmt: skip
    view.set_frame(with_part(frame, spectrum=few))
    chart = view.charts[0]
    assert chart.header.parts[1][0] == "lowest 10 of 34 frequencies"
    assert chart.lines.means == (None, part.energy["conv2"])
    assert "the lowest 10 of 34 eigenvalues" in view.caption()
    assert chart.at(float(chart.lines.values[-1]), 0).x() > chart.plotted.center().x()


def test_two_models_share_the_eigenvector_and_have_charts_of_their_own(view):
    view.set_frame(karate(compare=True))
    assert view.charts[1].isVisible() and view.charts[1].colour_role == "second"
    numbers = view.numbers()
    assert {
        "eigenvalue",
        "energy of the input",
        "energy of conv2",
        "compare.energy of conv2",
        "compare.response",
    } <= set(numbers)
    view.set_frame(karate())
    assert not view.charts[1].isVisible()


@pytest.mark.parametrize("kind", ["empty", "one node", "no channels", "nan", "1000 nodes"])
def test_odd_graphs_are_drawn(view, kind):
    graph = {"empty": nx.empty_graph(0), "one node": nx.empty_graph(1)}.get(kind, nx.path_graph(9))
    graph = nx.random_geometric_graph(1000, 0.06, seed=0) if kind == "1000 nodes" else graph
    square = graph_square(structure_of(graph))
    spectrum = square.of(GraphPart).spectrum
    if kind == "no channels":
        spectrum = replace(spectrum, x=np.zeros((9, 0)), layer=np.zeros((9, 0)))
    if kind == "nan":
        spectrum = replace(spectrum, x=spectrum.x * np.nan, layer=spectrum.layer * np.nan)
    view.set_frame(with_part(graph_frame(square), spectrum=spectrum))
    if len(spectrum.eigenvalues):
        view.pick(0)
    view.grab()
    view.numbers(), view.caption()
    mice = PlotMouse(view.charts[0]), PlotMouse(view.vector)
    for x in range(0, 900, 60):
        for mouse in mice:
            mouse.move(QPointF(x, 60.0))


def test_nothing_is_made_anew_on_a_frame(view):
    frames = [karate(compare=True), karate(compare=True, node=3)]
    view.set_frame(frames[0])
    view.pick(2)
    before = objects(view)
    for i in range(20):
        view.set_frame(frames[i % 2])
        view.grab()
    assert objects(view) == before


def test_the_state_marks_the_node_before_its_frame_is_there(view):
    view.set_frame(karate())
    view.pick(1)
    view.set_state(State(node=5))
    assert view.vector.node == 5
    view.set_frame(karate())  # a late frame
    assert view.vector.node == 5


@pytest.mark.parametrize("width, height", [(1280, 180), (250, 500), (90, 70), (2560, 400)])
def test_every_size_can_be_drawn(qtbot, width, height):
    view = opened(qtbot, SpectrumView(), width, height)
    view.set_frame(karate(compare=True, places=True))
    view.pick(1)
    assert not view.grab().isNull()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_it_is_exported(view, tmp_path, ending):
    view.set_frame(karate(compare=True))
    view.pick(1)
    export_view(view, tmp_path / f"spectrum.{ending}")
    assert (tmp_path / f"spectrum.{ending}").stat().st_size > 2000
    if ending == "svg":
        assert "residual-gcn" in (tmp_path / "spectrum.svg").read_text("utf-8") or "gcn on Zachary" in view.caption()
    export_numbers(view, tmp_path / "numbers.npz")
    with np.load(tmp_path / "numbers.npz") as kept:
        assert kept["eigenvector 2"].shape == (34,)


def test_an_image_after_a_graph_is_an_empty_state(view):
    view.set_frame(karate())
    view.set_frame(make_frame())
    assert "no graph" in view.charts[0].message and not view.vector.isVisible()
