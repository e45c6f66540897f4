"""The depth view: energies, influences and verdicts are those of the frame, whatever it holds."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from PySide6.QtCore import QPointF

from explorer.spaces.graph.drawing.values import GraphPart
from explorer.state.state import State
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened, with_square
from tests.widgets.parts.frames.graph_frames import NAMES, graph_frame, graph_square, karate, pair_frame, structure_of
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.graph.charts.depth_chart import scale_of
from widgets.spaces.graph.charts.separation import distance, outputs
from widgets.spaces.graph.views.depth import DepthView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, DepthView())


@pytest.mark.parametrize("name", ODD)
def test_frames_without_a_graph_say_what_to_do(view, name):
    view.set_frame(ODD[name])
    view.grab()
    assert "Choose a graph" in view.energy.message or "no graph" in view.energy.message
    assert not view.influence.isVisible() and not view.table.isVisible()
    assert view.numbers() == {} and view.caption() == ""


def test_energies_stand_at_their_layers(view):
    frame = karate()
    view.set_frame(frame)
    chart, energy = view.energy, frame.squares[0].of(GraphPart).energy
    fall = chart.falls[0]
    assert fall.names == NAMES and fall.energies.tolist() == list(energy.values())
    x, heights = chart.marks[0].getData()
    np.testing.assert_allclose(heights, np.log10(fall.energies))
    assert x.tolist() == [chart.place(fall, i) for i in range(5)] == [0, 1, 2, 3, 4]
    assert [name.text for name in chart.names.names if name.role] == ["conv2"]
    plot, scale = chart.plotted, chart.scale
    for end in (scale.low, scale.high):  # the whole axis and every mark lie inside the plot
        assert plot.top() < chart.at(4, np.log10(end)).y() < plot.bottom()
    assert plot.left() < chart.at(0, 0).x() < chart.at(4, 0).x() <= plot.right()


def test_a_graph_without_energies_says_why(view):
    frame = karate()
    part = frame.squares[0].of(GraphPart)
    why = "The graph has no Dirichlet energy: the weights of the edges must be finite and not negative."
    view.set_frame(with_square(frame, part=replace(part, energy={}, missing={"energy": why})))
    assert view.energy.message == why and not view.energy.falls


def test_the_models_are_compared_at_the_same_relative_depth(view):
    view.set_frame(karate(compare=True))
    chart = view.energy
    short, long = chart.falls
    assert chart.place(short, 4) == chart.place(long, 6) and chart.place(short, 2) == chart.place(long, 3)


def test_a_click_on_a_layer_selects_it_also_for_the_second_model(view):
    wishes = gather(view)
    view.set_frame(karate(compare=True))
    chart = view.energy
    for k, fall in enumerate(chart.falls):
        i = len(fall.names) - 1 - k
        mouse = PlotMouse(chart)
        mouse.click(mouse.at_data(chart.place(fall, i), np.log10(fall.energies[i])))
    assert wishes[0].changes == {"layer": "conv4"}
    assert wishes[1].changes == {"layer": "conv3"}  # conv5 is at 5/6, as conv3 of four steps nearly is


def test_without_a_node_it_asks_for_one_and_while_it_is_measured_it_says_so(view):
    view.set_frame(karate())
    assert "Click a node in the Graph panel" in view.influence.message
    view.set_state(State(node=3))
    assert "being measured" in view.influence.message
    view.set_frame(karate(node=3))
    assert view.influence.message == "" and view.influence.node == "member 4"
    view.set_state(State(node=4))  # the frame at hand answers another node
    assert "being measured" in view.influence.message
    view.set_state(State(node=None))
    assert "Click a node" in view.influence.message


def test_an_influence_that_will_not_come_says_why(view):
    frame = karate(node=3)
    part = replace(frame.squares[0].of(GraphPart), influence=None, missing={"influence": "It is too slow."})
    view.set_state(State(node=3))
    view.set_frame(with_square(frame, part=part))
    assert view.influence.message == "It is too slow."
    view.set_state(State(node=4))
    assert "being measured" in view.influence.message


def test_a_layer_without_nodes_has_no_influence(view):
    frame = karate(node=3)
    part = replace(frame.squares[0].of(GraphPart), kind="edge", influence=None)
    view.set_frame(with_square(frame, part=part))
    assert "no value at a node" in view.influence.message


def test_points_and_medians_are_the_influences(view):
    frame = karate(node=0)
    view.set_frame(frame)
    chart, part = view.influence, frame.squares[0].of(GraphPart)
    spots = chart.spots[0]
    nodes, xs, values = spots.nodes, spots.x, spots.values
    assert sorted(nodes.tolist()) == list(range(34))
    np.testing.assert_array_equal(values, part.influence[nodes])
    np.testing.assert_array_equal(np.floor(xs + 0.5), part.distance[nodes])
    drawn = chart.dots[0].getData()
    np.testing.assert_array_equal(drawn[0], xs)
    np.testing.assert_allclose(drawn[1], np.log10(values))
    for hops, median in enumerate(spots.medians):
        assert median == np.median(part.influence[part.distance == hops])
    np.testing.assert_allclose(chart.medians[0].getData()[1][::2], np.log10(spots.medians))


def test_a_click_on_a_point_selects_its_node_and_hovering_names_it(view):
    wishes, said = gather(view), []
    view.hovered.connect(said.append)
    view.set_frame(karate(node=0))
    mouse, spots = PlotMouse(view.influence), view.influence.spots[0]
    i = int(np.argmax(spots.values))
    at = mouse.at_data(spots.x[i], np.log10(spots.values[i]))
    mouse.move(at)
    assert "influence" in said[-1] and "0 hops" in said[-1]
    assert view.influence.ring.getData()[0].tolist() == [spots.x[i]]
    mouse.click(at)
    assert wishes[-1].changes == {"node": int(spots.nodes[i])}
    assert "median influence" in mouse.read(mouse.at_data(1, view.influence.scale.decades[0]))


def test_out_of_reach_and_without_influence_are_said(view):
    graph = nx.disjoint_union(nx.path_graph(9), nx.complete_graph(4))
    view.set_frame(graph_frame(graph_square(structure_of(graph, names=False), node=0), node=0))
    chart = view.influence
    assert chart.unreached() == "4 nodes out of reach" and chart.node == "node 0"
    assert chart.spots[0].medians[3] > 0 and chart.spots[0].medians[4] == 0  # three layers reach three hops
    assert chart.end.words() == ["no influence beyond 3 hops"]
    np.testing.assert_array_equal(chart.beyond.rectangles()[:, :2], [[3.5, 8.5]])
    assert chart.dots[0].getData()[0].max() < 3.5
    view.grab()


@pytest.mark.slow
def test_many_nodes_are_drawn_by_some_of_them_and_a_band(view):
    view.set_frame(graph_frame(graph_square(structure_of(nx.star_graph(1400), names=False), node=0), node=0))
    spots = view.influence.spots[0]
    assert len(spots.nodes) == 401 and spots.bands[0][0] == 1
    assert len(view.influence.bands[0].rectangles()) == 1
    view.grab()


@pytest.mark.parametrize("apart, expected", [(0.0, False), (1e-7, False), (0.5, True)])
def test_verdicts_on_a_pair_that_refinement_cannot_tell_apart(view, apart, expected):
    view.set_frame(pair_frame(apart))
    first, second = view.table.rows
    assert view.table.isVisible()
    assert first.apart is False and first.who == "1-WL" and "1 colour" in first.words
    assert second.apart is expected and second.who == "gin"
    assert ("beyond 1-WL" in second.words) is expected
    assert "1-WL: no" in view.table.accessibleDescription()


def test_verdicts_on_a_pair_that_it_can(view):
    view.set_frame(pair_frame(0.5, alike=False))
    assert [row.apart for row in view.table.rows] == [True, True]
    assert "round" in view.table.rows[0].words and "beyond" not in view.table.rows[1].words
    assert view.numbers()["told apart"].tolist() == ["True", "True"]


def test_outputs_of_two_graphs_come_from_the_output_or_from_an_invariant_layer():
    square = pair_frame(0.5).squares[0]
    assert outputs(square).shape == (2, 2)
    values = np.array([[1.0], [3.0]])
    layer = replace(square, output=np.zeros(5), part=replace(square.of(GraphPart), kind="invariant", values=values))
    np.testing.assert_array_equal(outputs(layer), values)
    assert outputs(replace(square, output=np.zeros(5))) is None
    assert distance(values) == pytest.approx(2 / 3) and distance(np.zeros((2, 3))) == 0


def test_one_graph_has_no_table(view):
    view.set_frame(pair_frame())
    view.set_frame(karate())
    assert not view.table.isVisible() and view.table.rows == ()


@pytest.mark.parametrize(
    "energy", [{}, {"only": 0.5}, {"a": 0.0, "b": float("nan"), "c": 1e-30}, {f"layer.{i}": 0.5**i for i in range(200)}]
)
def test_odd_energies_are_drawn(view, energy):
    frame = karate(node=1)
    view.set_frame(with_square(frame, part=replace(frame.squares[0].of(GraphPart), energy=energy)))
    view.grab()
    assert bool(view.energy.message) == (not energy)
    mice = PlotMouse(view.energy), PlotMouse(view.influence)
    for x in range(0, 600, 50):
        for mouse in mice:
            mouse.move(QPointF(x, 60.0))


@pytest.mark.parametrize("influence", [np.zeros(34), np.full(34, np.nan), np.full(34, 1e-300), np.full(34, 1e30)])
def test_odd_influences_are_drawn(view, influence):
    frame = karate(node=1)
    view.set_frame(with_square(frame, part=replace(frame.squares[0].of(GraphPart), influence=influence)))
    assert not view.grab().isNull()


def test_the_axis_holds_the_values_in_whole_decades():
    scale = scale_of(np.array([0.0, 3e-5, 0.2, np.nan]))
    assert (scale.low, scale.high) == (pytest.approx(1e-5), pytest.approx(1.0))
    far = scale_of(np.array([1.0, 1e-40]))
    assert far.low == pytest.approx(1e-12)


def test_nothing_is_made_anew_on_a_frame(view):
    frames = [karate(compare=True, node=2), karate(compare=True, node=3)]
    view.set_frame(frames[0])
    before = objects(view)
    for i in range(20):
        view.set_frame(frames[i % 2])
        view.grab()
    assert objects(view) == before


@pytest.mark.parametrize("width, height", [(1280, 180), (250, 500), (90, 70), (2560, 400)])
def test_every_size_can_be_drawn(qtbot, width, height):
    view = opened(qtbot, DepthView(), width, height)
    view.set_frame(pair_frame(0.2, node=1))
    assert not view.grab().isNull()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_it_is_exported(view, tmp_path, ending):
    view.set_frame(karate(compare=True, node=2))
    export_view(view, tmp_path / f"depth.{ending}")
    assert (tmp_path / f"depth.{ending}").stat().st_size > 2000
    export_numbers(view, tmp_path / "numbers.npz")
    with np.load(tmp_path / "numbers.npz") as kept:
        assert kept["energy"].shape == (5,) and kept["compare.influence at conv2"].shape == (34,)
    assert "influence of every x on member 3 at conv2" in view.caption()
