"""Lines of a graph beside edges: chemical bonds, and the strongest pairs of a dense field."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from explorer.spaces.graph.drawing.values import GraphPart, Structure
from tests.widgets.parts.frames.graph_parts import graph_frame, karate_part, make_part
from tests.widgets.spaces.graph.test_graph_view import at, in_light, shown
from widgets.base.look import theme
from widgets.spaces.graph.drawing import dense
from widgets.spaces.graph.drawing.look import Choice

assert in_light  # a fixture of this module too


def chain(*kinds: int) -> GraphPart:
    """Return carbons in a line, joined by bonds of these kinds, with nothing on edges."""
    n = len(kinds) + 1
    once = np.array([[k, k + 1] for k in range(len(kinds))]).T
    edges = np.concatenate([once, once[::-1]], 1)
    places = np.stack([np.arange(n, dtype=float), np.zeros(n)], 1)
    names = tuple(f"C{k + 1}" for k in range(n))
    part = make_part(edges, n, channels=1)
    structure = Structure(n, edges, "chain", names=names, positions=places, bonds=np.array([*kinds, *kinds]))
    return replace(part, structure=structure, coefficients={}, order=np.arange(n), edge_order=np.arange(2 * len(kinds)))


def crossings(view: Any, one: int, two: int) -> int:
    """Count the lines that a cut across the middle of a bond meets."""
    image = view.canvas.grab().toImage()
    middle = (at(view, one) + at(view, two)) / 2
    ground = theme.current().plot
    column = [image.pixelColor(round(middle.x()), round(middle.y()) + k).name() != ground for k in range(-14, 15)]
    return sum(b and not a for a, b in zip([False, *column], column))


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_a_bond_has_as_many_lines_as_it_is_strong(qtbot: Any, kind: int) -> None:
    view = shown(qtbot, graph_frame(chain(1, kind, 1)), (900, 420))
    assert crossings(view, 1, 2) == kind and crossings(view, 0, 1) == 1


def test_an_atom_has_its_symbol_in_it_and_its_number_beside_it(qtbot: Any) -> None:
    part = chain(1, 2, 1)
    view = shown(qtbot, graph_frame(part), (900, 420))
    with_symbols = view.canvas.grab().toImage()
    view.choose(labels="none")
    view.settle()
    without = view.canvas.grab().toImage()
    spot, reach = at(view, 1), round(0.6 * view.canvas.radius)
    assert view.canvas.radius >= 6.5

    def inks(image: Any) -> set[str]:
        points = [spot + QPointF(x, y) for x in range(-reach, reach + 1) for y in range(-reach, reach + 1)]
        return {image.pixelColor(round(q.x()), round(q.y())).name() for q in points}

    assert len(inks(with_symbols)) > len(inks(without)) == 1


def far_apart() -> GraphPart:
    """Return a pair field that is large from node 16 to node 24, which no edge joins, and small elsewhere."""
    part = karate_part(kind="pair")
    values = np.full((1, 34, 34), 0.05, np.float32)
    values[0, 24, 16] = 0.9  # what 24 hears of 16
    back = np.argsort(part.order)
    moved = values[:, back][:, :, back]
    return replace(part, values=values, moved=moved, expected=moved, difference=np.zeros_like(moved))


def test_a_strong_pair_is_a_line_though_no_edge_is_there(qtbot: Any) -> None:
    part = far_apart()
    joined = set(map(tuple, part.structure.edges.T.tolist()))
    assert (16, 24) not in joined and (24, 16) not in joined
    view = shown(qtbot, graph_frame(part))
    panel, lines = view.canvas.panels[0][0], view.canvas.lines
    strongest = int(np.argmax(panel.heat))
    assert (int(lines.start[strongest]), int(lines.end[strongest])) == (16, 24)
    assert panel.heat[strongest] == pytest.approx(1) and panel.dim is None
    assert "strongest" in view.canvas.legend.edges
    after = view.canvas.panels[0][1]
    assert np.allclose(after.heat, panel.heat), "the same pairs are as strong after a renumbering"


def test_only_what_the_selected_node_hears_is_drawn_and_nothing_of_it_faded(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(far_apart(), node=24))
    panel, lines = view.canvas.panels[0][0], view.canvas.lines
    assert set(lines.end.tolist()) == {24} and 16 in lines.start
    assert panel.near is None and (panel.dim is None or not panel.dim.any())


def test_the_cursor_tells_a_pair_and_a_click_selects_it(qtbot: Any) -> None:
    view = shown(qtbot, graph_frame(far_apart()))
    told: list[str] = []
    wishes: list[Any] = []
    view.hovered.connect(told.append)
    view.wished.connect(wishes.append)
    points = view.canvas.points(view.canvas.cells()[0][2])
    start, end = points[16], points[24]
    for share in np.linspace(0.2, 0.8, 25):
        spot = QPointF(*(start + share * (end - start)))
        found = view.canvas.under(spot)
        if found is not None and found[0] == "edge" and view.canvas.lines.start[found[1]] == 16:
            QTest.mouseMove(view.canvas, spot.toPoint())
            QTest.mouseClick(view.canvas, Qt.MouseButton.LeftButton, pos=spot.toPoint())
            break
    assert told and told[-1].startswith("pair 16 → 24")
    assert wishes and wishes[-1].changes == {"node": 24, "other": 16}


def test_attention_of_pairs_can_be_drawn_at_any_layer(qtbot: Any) -> None:
    part = far_apart()
    nodes = replace(karate_part(), pairs={"attention": part.values}, coefficients={})
    view = shown(qtbot, graph_frame(nodes))
    assert view.edges.findData("attention") >= 0
    view.choose(edges="attention")
    view.settle()
    lines, heat = view.canvas.lines, view.canvas.panels[0][0].heat
    strongest = int(np.argmax(heat))
    assert (int(lines.start[strongest]), int(lines.end[strongest])) == (16, 24)


def test_many_equal_pairs_are_bounded_and_the_strong_ones_among_them_kept() -> None:
    n = 60
    edges = np.array([[0, 1], [1, 0]])
    values = np.ones((1, n, n), np.float32) / n
    values[0, 5, 9] = 1.0
    part = replace(make_part(edges, n, kind="pair"), values=values, order=np.arange(n), moved=values)
    found = dense.dense_pairs(part, Choice(), None)
    assert found is not None and found.pairs == n * (n - 1) and found.ends.shape[1] <= dense.MOST
    assert [9, 5] in found.ends.T.tolist()


def test_a_layer_of_nodes_has_the_edges_of_the_graph() -> None:
    assert dense.dense_pairs(karate_part(), Choice(), None) is None
