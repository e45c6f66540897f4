"""The graph view in real windows: what is shown where, and what hands on it ask for."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPolygonF, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.declare.elements import Step
from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.square.frame import Frame
from tests.widgets.parts.driving.mouse import double_click, move
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.graph_parts import both_ways, graph_frame, karate_part, make_part
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.graph.drawing import geometry
from widgets.spaces.graph.drawing import pictures as graph_pictures
from widgets.spaces.graph.drawing import placing as graph_placing
from widgets.spaces.graph.drawing.geometry import LARGEST, Eye, beside_in, fitted, margin_in, strands
from widgets.spaces.graph.views.graph import NONE, GraphView

LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton
PLAIN, ALT, SHIFT = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier,
                     Qt.KeyboardModifier.ShiftModifier)  # fmt: skip


@pytest.fixture(autouse=True)
def in_light() -> Any:
    theme.use("light")
    yield
    theme.use("light")


def shown(qtbot: Any, frame: Frame | None, size: tuple[int, int] = (1000, 640)) -> GraphView:
    view = opened(qtbot, GraphView(), *size)
    assert isinstance(view, GraphView)
    give(qtbot, view, frame)
    return view


def give(qtbot: Any, view: GraphView, frame: Frame | None) -> None:
    if frame is not None:
        view.set_state(frame.state)
    view.set_frame(frame)
    qtbot.waitUntil(lambda: not view.placing.running, timeout=20_000)
    qtbot.waitUntil(lambda: not view.parts() or view.canvas.places is not None)
    view.settle()


def drag(view: GraphView, start: QPointF, *stops: QPointF, keys: Any = PLAIN, button: Any = LEFT) -> None:
    c = view.canvas
    QTest.mousePress(c, button, keys, start.toPoint())
    for stop in stops:
        move(c, stop.toPoint(), button, keys)
    QTest.mouseRelease(c, button, keys, stops[-1].toPoint())


def at(view: GraphView, node: int, column: int = 0, row: int = 0) -> QPointF:
    return view.canvas.node_at(node, row, column)


def ring_colour(view: GraphView, node: int, column: int = 0) -> np.ndarray:
    """Return the colour inside a node."""
    image = view.canvas.grab().toImage()
    spot = at(view, node, column) + QPointF(0, -0.72 * view.canvas.radius)
    ink = image.pixelColor(round(spot.x() * image.devicePixelRatio()), round(spot.y() * image.devicePixelRatio()))
    return np.array([ink.red(), ink.green(), ink.blue()])


# what is shown ----------------------------------------------------------------------------------------------------
def test_values_have_their_colours_on_both_sides_and_move_with_their_nodes(qtbot: Any) -> None:
    part = karate_part()
    view = shown(qtbot, graph_frame(part, channel=1))
    values = part.values[:, 1]
    limit = np.abs(values).max()
    table = theme.signed_map()[:, :3].astype(int)
    for node in (16, 25, 11):  # at the rim of the club, with no line across them
        wanted = table[round(float(values[node] / limit) * 255.5 + 255.5)]
        for column in (0, 1):
            assert np.abs(ring_colour(view, node, column) - wanted).max() <= 24, (node, column)
    assert np.array_equal(view.canvas.panels[0][1].number, part.order)
    assert np.array_equal(view.canvas.panels[0][0].number, np.arange(34))


def test_places_stay_when_the_nodes_are_renumbered(qtbot: Any) -> None:
    one, two = karate_part(), karate_part()
    other = np.roll(np.arange(34), 5)
    back = np.argsort(other)
    two = replace(two, order=other, moved=two.values[back], expected=two.values[back], gx=two.x[back])
    view = shown(qtbot, graph_frame(one, channel=0))
    before, right = view.canvas.places, at(view, 7, 1)
    fills = view.canvas.panels[0][1].fill
    give(qtbot, view, graph_frame(two, channel=0))
    assert np.array_equal(view.canvas.places, before) and at(view, 7, 1) == right
    assert np.array_equal(view.canvas.panels[0][1].number, other)
    assert np.array_equal(view.canvas.panels[0][1].fill, fills), "features follow their nodes"


@pytest.mark.parametrize(("width", "height"), [(1200, 400), (700, 260)])
def test_numbers_stand_beside_nodes_and_nodes_on_no_other(qtbot: Any, width: int, height: int) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=1))
    view.resize(width, height)
    view.choose(sides=("before",))
    view.canvas.fit()
    points, r = view.canvas.points(view.canvas.cells()[0][2]), view.canvas.radius
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 1e9 * np.eye(len(points))
    assert apart.min() >= 2 * r
    image = view.canvas.grab().toImage()
    bare = view.canvas.panels[0][0].fill
    view.choose(labels="none")
    without = view.canvas.grab().toImage()
    ratio, written = image.devicePixelRatio(), 0
    for (x, y), fill in zip(points, bare):
        for angle in np.linspace(0, 2 * np.pi, 12, endpoint=False):
            spot = round((x + 0.6 * r * np.cos(angle)) * ratio), round((y + 0.6 * r * np.sin(angle)) * ratio)
            ink = image.pixelColor(*spot)
            assert np.abs(np.array([ink.red(), ink.green(), ink.blue()]) - fill).max() <= 24, "nothing on a node"
    for y in range(0, image.height(), 2):
        written += sum(image.pixel(x, y) != without.pixel(x, y) for x in range(0, image.width(), 2))
    assert written > 34, "and the numbers stand beside them"


def test_no_number_is_cut_by_the_frame_of_a_large_graph(qtbot: Any) -> None:
    """A picture is larger than its panel, for a hand that pans: numbers stood across the frame of the panel."""
    edges = both_ways(nx.barabasi_albert_graph(300, 2, seed=1))
    view = shown(qtbot, graph_frame(make_part(edges, 300), channel=1), (900, 420))

    def inside() -> list[np.ndarray]:
        image = view.canvas.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
        grey = np.array(image.bits()).reshape(image.height(), image.bytesPerLine()).astype(int)
        boxes = [box.toAlignedRect().adjusted(2, 2, -2, -2) for _, _, box in view.canvas.cells()]
        return [grey[b.top() : b.bottom() + 1, b.left() : b.right() + 1].copy() for b in boxes]

    numbered = inside()
    view.choose(labels="none")
    view.settle()
    written = [a != b for a, b in zip(numbered, inside(), strict=True)]
    assert all(panel.sum() > 300 for panel in written), "numbers are there"
    assert not any(edge.any() for panel in written for edge in (panel[:, :1], panel[:, -1:], panel[:1], panel[-1:]))


def test_a_broken_law_shows_in_the_difference_alone(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    ground = theme.signed_map()[256, :3].astype(int)
    assert np.abs(view.canvas.panels[0][2].fill.astype(int) - ground).max() <= 2
    give(qtbot, view, graph_frame(karate_part(shift=1.0), channel=0))
    assert np.abs(view.canvas.panels[0][2].fill.astype(int) - ground).max() > 40
    assert view.canvas.panels[0][2].note == "largest 1"


def test_dropped_nodes_are_hollow_and_unnumbered(qtbot: Any) -> None:
    part = make_part(both_ways(nx.path_graph(6)), 6)
    order = np.array([0, -1, 1, 2, 3, 4])
    part = replace(part, order=order, moved=part.values[order >= 0], expected=None, difference=None,
                   gx=part.x[order >= 0])  # fmt: skip
    view = shown(qtbot, graph_frame(part, channel=0))
    right = view.canvas.panels[0][1]
    assert right.number[1] == -1 and right.note == "1 node dropped" and np.isnan(right.values.nodes[1])
    assert np.allclose(right.values.nodes[order >= 0], part.values[order >= 0, 0])
    assert [p.side for p in view.canvas.panels[0]] == ["before", "after", "difference"]
    assert view.canvas.panels[0][2].empty


@pytest.mark.parametrize("kind", ["node", "edge", "pair", "invariant"])
def test_each_kind_of_layer_has_a_picture(qtbot: Any, kind: str) -> None:
    part = karate_part(kind=kind)
    view = shown(qtbot, graph_frame(part, channel=0, node=5))
    panels = view.canvas.panels[0]
    if kind == "edge":
        assert np.allclose(panels[0].values.edges, part.values[:, 0])
        assert np.allclose(panels[1].values.edges, part.values[:, 0]), "edges are the same edges after renumbering"
    elif kind == "pair":
        assert np.allclose(panels[0].values.nodes, part.values[0, 5]), "the row of the selected node"
        assert np.allclose(panels[1].values.nodes, part.values[0, 5])
    elif kind == "invariant":
        assert np.allclose(panels[0].values.nodes, part.x[:, 0]) and len(panels) == 2
    view.canvas.grab()


@pytest.mark.parametrize("name", odd_frames())
def test_odd_frames_leave_a_sentence(qtbot: Any, name: str) -> None:
    frame = odd_frames()[name]
    view = shown(qtbot, frame, (640, 300))
    assert view.canvas.message and not view.numbers() and not view.caption()
    if frame is not None and frame.squares:
        assert view.canvas.message == NONE
    view.canvas.grab()


def odd_graphs() -> dict[str, GraphPart]:
    none = np.zeros((2, 0), np.int64)
    loops = np.array([[0, 0, 1, 1, 2, 2], [0, 1, 0, 0, 2, 0]])
    nan = make_part(both_ways(nx.cycle_graph(5)), 5)
    nan.values[2] = np.nan
    return {
        "empty": make_part(none, 0), "one node": make_part(none, 1), "isolated": make_part(none, 7),
        "loops and copies": make_part(loops, 3), "not a number": nan,
        "complete": make_part(both_ways(nx.complete_graph(40)), 40, kind="pair"),
        "named wrongly": replace(karate_part(), structure=replace(karate_part().structure, names=("a",))),
        "in space": replace(p := karate_part(), structure=replace(p.structure, positions=p.x, key="in space")),
    }  # fmt: skip


@pytest.mark.parametrize("name", odd_graphs())
def test_odd_graphs_are_painted(qtbot: Any, name: str) -> None:
    part = odd_graphs()[name]
    view = shown(qtbot, graph_frame(part, channel=0), (700, 420))
    assert view.canvas.places is not None and len(view.canvas.places) == part.structure.nodes
    view.choose(labels="name", hulls="community", size="degree")
    for node in range(min(2, part.structure.nodes)):
        give(qtbot, view, graph_frame(part, channel=0, node=node))
        move(view.canvas, at(view, node).toPoint())
    assert not view.canvas.grab().isNull()


def test_a_frame_makes_no_new_objects(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    before = objects(view)
    for seed in range(3):
        give(qtbot, view, graph_frame(replace(karate_part(seed=seed)), channel=0))
    assert objects(view) == before


def test_two_models_have_a_row_each_and_one_scale(qtbot: Any) -> None:
    one, two = karate_part(), karate_part(seed=2)
    two.values[3, 0] = 50.0
    view = shown(qtbot, graph_frame(one, two, channel=0))
    assert [len(row) for row in view.canvas.panels] == [3, 3]
    assert view.canvas.legend.limit == 50.0
    ys = {round(box.y()) for _, _, box in view.canvas.cells()}
    assert len(ys) == 2
    assert "d4-cnn/F(x)" in view.numbers()


# what hands do ----------------------------------------------------------------------------------------------------
def test_a_click_on_a_node_selects_it_and_on_an_edge_its_ends(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(make_part(both_ways(nx.path_graph(3)), 3), channel=0))
    wishes = gather(view)
    QTest.mouseClick(view.canvas, LEFT, PLAIN, at(view, 1).toPoint())
    assert wishes[-1].changes == {"node": 1, "other": None}
    view.choose(edges="plain")
    QTest.mouseClick(view.canvas, LEFT, PLAIN, ((at(view, 0) + at(view, 1)) / 2).toPoint())
    assert wishes[-1].changes.keys() == {"node", "other"} and set(wishes[-1].changes.values()) == {0, 1}
    count = len(wishes)
    empty = view.canvas.cells()[0][2].topLeft() + QPointF(4, 4)
    QTest.mouseClick(view.canvas, LEFT, PLAIN, empty.toPoint())
    assert len(wishes) == count, "nothing is selected, so there is nothing to let go"
    view.set_state(replace(view.state, node=1))
    QTest.mouseClick(view.canvas, LEFT, PLAIN, empty.toPoint())
    assert wishes[-1].changes == {"node": None, "other": None}


def test_an_edge_of_a_directed_graph_leads_to_the_selected_node(qtbot: Any) -> None:
    part = make_part(np.array([[2], [0]]), 3)
    part = replace(part, structure=replace(part.structure, directed=True))
    view = shown(qtbot, graph_frame(part, channel=0))
    wishes = gather(view)
    QTest.mouseClick(view.canvas, LEFT, PLAIN, ((at(view, 0) + at(view, 2)) / 2).toPoint())
    assert wishes[-1].changes == {"node": 0, "other": 2}


def test_the_neighbourhood_stands_out(qtbot: Any) -> None:
    part = karate_part()
    view = shown(qtbot, graph_frame(part, channel=0))
    plain = view.canvas.panels[0][0].fill.copy()
    view.set_state(replace(view.state, node=16))
    fill = view.canvas.panels[0][0].fill
    graph = nx.karate_club_graph()
    near = [16, *graph[16]]
    assert np.array_equal(fill[near], plain[near])
    far = [i for i in graph if i not in near]
    assert np.abs(fill[far].astype(int) - 255).max() < 45, "all others fade into the ground"
    texts = view.canvas.panels[0][0].texts
    attention = part.coefficients["conv1.attention"]
    coming = np.flatnonzero(part.structure.edges[1] == 16)
    rms = np.sqrt((attention[coming] ** 2).mean(axis=1))
    assert sorted(float(t) for t in texts.values()) == pytest.approx(sorted(rms), abs=6e-4)


def test_how_far_all_nodes_are_from_the_selected_one_is_not_faded(qtbot: Any) -> None:
    """Colours by distance faded with all that is not near, so that the farthest nodes were the palest."""
    part = karate_part()
    distance = np.array(
        list(dict(sorted(nx.single_source_shortest_path_length(nx.karate_club_graph(), 16).items())).values())
    )
    part = replace(part, distance=distance, influence=np.exp(-distance.astype(float)))
    view = shown(qtbot, graph_frame(part, channel=0))
    view.set_state(replace(view.state, node=16))
    for colour, farthest in (("distance", theme.error_map()[511, :3]), ("influence", None)):
        view.choose(colour=colour)
        panel = view.canvas.panels[0][0]
        assert panel.near is None
        if farthest is not None:
            assert (panel.fill[distance == distance.max()] == farthest).all()


def test_what_colours_and_widths_mean_comes_back_once_it_is_there_again(qtbot: Any) -> None:
    """Influence is measured after each choice of a node: with the next node the colours went back to the layer's."""
    bare = karate_part()
    part = replace(bare, influence=np.linspace(0, 1, bare.structure.nodes))
    view = shown(qtbot, graph_frame(part, channel=0))
    for box, name in ((view.colour, "influence"), (view.edges, "conv1.attention")):
        box.setCurrentIndex(box.findData(name))
        box.activated.emit(box.currentIndex())
    give(qtbot, view, graph_frame(replace(bare, coefficients={}), channel=0))
    assert (view.choice.colour, view.choice.edges) == ("layer", "plain") == (
        view.colour.currentData(), view.edges.currentData()
    )  # fmt: skip
    give(qtbot, view, graph_frame(part, channel=0))
    assert (view.choice.colour, view.choice.edges) == ("influence", "conv1.attention") == (
        view.colour.currentData(), view.edges.currentData()
    )  # fmt: skip
    view.forget_choices()
    assert view.choice.colour == view.colour.currentData() == "layer"


def test_a_dragged_node_stays_and_goes_back_on_a_double_click(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    wishes, start = gather(view), at(view, 11)
    home, others = view.canvas.places[11].copy(), np.delete(view.canvas.places, 11, axis=0)
    drag(view, start, start + QPointF(10, 5), start + QPointF(20, -30))
    assert (at(view, 11) - start - QPointF(20, -30)).manhattanLength() < 2
    assert np.array_equal(np.delete(view.canvas.places, 11, axis=0), others) and view.canvas.pins == (11,)
    assert (at(view, 11, 1) - at(view, 11)).y() == pytest.approx(0, abs=1), "on both sides"
    assert not wishes, "places are the view's own"
    give(qtbot, view, graph_frame(karate_part(seed=1), channel=0))
    assert view.canvas.pins == (11,)
    double_click(view.canvas, at(view, 11).toPoint())
    assert np.array_equal(view.canvas.places[11], home) and not view.canvas.pins


@pytest.mark.parametrize("by", ["alt", "mode"])
def test_a_node_dragged_onto_another_swaps_their_numbers(qtbot: Any, by: str) -> None:
    part = karate_part()
    steps = (Step("rotate", (90.0,)),)
    view = shown(qtbot, graph_frame(part, channel=0, steps=steps))
    wishes, places = gather(view), view.canvas.places.copy()
    if by == "mode":
        view.relabel.click()
    middle = (at(view, 16) + at(view, 24)) / 2
    drag(view, at(view, 16), middle, at(view, 24), keys=ALT if by == "alt" else PLAIN)
    wanted = Step("swap", (float(part.order[16]), float(part.order[24])))
    assert wishes[-1].changes == {"steps": (*steps, wanted)}
    assert np.array_equal(view.canvas.places, places), "nothing moves: numbers do"
    count = len(wishes)
    empty = view.canvas.cells()[0][2].topLeft() + QPointF(4, 4)
    drag(view, at(view, 16), middle, empty, keys=ALT if by == "alt" else PLAIN)
    assert len(wishes) == count


def test_no_number_is_swapped_while_the_picture_is_older_than_the_chain(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    view.set_state(replace(view.state, steps=(Step("rotate", (90.0,)),)))
    wishes = gather(view)
    drag(view, at(view, 16), at(view, 20), at(view, 24), keys=ALT)
    assert not wishes


def test_a_lasso_counts_and_averages(qtbot: Any) -> None:
    part = karate_part()
    view = shown(qtbot, graph_frame(part, channel=2))
    points = view.canvas.points(view.canvas.cells()[0][2])
    low, high = points.min(axis=0) - 12, points.max(axis=0) + 12
    middle = points[:, 0].mean()
    corners = [QPointF(low[0], low[1]), QPointF(middle, low[1]), QPointF(middle, high[1]), QPointF(low[0], high[1])]
    drag(view, corners[0], *corners[1:], corners[0], keys=SHIFT)
    held = view.canvas.inside
    assert set(held) == set(np.flatnonzero(points[:, 0] < middle))
    words = view.canvas.chip.split(" · ")
    assert words[0] == f"{len(held)} nodes"
    number = float(words[1].removeprefix("mean ").replace("−", "-"))
    assert number == pytest.approx(part.values[held, 2].mean(), rel=1e-3)
    assert view.canvas.hulls, "its hull is drawn"
    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert not view.canvas.chip and not view.canvas.hulls


def test_the_wheel_zooms_about_the_cursor_and_f_fits(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    c, start = view.canvas, at(view, 25)
    far = (at(view, 16) - start).manhattanLength()
    eye = c.eye
    event = QWheelEvent(start, QPointF(c.mapToGlobal(start)), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton, PLAIN,
                        Qt.ScrollPhase.NoScrollPhase, False)  # fmt: skip
    QApplication.sendEvent(c, event)
    assert (at(view, 25) - start).manhattanLength() < 0.01
    assert (at(view, 16) - start).manhattanLength() == pytest.approx(far * 1.25**2, rel=1e-3)
    QTest.keyClick(c, Qt.Key.Key_F)
    assert c.eye == eye


@pytest.mark.parametrize("button", [LEFT, MIDDLE])
def test_the_ground_is_dragged_and_all_panels_follow(qtbot: Any, button: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    before = [at(view, 3, k) for k in range(3)]
    corner = view.canvas.cells()[0][2].topLeft() + QPointF(5, 5)
    image = view.canvas.grab().toImage()
    drag(view, corner, corner + QPointF(20, 10), corner + QPointF(40, 30), button=button)
    for k in range(3):
        assert (at(view, 3, k) - before[k] - QPointF(40, 30)).manhattanLength() < 0.01
    assert view.canvas.grab().toImage() != image


def test_the_cursor_reads_out(qtbot: Any) -> None:
    part = karate_part()
    view = shown(qtbot, graph_frame(part, channel=0))
    said: list[str] = []
    view.hovered.connect(said.append)
    move(view.canvas, at(view, 16).toPoint())
    qtbot.waitUntil(lambda: bool(said) and "member 16" in said[-1])
    assert f"number {part.order[16]} in ρ(g)x" in said[-1] and "degree 2" in said[-1] and "class 0" in said[-1]
    value = next(w for w in said[-1].split(" · ") if w.startswith("F(x) ")).removeprefix("F(x) ").replace("−", "-")
    assert float(value) == pytest.approx(float(part.values[16, 0]), rel=1e-3)


def test_channels_sides_and_looks_can_be_chosen(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    wishes = gather(view)
    view.channel.setCurrentIndex(view.channel.findData(3))
    view.channel.activated.emit(view.channel.currentIndex())
    assert wishes[-1].changes == {"channel": 3}
    for side in ("after", "difference"):
        view.actions_["sides", side].trigger()
    assert [p.side for p in view.canvas.panels[0]] == ["before"]
    view.actions_["sides", "before"].trigger()
    assert [p.side for p in view.canvas.panels[0]] == ["before"], "one always stays"
    view.choose(hulls="class")
    assert [len(m) for m, _ in view.canvas.hulls] == np.bincount(view.parts()[0][1].structure.classes).tolist()
    view.choose(edges="conv1.attention", head=1)
    heat = view.canvas.panels[0][0].heat
    attention = view.parts()[0][1].coefficients["conv1.attention"][:, 1]
    assert np.allclose(heat, attention[view.canvas.lines.listed] / attention.max(), atol=1e-6)
    view.choose(colour="degree")
    assert view.canvas.panels[0][0].values.nodes.tolist() == [d for _, d in nx.karate_club_graph().degree()]


# what every view can do -------------------------------------------------------------------------------------------
def test_a_figure_has_lines_and_text(qtbot: Any, tmp_path: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0, node=8))
    export_view(view, tmp_path / "graph.svg")
    root = ET.parse(tmp_path / "graph.svg").getroot()
    names = [one.tag.rpartition("}")[2] for one in root.iter()]
    words = [(one.text or "").strip() for one in root.iter() if one.tag.endswith("text")]
    assert "image" not in names and {str(k) for k in range(34)} <= set(words)
    assert names.count("circle") + names.count("ellipse") + names.count("path") >= 3 * 34
    for name in ("graph.pdf", "graph.png"):
        export_view(view, tmp_path / name)
    export_numbers(view, tmp_path / "graph.npz")
    with np.load(tmp_path / "graph.npz") as kept:
        assert np.array_equal(kept["F(x)"], view.parts()[0][1].values)
        assert np.array_equal(kept["positions"], view.canvas.places)
    assert "lift" in view.caption() and "conv1.attention" in view.caption() and "node 8" in view.caption()


def test_the_theme_is_followed(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    theme.use("dark")
    view.apply_theme()
    corner = view.canvas.cells()[0][2].topLeft() + QPointF(3, 3)
    assert view.canvas.grab().toImage().pixelColor(corner.toPoint()) == QColor(theme.DARK.plot)


def test_a_hidden_view_waits_and_a_closed_one_has_no_thread(qtbot: Any) -> None:
    edges = both_ways(nx.random_regular_graph(3, 20_000, seed=0))
    frame = graph_frame(make_part(edges, 20_000), channel=0)
    view = GraphView()
    qtbot.addWidget(view)
    view.set_frame(frame)
    assert view.placing.worker is None
    view.show()
    qtbot.waitUntil(lambda: bool(view.placing.running))
    thread = view.placing.worker
    view.close()
    assert thread is not None and not thread.is_alive() and view.placing.worker is None


def test_another_graph_takes_the_place_of_one_still_being_laid_out(qtbot: Any) -> None:
    edges = both_ways(nx.random_regular_graph(3, 20_000, seed=0))
    view = opened(qtbot, GraphView(), 800, 500)
    assert isinstance(view, GraphView)
    view.set_frame(graph_frame(make_part(edges, 20_000), channel=0))
    first = view.placing.worker
    give(qtbot, view, graph_frame(karate_part(), channel=0))
    assert view.canvas.places is not None and len(view.canvas.places) == 34
    qtbot.waitUntil(lambda: first is not None and not first.is_alive())


@pytest.mark.slow
def test_a_crowded_graph_is_a_picture_that_moves_with_the_hand(qtbot: Any) -> None:
    graph = nx.barabasi_albert_graph(4000, 4, seed=0)
    view = shown(qtbot, graph_frame(make_part(both_ways(graph), 4000), channel=0))
    c = view.canvas
    box = c.cells()[0][2]
    before = c.grab(box.toRect()).toImage()
    assert len({before.pixel(x, y) for x in range(0, 300, 7) for y in range(0, 300, 7)}) > 50
    corner = box.topLeft() + QPointF(3, 3)
    drag(view, corner, corner + QPointF(10, 0), corner + QPointF(30, 0), button=MIDDLE)
    after = c.grab(box.toRect()).toImage()
    middle = (round(box.width() / 2), round(box.height() / 2))
    same = [
        before.pixel(middle[0] + d, middle[1]) == after.pixel(middle[0] + d + 30, middle[1]) for d in range(-40, 40)
    ]
    assert np.mean(same) > 0.95, "what was kept is moved by whole pixels"


# large graphs, and layouts that fail --------------------------------------------------------------------------------
def large_frame(**state: Any) -> Frame:
    edges = both_ways(nx.random_regular_graph(4, 11_000, seed=0))
    return graph_frame(make_part(edges, 11_000, **state.pop("part", {})), **state)


def test_a_layout_that_raises_leaves_a_picture_and_a_sentence(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("for a test")
        yield

    monkeypatch.setattr(graph_placing, "layout_steps", broken)
    view, said = opened(qtbot, GraphView(), 900, 500), []
    assert isinstance(view, GraphView)
    view.hovered.connect(said.append)
    give(qtbot, view, graph_frame(karate_part(), channel=0))
    places = view.canvas.places
    assert places is not None and len(np.unique(places, axis=0)) == 34
    assert "ZeroDivisionError: for a test" in view.canvas.status and "disc" in view.canvas.status
    assert said and said[-1] == view.canvas.status
    assert "Traceback" not in capfd.readouterr().err


def test_places_that_are_not_numbers_are_not_drawn(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nan = np.full((34, 2), np.nan, np.float32)
    monkeypatch.setattr(graph_placing, "layout_steps", lambda *_: iter([nan]))
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    assert np.isfinite(view.canvas.places).all() and view.canvas.status
    view.canvas.grab()


def test_what_waits_is_said_and_rough_places_are_drawn(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gates = [threading.Event(), threading.Event()]
    rng = np.random.default_rng(0)

    def slow(*_: Any) -> Any:
        for gate in gates:
            gate.wait(20)
            yield rng.standard_normal((34, 2)).astype(np.float32)

    monkeypatch.setattr(graph_placing, "layout_steps", slow)
    view = opened(qtbot, GraphView(), 900, 500)
    assert isinstance(view, GraphView)
    view.set_frame(graph_frame(karate_part(), channel=0))
    assert view.canvas.places is None and view.canvas.waiting[0] == "Laying out 34 nodes…"
    image = view.canvas.grab().toImage()
    assert len({image.pixel(x, image.height() // 2) for x in range(image.width())}) > 2, "the sentence"
    gates[0].set()
    qtbot.waitUntil(lambda: view.canvas.places is not None)
    assert view.canvas.status == "Laying out 34 nodes…"
    rough = view.canvas.places
    gates[1].set()
    qtbot.waitUntil(lambda: not view.placing.running)
    assert not view.canvas.status and not np.array_equal(view.canvas.places, rough)


@pytest.mark.slow
def test_a_new_frame_keeps_what_belongs_to_the_edges(qtbot: Any) -> None:
    view = shown(qtbot, large_frame(channel=0))
    lines, places, kept = view.canvas.lines, view.canvas.places, dict(view.canvas.pictures.shared)
    old = dict(view.canvas.pictures.kept)
    assert "picture text False" in kept and "points" in kept
    part = view.parts()[0][1]
    other = replace(part, values=part.values + 1, moved=part.moved + 1)
    give(qtbot, view, graph_frame(other, channel=0))
    assert view.canvas.lines is lines and view.canvas.places is places
    for name, value in view.canvas.pictures.shared.items():
        assert value is kept[name], f"{name} was made again"
    assert view.canvas.pictures.kept[0, "before"].image != old[0, "before"].image


@pytest.mark.slow
def test_large_graphs_are_painted_beside_the_window(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[str] = set()
    inner = graph_pictures.paint_graph

    def watched(*arguments: Any) -> None:
        threads.add(threading.current_thread().name)
        inner(*arguments)

    monkeypatch.setattr(graph_pictures, "paint_graph", watched)
    view = shown(qtbot, large_frame(channel=0))
    assert threads == {"graph pictures"}
    view.close()
    assert "graph pictures" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.slow
def test_a_picture_that_fails_is_said(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ValueError("for a test")

    monkeypatch.setattr(graph_pictures, "paint_graph", broken)
    view = shown(qtbot, large_frame(channel=0))
    assert "ValueError: for a test" in view.canvas.pictures.trouble
    view.canvas.grab()
    assert not view.canvas.pictures.busy, "the same is not tried again"


# sets, batches, marks -----------------------------------------------------------------------------------------------
def test_both_sides_have_the_widths_of_x_and_the_legend_says_so(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    before, after, difference = view.canvas.panels[0]
    assert before.heat is not None and after.heat is before.heat and difference.heat is None
    assert "conv1.attention" in view.canvas.legend.edges and view.canvas.legend.edges.endswith("at x")


def test_marks_have_rings_and_can_be_chosen(qtbot: Any) -> None:
    kept = np.zeros(34, np.float32)
    kept[[3, 16, 25]] = 1
    part = replace(karate_part(), sets={"survivors": kept})
    view = shown(qtbot, graph_frame(part, channel=0))
    panel = view.canvas.panels[0][0]
    assert np.flatnonzero(panel.marks).tolist() == [3, 16, 25]
    assert view.canvas.legend.rings == "in survivors at x: 3"
    image, orange = view.canvas.grab().toImage(), QColor(theme.current().second)
    spot = at(view, 16) + QPointF(0, view.canvas.radius + 2.6)
    near = [image.pixelColor(spot.toPoint() + QPoint(0, d)) for d in (-1, 0, 1)]
    assert min(abs(c.red() - orange.red()) + abs(c.blue() - orange.blue()) for c in near) < 60
    view.colour.setCurrentIndex(view.colour.findData("set:survivors"))
    view.colour.activated.emit(view.colour.currentIndex())
    fill = view.canvas.panels[0][0].fill
    assert (fill[16] != fill[15]).any() and (fill[16] == fill[25]).all()
    assert [name for name, _ in view.canvas.legend.swatches] == ["no", "yes"]


def test_a_channel_without_negative_numbers_has_a_scale_from_zero(qtbot: Any) -> None:
    part = karate_part()
    view = shown(qtbot, graph_frame(replace(part, values=abs(part.values), moved=abs(part.moved)), channel=0))
    assert view.canvas.legend.kind == "error", "a count on a scale from −20 to 20 looks as if some were less than none"
    view = shown(qtbot, graph_frame(replace(part, values=-abs(part.values)), channel=0))
    assert view.canvas.legend.kind == "signed"


def test_the_colours_chosen_before_a_lesson_are_forgotten(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(karate_part(), channel=0))
    at = view.colour.findData("degree")
    view.colour.setCurrentIndex(at)
    view.colour.activated.emit(at)
    assert view.choice.colour == "degree"
    view.forget_choices()
    assert view.choice.colour == view.colour.currentData() == "layer"


def test_an_edge_that_was_dropped_is_not_drawn_where_it_is_not(qtbot: Any) -> None:
    part = karate_part()
    cut = np.isin(part.structure.edges, (16, 5)).all(axis=0)
    dropped = replace(part, edge_order=np.where(cut, -1, part.edge_order), coefficients={})
    view = shown(qtbot, graph_frame(dropped, channel=0))
    assert view.choice.edges == "plain"
    image = view.canvas.grab().toImage()

    def darkest(column: int) -> int:
        middle = ((at(view, 16, column) + at(view, 5, column)) / 2).toPoint()
        steps = (-2, -1, 0, 1, 2)
        return min(image.pixelColor(middle + QPoint(x, y)).lightness() for x in steps for y in steps)

    assert darkest(0) < darkest(1) == darkest(2) == QColor(theme.current().plot).lightness()


def test_a_set_has_no_clutter_of_edges(qtbot: Any) -> None:
    cloud = np.random.default_rng(0).standard_normal((60, 3))
    part = make_part(np.zeros((2, 0), np.int64), 60)
    part = replace(part, structure=replace(part.structure, positions=cloud), coefficients={})
    view = shown(qtbot, graph_frame(part, channel=0))
    assert view.edges.isHidden() and view.canvas.legend.count == "60 points" and not view.canvas.legend.edges
    first = view.canvas.places.copy()
    other = replace(part, structure=replace(part.structure, positions=cloud[::-1] * [1, 2, 1]))
    give(qtbot, view, graph_frame(other, channel=0))
    assert not np.allclose(view.canvas.places, first), "as many points, but others"


def test_graphs_of_a_batch_are_named(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    part = make_part(both_ways(nx.disjoint_union(nx.cycle_graph(6), nx.path_graph(5))), 11)
    part = replace(part, structure=replace(part.structure, graph_of=np.repeat([0, 1], [6, 5])))
    view = shown(qtbot, graph_frame(part, channel=0))
    assert [members.tolist() for members in view.canvas.graphs] == [list(range(6)), list(range(6, 11))]
    places = view.canvas.places
    assert places[:6, 0].max() < places[6:, 0].min()


def test_names_of_graphs_and_numbers_of_nodes_are_not_written_over_one_another(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above a ring of six, "graph 0" and the number of its highest node stood at the same place."""
    part = make_part(both_ways(nx.disjoint_union(nx.cycle_graph(6), nx.cycle_graph(5))), 11)
    part = replace(part, structure=replace(part.structure, graph_of=np.repeat([0, 1], [6, 5])))
    written: list[tuple[QRectF, str]] = []

    class Painter(QPainter):
        def drawText(self, *given: Any) -> Any:
            if len(given) == 3 and isinstance(given[0], QRectF):
                written.append((QRectF(given[0]), given[2]))
            return super().drawText(*given)

    monkeypatch.setattr(graph_pictures, "QPainter", Painter)
    monkeypatch.setattr("widgets.spaces.graph.drawing.canvas.QPainter", Painter)
    view = shown(qtbot, graph_frame(part, channel=0))
    view.canvas.grab()
    graphs = [box for box, text in written if text.startswith("graph ")]
    numbers = [box for box, text in written if text.isdigit()]
    assert graphs and numbers
    assert not [1 for box in numbers if any(box.intersects(other) for other in graphs)]


# where things lie -------------------------------------------------------------------------------------------------
def test_ink_is_as_long_as_the_lines() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.uniform(20, 180, (2, 500, 2))
    length = np.hypot(*(a - b).T).sum()
    for budget in (10**7, int(length / 2)):
        shade, mean = geometry.ink(a, b, np.full(500, 0.25), 200, 200, budget)
        assert shade.sum() == pytest.approx(length, rel=0.03)
        assert mean is not None and mean[shade > 1].mean() == pytest.approx(0.25, abs=0.01)


def test_lines_are_clipped_as_a_rectangle_clips_them() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.uniform(-100, 200, (2, 400, 2))
    index, start, end = geometry.clipped(a, b, 100, 60)
    t = np.linspace(0, 1, 4001)[:, None, None]
    walk = a + (b - a) * t
    inside = ((walk >= 0) & (walk <= [100, 60])).all(axis=2)
    crosses = inside.sum(axis=0) > 4
    assert np.isin(np.flatnonzero(crosses), index).all() and inside.any(axis=0)[index].mean() > 0.98
    share = np.hypot(*(end - start).T) / np.hypot(*(b - a)[index].T)
    assert np.allclose(share, inside.mean(axis=0)[index], atol=2e-3)


def test_a_lasso_holds_what_qt_says_is_inside() -> None:
    rng = np.random.default_rng(0)
    points, corners = rng.uniform(0, 10, (400, 2)), rng.uniform(0, 10, (9, 2))
    polygon = QPolygonF([QPointF(*c) for c in corners])
    wanted = [polygon.containsPoint(QPointF(*p), Qt.FillRule.OddEvenFill) for p in points]
    assert geometry.inside(points, corners).tolist() == wanted


def test_both_ways_of_an_edge_part_and_one_way_is_straight() -> None:
    edges = np.array([[0, 1, 0, 1, 2, 2], [1, 0, 1, 2, 1, 2]])
    both = strands(edges, False, True)
    assert both.single.tolist() == [True, False, True, True, False, True]
    a, b = np.array([[0.0, 0], [100, 0], [0, 100]])[both.start], np.array([[0.0, 0], [100, 0], [0, 100]])[both.end]
    middles = geometry.along(a, geometry.control(a, b, both.lane), b, 0.5)[:3]
    assert len(np.unique(np.round(middles, 3), axis=0)) == 3, "three lines between the same two nodes do not coincide"
    assert both.lane_single[3] == 0 and both.lane_single[0] == -both.lane_single[2] != 0


@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_the_eye_keeps_what_is_under_the_cursor(factor: float) -> None:
    eye = Eye(2.0, -1.0, 30.0)
    place = np.array([eye.world((120, 45), 300, 200)])
    assert np.allclose(eye.zoomed((120, 45), factor, 300, 200).screen(place, 300, 200), [[120, 45]])


def test_structures_by_other_keys_have_places_of_their_own(qtbot: Any) -> None:
    edges = both_ways(nx.cycle_graph(8))
    view = shown(qtbot, graph_frame(make_part(edges, 8), channel=0))
    assert np.allclose(np.hypot(*view.canvas.places.T), np.hypot(*view.canvas.places[0]), rtol=0.02), "a ring"
    part = make_part(both_ways(nx.path_graph(8)), 8)
    give(qtbot, view, graph_frame(replace(part, structure=Structure(8, part.structure.edges, "path")), channel=0))
    assert np.ptp(view.canvas.places[:, 0]) > 4 * np.ptp(view.canvas.places[:, 1]), "a line"
    give(qtbot, view, make_frame())
    assert view.canvas.message == NONE


@pytest.mark.parametrize("nodes", [5, 12, 34])
def test_the_number_of_the_outermost_node_lies_in_its_panel(nodes: int) -> None:
    width, height, label = 318.0, 180.0, 7.0 * len(str(nodes - 1))
    margin = margin_in(width, height, True)
    eye = fitted((0.0, 0.0), (4.0, 1.0), width - 2 * beside_in(width, margin, label), height, margin)
    right = width / 2 + 2.0 * eye.units[0]  # of the place furthest to the right
    assert right + LARGEST + 4 + label <= width
