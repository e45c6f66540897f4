"""The view of pair matrices, driven by hand in a real window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.declare.registry import scan
from explorer.declare.states.interventions import parse_interventions
from explorer.spaces.graph.drawing.pairs.matrix import DensePairs
from explorer.spaces.graph.drawing.pairs.sparse import EdgePattern, SparsePairs
from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.square.frame import Frame, LayerInfo
from explorer.state.state import State
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.driving.view_driving import gather, odd_frames, opened
from tests.widgets.parts.frames.sample_frames import make_frame, make_square
from widgets.base.look import theme
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.maps.mosaic import STEPS
from widgets.spaces.pairs.panel import Panel
from widgets.spaces.pairs.tiles import HIDDEN, Style, TileStore, shade
from widgets.spaces.pairs.views import pairs
from widgets.spaces.pairs.views.pairs import COMPARE, PairsView

KARATE = nx.karate_club_graph()
N, HEADS = 34, 4
ATTENTION = "encoder.0.attention"
RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


def structure() -> Structure:
    edges = np.array([(u, v) for u, v in KARATE.edges] + [(v, u) for u, v in KARATE.edges], np.int64).T
    classes = np.array([int(KARATE.nodes[i]["club"] != "Mr. Hi") for i in range(N)])
    return Structure(
        N, edges, "karate", names=("Mr Hi", *(f"member {i}" for i in range(1, 33)), "Officer"), classes=classes
    )


ADJACENCY = nx.to_numpy_array(KARATE, weight=None)
LOGITS = RNG.standard_normal((HEADS, N, N)) + 2 * ADJACENCY
WEIGHTS = (np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)).astype(np.float32)


def part_of(order: np.ndarray | None = None, **changes: Any) -> GraphPart:
    """Return karate's graph with attention in four heads, in a layer that is equivariant."""
    s = structure()
    order = np.arange(N) if order is None else order
    back = np.argsort(order)
    moved = WEIGHTS[:, back][:, :, back]
    listed = s.edges.shape[1]
    alpha = np.random.default_rng(1).random((listed, 2)).astype(np.float32)
    x = np.zeros((N, 1), np.float32)
    made = GraphPart(
        s, order, np.arange(listed), "pair", x, x, WEIGHTS, moved, moved.copy(), np.zeros_like(moved),
        coefficients={"gat.alpha": alpha}, pairs={"encoder.0.logits": LOGITS.astype(np.float32), ATTENTION: WEIGHTS},
    )  # fmt: skip
    return replace(made, **changes)


def frame_of(part: GraphPart | None, layer: str = ATTENTION, **state: Any) -> Frame:
    info = LayerInfo(layer, "Tap", (HEADS, N, N), 0, "pair scalar", False)
    square = replace(make_square(model="transformer"), layer=info, layers=(info,), part=part)
    return replace(make_frame(), state=State(sample="karate", layer=layer, **state), squares=(square,))


def shown(qtbot: QtBot, frame: Frame | None, size: tuple[int, int] = (1280, 800)) -> tuple[PairsView, list[str]]:
    view = PairsView()
    opened(qtbot, view, *size)
    view.set_frame(frame)
    words: list[str] = []
    view.hovered.connect(words.append)
    return view, words


def point(view: PairsView, panel: Panel, row: int, column: int) -> QPointF:
    """Return the middle of a cell, asserting that it is seen."""
    QApplication.processEvents()  # what was chosen may have changed the layout
    at = view.canvas.point_of(panel, row, column)
    assert panel.frame.contains(at), (row, column)
    return at


def hover(view: PairsView, at: QPointF) -> None:
    Mouse(view.canvas).move(at)


def wheel(
    view: PairsView, at: QPointF, notches: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    Mouse(view.canvas).wheel(at, notches, keys)


def pixel(view: PairsView, at: QPointF) -> str:
    return view.canvas.grab().toImage().pixelColor(at.toPoint()).name()


def main(view: PairsView) -> Panel:
    return view.canvas.groups[0][0]


def choose(view: PairsView, combo: str, data: object) -> None:
    box = getattr(view.controls, combo)
    box.setCurrentIndex(box.findData(data))
    assert box.currentData() == data
    box.activated.emit(box.currentIndex())


def head(view: PairsView, k: int) -> Panel:
    """Enlarge a head by a click on it."""
    panel = view.canvas.groups[0][k]
    Mouse(view.canvas).click(panel.frame.center())
    return main(view)


# what is shown ----------------------------------------------------------------------------------------------------
def test_the_selected_layer_is_shown_with_its_heads_beside_the_adjacency(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    heads, beside = view.canvas.groups
    assert [panel.head for panel in heads] == [0, 1, 2, 3] and all(panel.small for panel in heads)
    assert isinstance(beside[0].matrix, SparsePairs)
    choices = [view.controls.field.itemText(k) for k in range(view.controls.field.count())]
    assert choices == ["encoder.0.logits", ATTENTION, "gat.alpha", "adjacency", "adjacency of ρ(g) x"]
    for panel in heads:
        np.testing.assert_array_equal(panel.matrix.tile(panel.head, (0, N), (0, N)), WEIGHTS[panel.head])
    np.testing.assert_array_equal(beside[0].matrix.tile(0, (0, N), (0, N)), ADJACENCY)


@pytest.mark.parametrize(
    ("layer", "changes", "expected"),
    [
        ("encoder.0.logits", {}, "encoder.0.logits"),
        ("conv", {}, ATTENTION),
        ("conv", {"pairs": {"scores": LOGITS, "mixing": WEIGHTS}}, "mixing"),
        ("conv", {"pairs": {}}, "gat.alpha"),
        ("conv", {"pairs": {}, "coefficients": {}}, "adjacency"),
    ],
)
def test_the_default_is_the_selected_layer_else_attention_else_adjacency(
    qtbot: QtBot, layer: str, changes: dict[str, Any], expected: str
) -> None:
    view, _ = shown(qtbot, frame_of(part_of(**changes), layer))
    assert view.controls.field.currentText() == expected


def test_the_layer_that_was_changed_stays_in_view(qtbot: QtBot) -> None:
    """A head set to zero has no rows that sum to 1, so that another layer would look more like attention."""
    zeroed = WEIGHTS.copy()
    zeroed[0] = 0
    part = part_of(kind="node", pairs={"first.values": zeroed, ATTENTION: WEIGHTS})
    frame = frame_of(part, "linear")
    view, _ = shown(qtbot, frame)
    assert view.controls.field.currentText() == ATTENTION
    some = parse_interventions(["first.values[head 0]:zero"])
    view.set_frame(replace(frame, squares=(replace(frame.squares[0], interventions=some),)))
    assert view.controls.field.currentText() == "first.values"
    view.set_frame(frame)
    assert view.controls.field.currentText() == ATTENTION


def test_a_set_shows_its_first_field_and_no_empty_adjacency(qtbot: QtBot) -> None:
    part = part_of(coefficients={}, pairs={"similarity": LOGITS})
    none = np.zeros((2, 0), np.int64)
    alone = replace(part, structure=replace(part.structure, edges=none, weights=None), edge_order=none[0])
    view, _ = shown(qtbot, frame_of(alone, "conv"))
    assert view.controls.field.currentText() == "similarity"
    assert len(view.canvas.groups) == 1, "nothing beside it"


def test_coefficients_on_edges_lie_where_the_edges_point(qtbot: QtBot) -> None:
    view, words = shown(qtbot, frame_of(part_of()))
    choose(view, "field", "0/gat.alpha")
    choose(view, "head", 1)
    part = part_of()
    e = 17
    j, i = (int(v) for v in part.structure.edges[:, e])
    hover(view, point(view, main(view), i, j))
    assert f"{part.coefficients['gat.alpha'][e, 1]:.5g}" in words[-1]
    assert f"({i}) from" in words[-1] and f"({j}):" in words[-1]


def test_a_choice_is_kept_from_frame_to_frame(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    choose(view, "field", "0/gat.alpha")
    matrix = main(view).matrix
    view.set_frame(frame_of(part_of()))
    assert view.controls.field.currentText() == "gat.alpha"
    # another epoch's structure is another object, the same structure keeps its matrix
    frame = frame_of(part_of())
    view.set_frame(frame)
    matrix = main(view).matrix
    view.set_frame(frame)
    assert main(view).matrix is matrix


def heads_of(view: PairsView) -> list[Panel]:
    return list(view.canvas.groups[0])


def eight(**state: Any) -> Frame:
    weights = np.concatenate([WEIGHTS, WEIGHTS])
    changes = {"values": weights, "moved": weights, "expected": weights, "difference": np.zeros_like(weights)}
    return frame_of(part_of(**changes, pairs={ATTENTION: weights}), **state)


@pytest.mark.parametrize(("size", "smallest"), [((1280, 214), 60), ((1280, 160), 40), ((1700, 240), 80)])
def test_eight_heads_in_a_low_panel_are_as_large_as_the_room_allows(
    qtbot: QtBot, size: tuple[int, int], smallest: int
) -> None:
    view, _ = shown(qtbot, eight(), size)
    QApplication.processEvents()
    heads, alone = heads_of(view), view.canvas.groups[1][0]
    assert [panel.short for panel in heads] == [f"head {k}" for k in range(8)]
    assert {panel.heading for panel in heads} == {ATTENTION}
    frames = [panel.frame for panel in view.canvas.panels]
    assert all(view.canvas.rect().toRectF().contains(frame) for frame in frames)
    assert not any(a.intersects(b) for k, a in enumerate(frames) for b in frames[k + 1 :])
    assert min(panel.frame.width() for panel in heads) >= smallest
    assert alone.frame.height() > 0.55 * view.canvas.height()
    # the room above the heads bears their name: the text's colour occurs there
    panel, room = view.canvas.headings[0]
    assert panel is heads[0] and room.bottom() <= panel.frame.top()
    picture = view.canvas.grab(room.toRect()).toImage()
    inked = [
        picture.pixelColor(i, j).lightness() < 120 for i in range(picture.width()) for j in range(picture.height())
    ]
    assert sum(inked) > 60


def test_eight_heads_alone_stand_in_one_row(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, eight(), (1280, 170))
    choose(view, "beside", "none")
    QApplication.processEvents()
    assert len({panel.frame.top() for panel in heads_of(view)}) == 1


@pytest.mark.parametrize("height", [160, 200, 240])
def test_choices_and_properties_fit_into_a_low_panel(qtbot: QtBot, height: int) -> None:
    view, _ = shown(qtbot, eight(), (1280, height))
    QApplication.processEvents()
    assert view.controls.minimumSizeHint().height() <= height
    words = view.words
    assert words.heightForWidth(words.width()) <= height
    for told in ("moves with the nodes", "square", "not symmetric", "rows sum to 1"):
        assert told in words.text()
    properties_are_whole(view)


@pytest.mark.parametrize(("first", "told"), [(30.7, "30.7 … 63.7"), (-68.3, "−68.3 … −35.3")])
def test_sums_of_rows_that_differ_fit_beside_what_they_are_of(qtbot: QtBot, first: float, told: str) -> None:
    unequal = (first + np.arange(N))[:, None] * WEIGHTS
    part = part_of(values=unequal, moved=-unequal, pairs={ATTENTION: unequal})
    view, _ = shown(qtbot, frame_of(part), (1280, 160))
    QApplication.processEvents()
    assert told in view.words.text()
    properties_are_whole(view)


def test_a_low_panel_says_how_far_a_property_is_off(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, eight(), (1280, 160))
    choose(view, "field", "0/adjacency")
    assert re.search(r"symmetric</b>.*?off by 0<", view.words.text()), "a 0 alone would be read as no"


def properties_are_whole(view: PairsView) -> None:
    words, page = view.words, QTextDocument()
    page.setDefaultFont(words.font())
    page.setHtml(words.text())
    assert page.idealWidth() <= words.contentsRect().width()  # nothing is broken or cut


# heads ------------------------------------------------------------------------------------------------------------
def test_a_click_enlarges_a_head_and_escape_goes_back(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    wishes = gather(view)
    panel = head(view, 2)
    assert [len(group) for group in view.canvas.groups] == [1, 1]
    assert panel.head == 2 and not panel.small and "head 2 of 4" in panel.title
    assert wishes[-1].changes == {"channel": 2}
    view.canvas.setFocus()
    QTest.keyClick(view.canvas, Qt.Key.Key_Escape)
    assert len(view.canvas.groups[0]) == HEADS
    assert wishes[-1].changes == {"channel": None}
    view.set_state(State(layer=ATTENTION, channel=3))
    assert main(view).head == 3 and len(view.canvas.groups[0]) == 1


# selection --------------------------------------------------------------------------------------------------------
def test_a_click_on_a_cell_selects_the_pair_as_numbered_in_x(qtbot: QtBot) -> None:
    order = np.random.default_rng(5).permutation(N)
    view, _ = shown(qtbot, frame_of(part_of(order)))
    wishes = gather(view)
    panel = head(view, 0)
    choose_order(view, "degree")
    panel = main(view)
    at = point(view, panel, 4, 11)
    Mouse(view.canvas).click(at)
    degrees = sorted(range(N), key=lambda i: (-KARATE.degree[i], i))
    assert wishes[-1].changes == {"node": degrees[4], "other": degrees[11]}
    # the same for a matrix numbered as in rho(g) x, which stands in its own order
    choose_order(view, "given")
    choose(view, "field", "0/adjacency of ρ(g) x")
    at = point(view, main(view), 3, 20)
    Mouse(view.canvas).click(at)
    back = np.argsort(order)
    assert wishes[-1].changes == {"node": int(back[3]), "other": int(back[20])}


def choose_order(view: PairsView, kind: str) -> None:
    view.controls.order.setCurrentIndex(view.controls.order.findData(kind))


def test_the_selected_node_is_highlighted_in_row_and_column(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    choose(view, "field", "0/adjacency")
    panel = main(view)
    empty = [(i, j) for i, j in np.argwhere(ADJACENCY == 0) if i != j]
    i, j = next((int(i), int(j)) for i, j in empty if i > 4 and j > 4)
    cells = {"row": point(view, panel, i, j), "other": point(view, panel, j, i)}
    before = {name: pixel(view, at) for name, at in cells.items()}
    assert set(before.values()) == {theme.current().plot}
    view.set_state(State(layer="x", node=i))
    after = {name: pixel(view, at) for name, at in cells.items()}
    assert after["row"] != before["row"] and after["other"] != before["other"]
    view.set_state(State(layer="x"))
    assert {name: pixel(view, at) for name, at in cells.items()} == before


def test_the_cell_under_the_cursor_is_read_out_and_linked(qtbot: QtBot) -> None:
    view, words = shown(qtbot, frame_of(part_of()))
    head(view, 1)
    hover(view, point(view, main(view), 0, 33))
    sent = WEIGHTS[1, :, 33].sum(dtype=np.float64)
    assert words[-1] == (
        f"{ATTENTION}, head 1 of 4, to Mr Hi (0) from Officer (33): {WEIGHTS[1, 0, 33]:.5g}, row sum 1, "
        f"column sum {sent:.5g}"
    )
    assert view.canvas.hover == (0, 33)  # drawn in both matrices
    QApplication.sendEvent(view.canvas, QEvent(QEvent.Type.Leave))
    assert words[-1] == "" and view.canvas.hover is None


# zoom -------------------------------------------------------------------------------------------------------------
def test_the_wheel_zooms_all_matrices_about_the_cursor_and_a_double_click_goes_back(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    head(view, 0)
    panel, beside = main(view), view.canvas.groups[1][0]
    at = point(view, panel, 12, 7)
    size = panel.cell(view.canvas.camera)
    wheel(view, at, 4)
    assert panel.cell(view.canvas.camera) == pytest.approx(1.25**4 * size)
    assert view.canvas.picture_of(panel).place_at(at) == (12, 7)
    assert beside.seen(view.canvas.camera) == panel.seen(view.canvas.camera)
    seen = panel.seen(view.canvas.camera)
    Mouse(view.canvas).drag(at, at + QPointF(-40, -60))
    assert panel.seen(view.canvas.camera)[0][0] > seen[0][0]
    rows = panel.seen(view.canvas.camera)[0]
    wheel(view, at, 3, Qt.KeyboardModifier.ShiftModifier)
    assert panel.seen(view.canvas.camera)[0][0] < rows[0]
    Mouse(view.canvas).double_click(at)
    assert view.canvas.camera.zoom == 1 and panel.seen(view.canvas.camera)[0] == (0, N)


def test_a_drag_of_the_picture_pans_and_picks_nothing(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    head(view, 0)
    wishes = gather(view)
    at = point(view, main(view), 12, 7)
    Mouse(view.canvas).drag(at, at + QPointF(-40, -60))
    assert wishes == []


# order, threshold, scale ------------------------------------------------------------------------------------------
def test_rows_and_columns_are_sorted_and_clusters_parted(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    choose(view, "field", "0/adjacency")
    classes = structure().classes
    assert classes is not None
    choose_order(view, "cluster")
    panel = main(view)
    assert (np.diff(classes[panel.view.nodes]) >= 0).all()
    assert panel.view.breaks.tolist() == [int((classes == 0).sum())]
    shown_now = panel.matrix.tile(0, (0, N), (0, N))
    np.testing.assert_array_equal(shown_now, ADJACENCY[np.ix_(panel.view.nodes, panel.view.nodes)])
    choose_order(view, "name")
    assert [main(view).name(k) for k in (0, 1, 9, 10, 33)] == [
        "member 1",
        "member 2",
        "member 10",
        "member 11",
        "Officer",
    ]


def test_orders_that_the_nodes_do_not_have_cannot_be_chosen(qtbot: QtBot) -> None:
    plain = replace(structure(), names=(), classes=None)
    view, _ = shown(qtbot, frame_of(part_of(structure=plain)))
    order = view.controls.order
    enabled = {str(order.itemData(k)): order.model().item(k).isEnabled() for k in range(order.count())}
    assert enabled == {"given": True, "degree": True, "cluster": False, "spectral": True, "name": False}


def test_the_threshold_hides_small_values_and_says_how_much_is_kept(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    head(view, 0)
    view.controls.threshold.setValue(500)
    threshold = WEIGHTS.max() * 0.25
    kept = (WEIGHTS[0] >= threshold).mean()
    assert main(view).threshold == pytest.approx(threshold)
    assert f"{100 * kept:.1f}" in view.controls.kept.text()
    i, j = np.unravel_index(WEIGHTS[0].argmin(), (N, N))
    assert pixel(view, point(view, main(view), int(i), int(j))) == theme.current().plot
    i, j = np.unravel_index(WEIGHTS[0].argmax(), (N, N))
    assert pixel(view, point(view, main(view), int(i), int(j))) != theme.current().plot
    assert view.canvas.groups[1][0].threshold == 0  # the other matrix has another scale


def test_a_logarithmic_scale_tells_small_values_apart(qtbot: QtBot) -> None:
    values = np.zeros((1, N, N), np.float32)
    values[0, 5, 6], values[0, 7, 8], values[0, 9, 10] = 1e-4, 1e-2, 1.0
    view, _ = shown(qtbot, frame_of(part_of(pairs={ATTENTION: values})))
    cells = [(0, 0), (5, 6), (7, 8)]
    linear = [pixel(view, point(view, main(view), *cell)) for cell in cells]
    assert linear[0] == linear[1]
    view.controls.log.setChecked(True)
    drawn = [pixel(view, point(view, main(view), *cell)) for cell in cells]
    assert drawn[2] not in (linear[2], drawn[0])


@pytest.mark.parametrize("log", [False, True])
def test_colours_are_even_and_zero_has_its_own(log: bool) -> None:
    style = Style(10.0, True, log, 0.1)
    found = shade(np.array([[-10.0, -1.0, 0.0, 1.0, 10.0]]), style, False)[0].astype(int)
    assert found[2] == STEPS // 2 and (found[0], found[4]) == (0, STEPS)
    assert found[3] - found[2] == found[2] - found[1] == (STEPS // 4 if log else round(STEPS / 20))
    assert shade(np.zeros((1, 1)), style, True)[0, 0] == HIDDEN


# before and after -------------------------------------------------------------------------------------------------
def test_before_after_and_difference_stand_side_by_side(qtbot: QtBot) -> None:
    order = np.random.default_rng(2).permutation(N)
    broken = WEIGHTS[:, np.argsort(order)][:, :, np.argsort(order)].copy()
    difference = np.zeros_like(broken)
    difference[:, 3, 4] = 0.25
    view, _ = shown(qtbot, frame_of(part_of(order, moved=broken - difference, difference=difference)))
    choose(view, "beside", COMPARE)
    choose(view, "head", 1)
    before, after, off = (group[0] for group in view.canvas.groups)
    np.testing.assert_array_equal(before.matrix.tile(1, (0, N), (0, N)), WEIGHTS[1])
    np.testing.assert_array_equal(after.matrix.tile(1, (0, N), (0, N)), (broken - difference)[1])
    assert off.matrix.value(1, 3, 4) == 0.25 and off.signed
    assert before.high == after.high == pytest.approx(max(WEIGHTS.max(), (broken - difference).max()))
    # sorted, the nodes stand in the same places before and after
    choose_order(view, "degree")
    before, after, _ = (group[0] for group in view.canvas.groups)
    assert np.array_equal(before.view.nodes, after.view.nodes)
    np.testing.assert_allclose(
        after.matrix.tile(1, (0, N), (0, N)).sum(), before.matrix.tile(1, (0, N), (0, N)).sum() - 0.25, rtol=1e-5
    )


def test_the_adjacency_after_a_permutation_is_that_of_the_renumbered_graph(qtbot: QtBot) -> None:
    order = np.random.default_rng(2).permutation(N)
    view, _ = shown(qtbot, frame_of(part_of(order)))
    choose(view, "field", "0/adjacency")
    choose(view, "beside", COMPARE)
    before, after, off = (group[0].matrix.tile(0, (0, N), (0, N)) for group in view.canvas.groups)
    renamed = nx.relabel_nodes(KARATE, dict(enumerate(order.tolist())))
    np.testing.assert_array_equal(after, nx.to_numpy_array(renamed, nodelist=range(N), weight=None))
    np.testing.assert_array_equal(before, ADJACENCY)
    assert not off.any()


def test_dropped_nodes_and_edges_leave_the_matrix(qtbot: QtBot) -> None:
    s = structure()
    order = np.concatenate([np.arange(N - 1), [-1]])
    kept = (s.edges != N - 1).all(0)
    kept[0] = False  # 0 -> 1 is dropped although both ends stay
    edge_order = np.where(kept, np.cumsum(kept) - 1, -1)
    view, _ = shown(qtbot, frame_of(part_of(order=order, edge_order=edge_order, kind="node"), "conv"))
    choose(view, "field", "0/adjacency")
    choose(view, "beside", COMPARE)
    _, after, off = (group[0].matrix for group in view.canvas.groups)
    expected = ADJACENCY[: N - 1, : N - 1].copy()
    expected[1, 0] = 0
    np.testing.assert_array_equal(after.tile(0, (0, N - 1), (0, N - 1)), expected)
    found = off.tile(0, (0, N - 1), (0, N - 1))
    assert found[1, 0] == 1 and found.sum() == 1


# relabelling ------------------------------------------------------------------------------------------------------
def test_a_dragged_row_label_renumbers_the_node(qtbot: QtBot) -> None:
    order = np.roll(np.arange(N), 5)
    steps = (Step("permute", (3.0,)),)
    view, words = shown(qtbot, frame_of(part_of(order), steps=steps))
    choose(view, "field", "0/adjacency")
    wishes = gather(view)
    panel = main(view)
    rows = [point(view, panel, row, 0).y() for row in (6, 11)]
    start, goal = (QPointF(panel.frame.left() - 20, y) for y in rows)
    hover(view, start)
    assert "member 6 (6)" in words[-1] and "drag" in words[-1]
    Mouse(view.canvas).drag(start, (start + goal) / 2, goal)
    step = Step("move", (float(order[6]), float(order[11])))
    assert wishes[-1].changes == {"steps": (*steps, step)} and wishes[-1].done
    count = len(wishes)
    Mouse(view.canvas).drag(start, start + QPointF(0, 6), start)  # let go where it was
    assert len(wishes) == count


# read-outs --------------------------------------------------------------------------------------------------------
def test_the_four_properties_are_told(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, frame_of(part_of()))
    text = view.words.text()
    asymmetry = np.linalg.norm(WEIGHTS - WEIGHTS.transpose(0, 2, 1)) / np.linalg.norm(WEIGHTS)
    for word in ("34 × 34", "not symmetric", f"{asymmetry:.3g}", "rows sum to 1", "moves with the nodes"):
        assert word in text, word
    choose(view, "field", "0/adjacency")
    zero = f"{100 * (ADJACENCY == 0).mean():.0f}\N{NO-BREAK SPACE}%"
    for word in ("symmetric", zero, "1 … 17", "sparse"):
        assert word in view.words.text(), word
    assert "not symmetric" not in view.words.text()


def test_a_matrix_that_depends_on_the_input_otherwise_is_told(qtbot: QtBot) -> None:
    difference = np.full_like(WEIGHTS, 0.01)
    view, _ = shown(qtbot, frame_of(part_of(difference=difference)))
    off = np.linalg.norm(difference) / np.linalg.norm(WEIGHTS)
    assert "changes with the input" in view.words.text() and f"{off:.3g}" in view.words.text()


# large ------------------------------------------------------------------------------------------------------------
def large(n: int = 16_384, listed: int = 60_000) -> GraphPart:
    edges = np.random.default_rng(0).integers(0, n, (2, listed))
    x = np.zeros((n, 0), np.float32)
    s = Structure(n, edges, "large", directed=True)
    return GraphPart(s, np.arange(n), np.arange(listed), "node", x, x, x, x, x, x)


def test_16k_nodes_zoom_from_the_whole_to_single_values(qtbot: QtBot) -> None:
    part = large()
    view, words = shown(qtbot, frame_of(part, "conv"))
    panel = main(view)
    assert panel.level(view.canvas.camera) >= 4
    qtbot.waitUntil(lambda: view.canvas.complete)
    j, i = (int(v) for v in part.structure.edges[:, 100])
    camera = view.canvas.camera
    camera.set(camera.most, (j + 0.5) / 16_384, (i + 0.5) / 16_384)
    at = point(view, panel, i, j)
    view.canvas.grab()
    assert panel.cell(camera) > 30 and panel.level(camera) == 0
    hover(view, at)
    value = int((part.structure.edges == [[j], [i]]).all(0).sum())
    assert f"to node {i} from node {j}: {value}," in words[-1]
    assert pixel(view, at - QPointF(12, 12)) != theme.current().plot


def test_dense_tiles_come_in_turns_and_then_are_right(qtbot: QtBot) -> None:
    n = 3000
    values = np.random.default_rng(0).integers(0, 200, (1, n, n), np.uint8)
    matrix, store, style = DensePairs(values), TileStore(), Style(200.0)
    turns, complete = 0, False
    while not complete:
        side = matrix.places(3)
        store.begin()
        cells, complete = store.picture(matrix, 0, 3, (0, side), (0, side), "max", style, 0.0)
        turns += 1
    assert turns > 4
    expected = values[0, :n].reshape(side, 8, side, 8).max((1, 3))
    np.testing.assert_array_equal(cells, np.floor(expected / 200 * STEPS + 0.5).astype(np.uint8))


def test_means_hide_by_the_largest_entry_of_their_block() -> None:
    edges = np.array([[0, 9], [0, 9]])
    matrix = SparsePairs(EdgePattern(16, edges), np.array([1.0, 0.2]))
    cells, complete = TileStore().picture(matrix, 0, 3, (0, 2), (0, 2), "mean", Style(1.0, threshold=0.5), np.inf)
    assert complete and cells[0, 0] != HIDDEN and cells[1, 1] == HIDDEN


# what every view does ---------------------------------------------------------------------------------------------
def test_without_pairs_the_view_says_what_to_do(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, None)

    def sentence() -> str:
        return " ".join(label.text() for label in view.findChildren(QLabel) if label.isVisible())

    assert sentence() == pairs.NOTHING
    view.set_frame(make_frame())
    assert (
        "no layer of this model lies on pairs of its patches" in sentence()
        and view.numbers() == {}
        and view.caption() == ""
    )
    view.set_frame(frame_of(part_of()))
    assert "not a graph" not in sentence() and view.caption()
    view.set_frame(None)
    assert sentence() == pairs.NOTHING


def test_of_a_sequence_layers_on_pairs_are_named(qtbot: QtBot) -> None:
    view, _ = shown(qtbot, None)
    engine = LocalEngine(scan(models, "CARD"))
    view.set_frame(engine.answer(State("bahdanau-dates", layer="encoder"), lambda: False))
    said = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    assert any("such as alignment, to see it" in text for text in said), said
    engine.close()


def odd_parts() -> dict[str, GraphPart]:
    x = np.zeros((1, 0), np.float32)
    none = np.zeros((2, 0), np.int64)
    lone = GraphPart(Structure(1, none, "lone"), np.arange(1), np.arange(0), "node", x, x, x, x, None, None)
    empty = replace(lone, structure=Structure(0, none, "empty"), order=np.arange(0))
    names = tuple("ένα όνομα " * 20 for _ in range(N))
    return {
        "lone node": lone,
        "no nodes": empty,
        "nan": part_of(pairs={ATTENTION: np.full((2, N, N), np.nan, np.float32)}),
        "zero": part_of(pairs={ATTENTION: np.zeros((1, N, N), np.float32)}),
        "huge": part_of(pairs={ATTENTION: np.full((1, N, N), 3e38, np.float32)}),
        "infinite": part_of(pairs={ATTENTION: np.where(ADJACENCY > 0, np.inf, -np.inf)[None]}),
        "many heads": part_of(pairs={ATTENTION: np.repeat(WEIGHTS, 20, axis=0)}),
        "wrong shapes": part_of(pairs={"a": WEIGHTS[:, :5]}, coefficients={"b": np.zeros((3, 2))}),
        "no action": part_of(expected=None, difference=None),
        "long names": part_of(structure=replace(structure(), names=names)),
        "all dropped": part_of(order=np.full(N, -1), edge_order=np.full(156, -1), kind="node"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", odd_parts())
@pytest.mark.parametrize("choice", ["light", "dark"])
def test_odd_graphs_are_drawn(qtbot: QtBot, name: str, choice: str) -> None:
    theme.use(choice)
    view, _ = shown(qtbot, frame_of(odd_parts()[name]), (700, 500))
    for log in (False, True):
        view.controls.log.setChecked(log)
        for combo in (view.controls.field, view.controls.beside):
            for k in range(combo.count()):
                combo.setCurrentIndex(k)
                combo.activated.emit(k)
                view.controls.threshold.setValue(300 * log)
                assert not view.grab().isNull()
                for panel in view.canvas.panels[:3]:
                    hover(view, panel.frame.center())
                view.numbers(), view.caption()
    view.resize(60, 40)
    assert not view.grab().isNull()
    view.apply_theme()


@pytest.mark.parametrize("name", odd_frames())
def test_frames_of_other_domains_are_survived(qtbot: QtBot, name: str) -> None:
    view, _ = shown(qtbot, odd_frames()[name])
    assert not view.grab().isNull() and view.numbers() == {}


def test_two_models_stand_beside_each_other(qtbot: QtBot) -> None:
    frame = frame_of(part_of())
    second = replace(
        frame.squares[0], title="gat", model="gat", layer=replace(frame.squares[0].layer, name="gat.alpha")
    )
    view, _ = shown(qtbot, replace(frame, squares=(frame.squares[0], second)))
    assert view.controls.beside.currentText() == "gat: gat.alpha"
    assert [group[0].role for group in view.canvas.groups] == ["first", "second"]


def test_a_hidden_view_waits(qtbot: QtBot) -> None:
    view = PairsView()
    qtbot.addWidget(view)
    view.set_frame(frame_of(part_of()))
    assert view.canvas.panels == []
    opened(qtbot, view, 900, 240)
    assert len(view.canvas.groups[0]) == HEADS


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_figures_and_numbers_are_written(qtbot: QtBot, tmp_path: Any, kind: str) -> None:
    view, _ = shown(qtbot, frame_of(part_of()), (1280, 400))
    choose(view, "head", 1)
    path = tmp_path / f"figure.{kind}"
    export_view(view, path)
    assert path.stat().st_size > 5000
    if kind == "svg":
        text = path.read_text("utf-8")
        assert "Mr Hi" in text and "<image" not in text and text.count("<rect") > 1000
    export_numbers(view, tmp_path / "numbers.npz")
    with np.load(tmp_path / "numbers.npz") as found:
        np.testing.assert_array_equal(found[ATTENTION], WEIGHTS)
        rows, columns = found["adjacency: row, column"]
        np.testing.assert_array_equal(ADJACENCY[rows, columns], 1)
    assert "head 1 of 4" in view.caption() and "as given" in view.caption()


def test_a_figure_of_16k_nodes_waits_for_its_tiles(qtbot: QtBot, tmp_path: Any) -> None:
    view, _ = shown(qtbot, frame_of(large(), "conv"), (1280, 800))
    export_view(view, tmp_path / "figure.png")
    assert view.canvas.complete and not view.canvas.patient


def test_the_view_is_found_by_its_constant() -> None:
    assert (pairs.VIEW.name, pairs.VIEW.area, pairs.VIEW.title) == ("pairs", "bottom", "Attention and pairs")
