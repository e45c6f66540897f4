"""The density view: curves on the line, maps, a net and arrows on the plane, and a sentence for all else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QPointF

from explorer.declare.states.interventions import parse_intervention
from explorer.square.frame import Frame
from tests.widgets.parts.driving.view_driving import odd_frames, opened
from tests.widgets.parts.frames.graph_frames import karate
from widgets.base.look.switched_parts import sharp
from widgets.figures.export import export_view
from widgets.spaces.graph.views.density import LONGEST, NEEDED, DensityView, arrows, fits

ODD = odd_frames()
CHANCE = np.random.default_rng(0)


def line() -> dict[str, NDArray[np.float64]]:
    x, z = np.linspace(-3, 3, 40), np.linspace(-1, 1, 9)
    rows = {name: CHANCE.random(40) for name in NEEDED} | {"x": x, "z": z, "G(z)": 2 * z, "|dG/dz|": 0 * z + 2}
    rows |= {f"gradient, {loss}": CHANCE.random(9) for loss in ("non-saturating", "minimax")}
    return {name: row[None] for name, row in rows.items()} | {"= JSD": np.array([[0.25]])}


def plane() -> dict[str, NDArray[np.float64]]:
    rows = {name: CHANCE.random((12, 12)) for name in NEEDED}
    rows |= {f"G(z), {axis}": CHANCE.random((5, 5)) for axis in "xy"}
    rows |= {f"pulled at, {axis}": CHANCE.random((3, 3)) for axis in "xy"}
    pulls = ("non-saturating", "least squares")
    return rows | {f"pull, {loss}, {axis}": CHANCE.random((3, 3)) for loss in pulls for axis in "xy"}


def frame(rows: dict[str, NDArray[np.float64]]) -> Frame:
    known = karate()
    return replace(known, squares=(replace(known.squares[0], matrices=rows), *known.squares[1:]))


@pytest.fixture
def view(qtbot):
    return opened(qtbot, DensityView())


@pytest.mark.parametrize("name", ODD)
def test_frames_without_densities_say_so(view, name):
    view.set_frame(ODD[name])
    view.grab()
    assert view.numbers() == {} and view.caption() == ""


def test_densities_that_a_frozen_layer_has_no_values_for_are_told(view):
    known = frame({})
    frozen = (parse_intervention("generator:freeze"),)
    view.set_frame(replace(known, squares=tuple(replace(s, interventions=frozen) for s in known.squares)))
    assert view.reason(view.parts()).startswith("The densities need generator on other inputs")
    view.set_frame(known)
    assert view.reason(view.parts()) == "This network draws no densities."


def test_curves_of_the_line(view, tmp_path):
    rows = line()
    view.set_frame(frame(rows))
    assert view.stack.currentIndex() == 0 and "JSD 0.25" in view.words.text()
    np.testing.assert_array_equal(view.density.curves["p_g"].getData()[1], rows["p_g"][0])
    x, y = view.way.curves["z above, x = G(z) below"].getData()
    assert len(x) == 27 and np.isnan(x[2::3]).all()
    np.testing.assert_allclose(x[1::3], 2 * x[0::3])
    assert set(y[np.isfinite(y)]) == {0.0, 1.0}
    assert "JSD" in view.caption() and "p_data" in view.numbers()
    export_view(view, tmp_path / "density.svg")
    assert b"p_data" in (tmp_path / "density.svg").read_bytes()


def test_maps_net_and_arrows_of_the_plane(view):
    rows = plane()
    view.set_frame(frame(rows))
    assert view.stack.currentIndex() == 1 and view.maps.item.values.shape == (2, 12, 12)
    assert view.beliefs.item.values.shape == (2, 12, 12)
    x, _ = view.net.curves["net of z"].getData()
    assert len(x) == 2 * 5 * 6 + 4 and np.isnan(x[:60]).sum() == 10, "every line ends in a gap"
    np.testing.assert_array_equal(x[:5], rows["G(z), x"][0])
    np.testing.assert_array_equal(x[30:35], rows["G(z), x"][:, 0])
    view.set_frame(frame(line()))
    assert view.stack.currentIndex() == 0


def test_a_generator_that_makes_one_point_leaves_the_data_to_be_seen_and_its_net_in_its_place(view):
    rows = plane()
    rows["p_g"] = np.zeros((12, 12))
    rows["p_g"][2, 3] = 144.0
    rows |= {f"G(z), {axis}": 0.25 + 0.01 * CHANCE.random((5, 5)) for axis in "xy"}
    for k, axis in enumerate("xy"):
        rows[f"pulled at, {axis}"] = np.stack(np.meshgrid([-2.7, 0.0, 2.7], [-2.7, 0.0, 2.7]))[k]
    view.set_frame(frame(rows))
    assert view.maps.bar.high == pytest.approx(rows["p_data"].max()), "the colours are those of the data"
    assert "p_g up to 144" in view.maps.title.text
    for low, high in view.net.box.viewRange():
        assert low <= -2.7 and high >= 2.7, "the net is drawn on the whole plane"


def test_the_colours_of_the_arrows_are_named_at_the_size_of_a_small_window(view):
    view.resize(760, 460)
    view.set_frame(frame(plane()))
    view.grab()
    assert view.pulls.header.legend.isVisible()


def test_arrows_point_where_they_pull_and_the_longest_is_the_strongest():
    at, way = np.zeros((2, 2)), np.array([[4.0, 0.0], [0.0, -1.0]])
    x, y = (v.reshape(2, 6) for v in arrows(at, way))
    np.testing.assert_allclose(np.stack([x[:, 1], y[:, 1]], 1), [[LONGEST, 0], [0, -LONGEST / 2]], atol=1e-12)
    assert arrows(at, 0 * way)[0][1] == 0


def test_the_view_fits_networks_that_draw_densities():
    assert fits(frame(line()).squares[0]) and not fits(karate().squares[0])


def test_a_sharp_picture_has_curves_as_wide_as_the_screen(view):
    """They were half as wide in a PNG as on the screen."""
    view.set_frame(frame(line()))

    def widths():
        return [c.opts["pen"].widthF() for plot in view.plots for c in plot.curves.values()]

    before = widths()
    with sharp(2.0):
        view.apply_theme()
        assert widths() == [2 * width for width in before]


def test_a_curve_that_leaves_its_axis_is_marked_and_says_how_far_it_goes(view):
    rows = line()
    z = np.linspace(-1, 1, 401)
    steep = np.where(np.abs(z) < 0.004, 50.0, 1.0)
    rows |= {"z": z[None], "G(z)": z[None], "|dG/dz|": steep[None]}
    rows |= {f"gradient, {loss}": (0 * z + 1)[None] for loss in ("non-saturating", "minimax")}
    view.set_frame(frame(rows))
    plot = view.contraction
    assert plot.box.viewRange()[1][1] < 2
    assert plot.tops == [("|dG/dz|", 50.0, pytest.approx(0.0, abs=0.005))]
    assert view.words.text().endswith("|dG/dz| up to 50")
    assert plot.beyond.getData()[0] == pytest.approx([0.0], abs=0.005)
    assert "|dG/dz| up to 50" in plot.read(QPointF(0.0, plot.ends[1]))
    assert not view.gradient.tops
