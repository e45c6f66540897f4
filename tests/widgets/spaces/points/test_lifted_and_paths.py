"""The views Lifted and Paths: whom a lifted point sees, and which couplings carry the signal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from explorer.spaces.points.drawing.routes import Routed
from explorer.square.frame import Frame
from tests.widgets.parts.driving.view_driving import odd_frames, opened
from tests.widgets.parts.frames.points_frames import TURN, give, points_frame
from widgets.spaces.points.charts.routes_chart import shade
from widgets.spaces.points.views.degrees import DegreesView
from widgets.spaces.points.views.lifted import NO_LIFT, LiftedView
from widgets.spaces.points.views.routes import NO_PRODUCT, RoutesView, nearest


@pytest.fixture
def lifted(qtbot: Any) -> LiftedView:
    made = opened(qtbot, LiftedView(), 900, 260)
    assert isinstance(made, LiftedView)
    return made


@pytest.fixture
def paths(qtbot: Any) -> RoutesView:
    made = opened(qtbot, RoutesView(), 900, 260)
    assert isinstance(made, RoutesView)
    return made


@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_points_say_what_to_do(lifted: LiftedView, paths: RoutesView, name: str) -> None:
    for view in (lifted, paths):
        view.set_frame(odd_frames()[name])
        view.grab()
        assert view.chart.message.strip() and view.numbers() == {} and view.caption() == ""


def test_networks_without_any_say_which_have_some(lifted: LiftedView, paths: RoutesView) -> None:
    frame = points_frame("schnet", TURN, "interactions.0")
    for view, sentence in ((lifted, NO_LIFT), (paths, NO_PRODUCT)):
        give(view, frame)
        assert view.chart.message == sentence and view.caption() == ""


def test_dots_are_what_the_selected_point_sees(lifted: LiftedView) -> None:
    part = give(lifted, points_frame("lieconv", f"{TURN}+permute:3", "near", node=2))
    seen = part.lifted
    assert seen is not None and lifted.point.currentIndex() == 2
    near = seen.distance[0, :, 2] <= seen.reach
    x, y = lifted.chart.near.getData()
    assert len(x) == near.sum() and len(lifted.chart.far.getData()[0]) == near.size - near.sum()
    # rings lie round the dots, also where the points have other numbers
    rings = np.stack(lifted.chart.after.getData(), 1)
    for dot in np.stack([x, y], 1):
        assert np.abs(rings - dot).max(1).min() < 1e-2
    told = lifted.chart.read(QPointF(x[0], y[0]))
    assert "seen" in told and "distance" in told
    assert {"turn", "shift", "distance", "turn after"} <= set(lifted.numbers())


def test_rings_wander_where_frames_stay_behind(lifted: LiftedView) -> None:
    give(lifted, points_frame("lieconv-drawn", TURN, "near", node=2))
    dots, rings = lifted.chart.far.getData(), lifted.chart.after.getData()
    apart = np.abs(np.stack(dots, 1)[:, None] - np.stack(rings, 1)[None]).max(2).min(1)
    assert apart.max() > 0.05


def test_another_point_is_a_wish(lifted: LiftedView, qtbot: Any) -> None:
    give(lifted, points_frame("lieconv", TURN, "near"))
    with qtbot.waitSignal(lifted.wished) as wish:
        lifted.point.activated.emit(4)
    assert dict(wish.args[0].changes) == {"node": 4}


def test_ribbons_are_as_wide_as_paths_carry_much(paths: RoutesView) -> None:
    part = give(paths, points_frame(chain=TURN, layer="layer2.heard"))
    assert paths.product.currentText() == "layer2.product" and set(part.routes) == {"layer1.product", "layer2.product"}
    routes, chart = part.routes["layer2.product"], paths.chart
    assert len(chart.routes) == len(routes) and chart.routes[0].energy == max(r.energy for r in routes)
    heights = [ribbon.path().boundingRect().height() for ribbon in chart.ribbons[:2]]
    starts = [ribbon.path().elementAt(0).y for ribbon in chart.ribbons[:2]]
    ends = [max(r.path().elementAt(k).y for k in range(r.path().elementCount()) if r.path().elementAt(k).x == 0)
            for r in chart.ribbons[:2]]  # fmt: skip
    wide = np.subtract(ends, starts)
    assert wide[0] / wide[1] == pytest.approx(chart.routes[0].energy / chart.routes[1].energy, rel=0.02) and heights
    table = paths.numbers()
    assert set(table) == {"product", "value", "harmonic", "gives", "mean square"}
    assert table["mean square"].sum() == pytest.approx(sum(r.energy for r in routes))


def test_a_click_on_a_ribbon_chooses_its_layer(paths: RoutesView, qtbot: Any) -> None:
    give(paths, points_frame(chain=TURN, layer="layer2.heard"))
    chart = paths.chart
    box = chart.ribbons[0].path()
    at = QPointF(0.05, (box.elementAt(0).y + box.elementAt(box.elementCount() - 1).y) / 2 + 1e-4)
    assert chart.routes[0].layer in chart.read(at)
    with qtbot.waitSignal(paths.wished) as wish:
        chart.clicked_at(at)
    assert wish.args[0].changes["layer"] == chart.routes[0].layer


def test_paths_of_a_volume_lead_to_the_channels_that_they_make(paths: RoutesView, qtbot: Any) -> None:
    frame = points_frame("steerable-cnn-3d", "cube:z90", "gate2", "phantom-3d")
    paths.set_state(frame.state)
    paths.set_frame(frame)
    paths.settle()
    part, chart = frame.squares[0].of(Routed), paths.chart
    assert part is not None and set(part.routes) == {"conv1", "conv2", "conv3"}
    assert paths.product.currentText() == "conv2", "what comes before the gate"
    assert {(r.value, r.harmonic, r.out) for r in part.routes["conv1"]} == {("0e", f"{k}{p}", f"{k}{p}")
                                                                              for k, p in enumerate("eoe")}  # fmt: skip
    strongest = chart.routes[0]
    box = chart.ribbons[0].path()
    at = QPointF(0.05, (box.elementAt(0).y + box.elementAt(box.elementCount() - 1).y) / 2 + 1e-4)
    assert strongest.energy > 0 and "may cancel" in chart.read(at)
    with qtbot.waitSignal(paths.wished) as wish:
        chart.clicked_at(at)
    assert wish.args[0].changes == {"layer": "conv2", "channel": strongest.channels[0]}
    first, count = strongest.channels
    assert strongest.gives("conv2", first) and strongest.gives("conv2", first + count - 1)
    assert not strongest.gives("conv2", first + count) and not strongest.gives("conv3", first)
    assert "steerable-cnn-3d" in NO_PRODUCT


def test_paths_on_the_sphere_are_those_of_a_product_of_functions(paths: RoutesView) -> None:
    frame = points_frame("sphere-cnn", "turn-sphere:40", "conv2", "globe")
    paths.set_state(frame.state)
    paths.set_frame(frame)
    paths.settle()
    part, chart = frame.squares[0].of(Routed), paths.chart
    assert part is not None and set(part.routes) == {"act1", "act2"} and paths.product.currentText() == "act1"
    ends = {(int(r.value), int(r.harmonic), int(r.out)) for r in part.routes["act1"]}
    assert ends == {(i, j, k) for i in range(5) for j in range(5) for k in range(5) if abs(i - j) <= k <= i + j}
    assert [name.text for name in chart.bottom.names] == ["value", "degree of 1 + f/2", "gives"]
    # each path makes every channel of act1, so that none stands out there
    chart.show_routes(part.routes["act1"], "act1", "act1", 0)
    assert {ribbon.pen().color().alpha() for ribbon in chart.ribbons[:65]} == {0}
    assert shade("2") == shade("2e") == shade("2o") != shade("1")


def test_the_product_of_a_layer_is_the_nearest_by_name() -> None:
    names = {"layers.0.keys.product": (), "layers.0.values.product": (), "layers.1.keys.product": ()}
    assert nearest(names, "layers.0.values.mix") == "layers.0.values.product"
    assert nearest(names, "layers.1.gate") == "layers.1.keys.product"
    assert nearest(names, "head") == "layers.0.keys.product"


def test_of_products_that_are_as_near_the_last_one_before_the_layer_is_taken() -> None:
    names, order = {"conv1": (), "conv2": (), "conv3": ()}, ["conv1", "gate1", "pool1", "conv2", "gate2", "conv3"]
    found = [nearest(names, layer, order) for layer in ("conv1", "gate1", "gate2", "conv3", "elsewhere")]
    assert found == ["conv1", "conv1", "conv2", "conv3", "conv1"]


def two(first: Frame, second: Frame) -> Frame:
    """Return a frame of two networks on the same sample."""
    return replace(first, squares=(*first.squares, *second.squares))


def test_two_networks_are_beside_each_other(lifted: LiftedView, paths: RoutesView, qtbot: Any) -> None:
    degrees = opened(qtbot, DegreesView(), 900, 260)
    assert isinstance(degrees, DegreesView)
    product, gate, near = "layer1.product", "layers.0.gate", "near"
    for view, models, layers in (
        (lifted, ("lieconv", "lieconv-drawn"), (near, near)),
        (paths, ("tensor-field-network", "se3-transformer"), (product, gate)),
        (degrees, ("tensor-field-network", "se3-transformer"), ("layer1.gate", gate)),
    ):
        frames = [points_frame(m, TURN, layer) for m, layer in zip(models, layers, strict=True)]
        give(view, two(*frames))
        charts = view.beside.charts
        assert len(charts) == 2 and all(chart.isVisible() and not chart.message.strip() for chart in charts)
        words = [chart.header.parts[0][0] for chart in charts]
        assert all(f.squares[0].title in w for f, w in zip(frames, words, strict=True))
        found = view.numbers()
        for model, frame in zip(models, frames, strict=True):
            give(view, frame)
            assert len([c for c in charts if c.isVisible()]) == 1
            for name, values in view.numbers().items():
                if f"{model}/{name}" in found:
                    assert np.array_equal(found[f"{model}/{name}"], values)
        assert {name.partition("/")[0] for name in found} >= set(models)
