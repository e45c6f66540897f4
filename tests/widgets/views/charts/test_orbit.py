"""The error along the orbit: the line is the element, the curve is the error, and partial curves grow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from explorer.declare.elements import parse_chain, transforms
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.sample_catalogue import make_catalogue, make_info
from tests.widgets.parts.frames.sample_frames import LAYERS, make_frame, make_orbit
from widgets.base.look import theme
from widgets.views.charts.orbit import OrbitView

ODD = odd_frames()


@pytest.fixture
def view(qtbot):
    return opened(qtbot, OrbitView())


def filled(view, **kwargs):
    view.set_frame(make_frame(**kwargs))
    view.set_orbit((make_orbit(),))
    return view


def at(chart, value):
    return PlotMouse(chart).middle(chart.course.place(value))


def drag(chart, *points):
    PlotMouse(chart).drag(*points)


def test_the_line_stands_at_the_current_element(view):
    filled(view, transform="rotate:40")
    assert view.curve.value == 40
    view.set_state(replace(make_frame().state, steps=parse_chain("rotate:-120")))
    assert view.curve.value == -120
    view.set_state(replace(make_frame().state, steps=()))
    assert view.curve.value == 0
    view.set_frame(make_frame(transform="rotate:40"))
    assert view.curve.value == 0  # a frame that comes late says nothing about the choice


def test_dragging_the_line_wishes_for_elements_until_it_is_released(view):
    filled(view, transform="rotate:40")
    wishes = gather(view)
    chart = view.curve
    drag(chart, at(chart, 40), at(chart, 50), at(chart, 61), at(chart, 33))
    assert [w.step[0] for w in wishes] == ["rotate"] * len(wishes)
    assert [round(w.step[1][0]) for w in wishes][-1] == 33
    assert {50, 61} <= {round(w.step[1][0]) for w in wishes}
    assert [w.done for w in wishes] == [False] * (len(wishes) - 1) + [True]
    assert {w.tag for w in wishes} == {"orbit"}


def test_a_drag_falls_on_exact_elements_nearby(view):
    filled(view, transform="rotate:40")
    wishes = gather(view)
    near = at(view.curve, 90) + QPointF(3, 0)
    drag(view.curve, at(view.curve, 40), near)
    assert wishes[-1].step == ("rotate", (90.0,))


def test_frames_that_lag_behind_do_not_pull_the_line_back(view):
    filled(view, transform="rotate:40")
    chart = view.curve
    mouse = PlotMouse(chart)
    mouse.move(at(chart, 40))
    mouse.press(at(chart, 40))
    mouse.move(at(chart, 70))
    view.set_frame(make_frame(transform="rotate:41"))
    assert chart.value == pytest.approx(70, abs=1)
    mouse.release(at(chart, 70))
    view.set_frame(make_frame(transform="rotate:70"))
    assert chart.value == 70


def test_a_drag_keeps_the_other_parameters(view):
    frame = make_frame(transform="translate:2,5,zero")
    view.set_frame(replace(frame, state=replace(frame.state, orbit="translate")))
    shifts = np.arange(-8.0, 9.0)
    curve = replace(make_orbit(n=17), transform="translate", parameter="right", values=shifts,
                    exact=np.ones(17, dtype=bool))  # fmt: skip
    view.set_orbit((curve,))
    wishes = gather(view)
    drag(view.curve, at(view.curve, 2), at(view.curve, 6))
    assert wishes[-1].step == ("translate", (6.0, 5.0, 1.0))


def test_the_curve_is_drawn_at_the_errors(view):
    filled(view)
    chart = view.curve
    errors = make_orbit().errors[LAYERS[0].name]
    points = [chart.at(x, y) for x, y in zip(*chart.curves[0].layer.getData(), strict=True)]
    plot = chart.plotted
    heights = [(plot.bottom() - p.y()) / plot.height() for p in points]
    assert np.allclose(heights[:72], np.log10(errors / 1e-9) / 10)
    assert heights[72] == pytest.approx(heights[0])  # the circle is closed
    assert points[72].x() == pytest.approx(plot.right())


def test_a_partial_curve_grows(view):
    view.set_frame(make_frame())
    for done in (0, 1, 20, 72):
        full = make_orbit(done=done)
        errors = {k: np.where(np.arange(72) < done, v, np.nan) for k, v in full.errors.items()}
        view.set_orbit((replace(full, errors=errors),))
        heights = view.curve.curves[0].layer.getOriginalDataset()[1]
        drawn = 0 if heights is None else np.isfinite(heights).sum()
        assert drawn == done + (done > 0)  # the last point closes the circle
        view.grab()


def test_both_models_are_drawn_each_with_its_own_layer(view):
    view.set_frame(make_frame(compare=True))
    view.set_orbit((make_orbit(), make_orbit("plain-cnn")))
    assert [(t.curve.model, t.layer, t.output, t.role) for t in view.curve.traces] == [
        ("d4-cnn", "lift", "head", "first"),
        ("plain-cnn", "lift", "head", "second"),
    ]


def test_the_selected_layer_is_the_one_drawn(view):
    frame = make_frame()
    square = replace(frame.squares[0], layer=LAYERS[3])
    view.set_frame(replace(frame, squares=(square,)))
    view.set_orbit((make_orbit(),))
    assert view.curve.traces[0].layer == "group_pool"


def test_the_combo_offers_transforms_with_an_orbit_and_follows_the_state(view):
    names = {view.combo.itemData(i) for i in range(view.combo.count())}
    assert names == {name for name, t in transforms().items() if t.orbit is not None}
    wishes = gather(view)
    view.set_state(replace(make_frame().state, orbit="dilate"))
    assert view.combo.currentData() == "dilate"
    assert not wishes
    view.combo.activated.emit(view.combo.findData("translate"))
    assert [w.changes for w in wishes] == [{"orbit": "translate"}]


def shuffled(view, transform="permute", n=72, errors=None):
    values = np.arange(n, dtype=float) if transform == "permute" else np.linspace(0, 1, n)
    names = [layer.name for layer in LAYERS]
    found = {name: np.full(n, 1e-3) if errors is None else errors for name in names}
    param = transforms()[transform].params[0]
    curve = replace(
        make_orbit(n=n), transform=transform, parameter=param.name, unit="", values=values, errors=found,
        floor={name: np.full(n, 1e-8) for name in names}, exact=np.full(n, False),
    )  # fmt: skip
    view.set_frame(make_frame(transform=""))
    state = replace(make_frame().state, orbit=transform, steps=parse_chain(f"{transform}:{values[5]:g}"))
    view.set_state(state)
    view.set_orbit((replace(curve, state=state),))
    return view.curve


def test_shuffles_are_points_with_whole_numbers(view):
    rng = np.random.default_rng(0)
    chart = shuffled(view, errors=10.0 ** rng.uniform(-6, 0, 72))
    assert chart.element_text() == "Permutation, shuffle 5" and chart.axis.end == "shuffle"
    ticks = chart.axis.ticks(*chart.axis.range, 20)
    assert ticks and all(tick == round(tick) for tick in ticks)
    # two neighbours of which one is far up and one far down: nothing is drawn between them
    shown = chart.traces[0].errors(chart.traces[0].layer)
    k = int(np.argmax(np.abs(np.diff(np.log10(shown)))))
    here, there = (chart.at(i, np.log10(shown[i])) for i in (k, k + 1))
    picture = chart.grab().toImage()

    def inks(at, beside, above):
        return {picture.pixelColor(round(at.x()) + i, round(at.y()) + j).name()
                for i in range(-beside, beside + 1) for j in range(-above, above + 1)}  # fmt: skip

    assert theme.current().first not in inks((here + there) / 2, 1, 3)
    assert theme.current().first in inks(here, 1, 1)


def test_shares_are_read_in_percent(view):
    chart = shuffled(view, "drop-edges", 101)
    assert chart.element_text() == "Drop edges, share 5 %"
    assert chart.axis.end == "" and chart.axis.tickStrings([0.2], 1, 1) == ["20 %"]
    assert "at 50 %" in PlotMouse(chart).read(at(chart, 0.5))


def test_only_transforms_of_the_domain_are_offered(view):
    catalogue = make_catalogue()
    gnn = make_info("gnn", domain="graph")
    view.show_catalogue(replace(catalogue, models=(*catalogue.models, gnn)))
    for model, domain in (("gnn", "graph"), ("d4-cnn", "grid"), ("somebody.py:Net", "")):
        view.set_state(replace(make_frame().state, model=model))
        offered = [view.combo.itemData(k) for k in range(view.combo.count())]
        fit = [n for n, t in transforms().items() if t.orbit is not None and (not domain or domain in t.domains)]
        assert offered == fit and offered


def test_play_speaks_of_clicks_only(view):
    said = []
    view.play_toggled.connect(said.append)
    view.set_playing(True)
    assert view.play.isChecked() and not said
    view.play.click()
    view.play.click()
    assert said == [False, True]


def test_all_layers_as_a_heat_map(view):
    filled(view)
    view.all_layers.click()
    heat = view.heat[0]
    assert heat.isVisible() and not view.curve.isVisible()
    assert heat.names == [layer.name for layer in LAYERS]
    wishes = gather(view)
    plot = heat.plotted
    PlotMouse(heat).click(QPointF(plot.left() + 0.1 * plot.width(), plot.top() + 2.5 / 5 * plot.height()))
    assert wishes[-1].changes == {"layer": "block.conv"}
    drag(heat, at(heat, 90), at(heat, 45))
    assert wishes[-1].step == ("rotate", (45.0,)) and wishes[-1].done
    view.all_layers.click()
    assert view.curve.isVisible() and not heat.isVisible()


def test_the_heat_map_is_darker_where_the_error_is_larger(view):
    filled(view)
    view.all_layers.click()
    heat = view.heat[0]
    image, ratio = heat.grab().toImage(), heat.devicePixelRatioF()

    def colour(angle, row):
        place = heat.at(angle, row) * ratio
        return image.pixelColor(round(place.x()), round(place.y()))

    assert colour(0, 3).lightness() > colour(45, 3).lightness()
    assert colour(45, 1) != colour(45, 4)


def test_a_factor_has_a_logarithmic_axis(view):
    frame = make_frame()
    view.set_frame(replace(frame, state=replace(frame.state, orbit="dilate")))
    factors = np.geomspace(0.5, 2.0, 9)
    view.set_orbit((replace(make_orbit(n=9), transform="dilate", values=factors, unit="×"),))
    chart = view.curve
    assert at(chart, 1.0).x() == pytest.approx(chart.plotted.center().x())


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("heat", [False, True])
def test_odd_frames_are_drawn(view, name, heat):
    view.all_layers.setChecked(heat)
    view.set_frame(ODD[name])
    view.set_orbit((make_orbit(),))
    view.grab()
    view.numbers(), view.caption()


def test_odd_curves_are_drawn(view):
    view.set_frame(make_frame())
    errors = {"lift": np.array([0.0, np.nan, np.inf, 1e-30, 50.0])}
    odd = replace(make_orbit(n=5), errors=errors, floor={}, outputs=np.zeros((5, 0)))
    none = replace(make_orbit(n=1), errors={}, floor={}, done=0)
    for curves in ((odd,), (none,), (), (odd, none), (make_orbit(),)):
        for heat in (False, True):
            view.all_layers.setChecked(heat)
            view.set_orbit(curves)
            view.grab()
            PlotMouse(view.curve).move(view.curve.plotted.center())


def test_nothing_is_made_anew_on_a_frame(view):
    view.set_frame(make_frame(compare=True))
    view.set_orbit((make_orbit(), make_orbit("plain-cnn")))
    before = objects(view)
    for i in range(50):
        view.set_frame(make_frame(compare=True, transform=f"rotate:{i}"))
        view.set_orbit((make_orbit(done=i), make_orbit("plain-cnn", done=i)))
        view.grab()
    assert objects(view) == before


def test_numbers_are_those_of_the_curve(view):
    filled(view)
    numbers, curve = view.numbers(), make_orbit()
    assert np.array_equal(numbers["angle"], curve.values)
    assert np.array_equal(numbers["error"][2], curve.errors["block.conv"])
    assert list(numbers["layer"]) == list(curve.errors)
    assert "rotate" in view.caption()


def header_of(chart):
    return "  ".join(part[0] for part in chart.header.parts)


def test_estimates_are_hollow_and_about_until_they_are_measured(view):
    orbit = make_orbit()
    view.set_frame(make_frame(transform="rotate:40"))
    view.set_orbit((replace(orbit, estimated=np.ones(72, bool)),))
    chart = view.curve
    layer, measured = make_frame().squares[0].layer.name, chart.traces[0].curve.errors
    assert f"{layer}  about " in header_of(chart) and "about" in chart.read(QPointF(chart.course.place(90), 0))
    hollow = {spot.brush().color().name() for spot in chart.curves[0].exact.points()}
    assert hollow == {theme.current().plot}
    assert "exact, hollow: about" in [label.text for _, label in chart.header.legend.items]
    view.set_orbit((orbit,))
    assert "about" not in header_of(chart)
    assert theme.current().plot not in {spot.brush().color().name() for spot in chart.curves[0].exact.points()}
    # at the element that is shown stands what was measured there
    frame = make_frame(transform="rotate:40")
    view.set_state(frame.state)
    view.set_frame(frame)
    view.set_orbit((replace(orbit, state=frame.state, estimated=np.ones(72, bool)),))
    shown, cumulative = chart.traces[0], frame.squares[0].measures[layer].cumulative
    index = int(np.flatnonzero(orbit.values == 40)[0])
    assert shown.errors(layer)[index] == cumulative != measured[layer][index]
    assert not shown.curve.about(index) and shown.curve.about(index + 1)


def test_signs_are_explained_once_something_is_drawn(view):
    def said():
        return [label.text for _, label in view.curve.header.legend.items]

    view.set_frame(make_frame(transform="rotate:40"))
    assert said() == []
    view.set_orbit((make_orbit(),))
    assert said() == ["layer", "output", "exact", "floor"]
    view.set_orbit((replace(make_orbit(), exact=np.zeros(72, bool)),))
    assert said() == ["layer", "output", "floor"]


def test_a_layer_without_a_curve_is_said(view):
    frame = make_frame()
    square = frame.squares[0]
    block = replace(square, layer=replace(square.layer, name="block"))
    view.set_frame(replace(frame, squares=(block,)))
    view.set_orbit((make_orbit(),))
    assert "block has no curve of its own" in header_of(view.curve)


def test_a_curve_of_other_elements_gives_no_figure_of_this_one(view):
    filled(view, transform="rotate:90")
    told = header_of(view.curve)
    figure = told.rsplit(" ", 1)[1]
    assert figure == "2.0e−7" and "before" not in told
    # the curve of the turn alone stays in sight, while that of turns and a shift is computed
    view.set_state(replace(make_frame().state, steps=parse_chain("translate:5,0+rotate:90")))
    assert "the curve before" in header_of(view.curve) and figure not in header_of(view.curve)
    assert all(trace.role == "muted" for trace in view.curve.traces)
    view.set_state(replace(make_frame().state, steps=parse_chain("rotate:90")))
    assert header_of(view.curve) == told


def test_a_figure_of_a_neighbour_says_of_which_element(view):
    """The curve has 72 places: at 42 degrees it gave what was measured at 40, as if it were that of 42."""
    for angle, where in ((40, ""), (42, " at 40°")):
        frame = make_frame(transform=f"rotate:{angle}")
        view.set_state(frame.state)
        view.set_frame(frame)
        view.set_orbit((replace(make_orbit(), state=frame.state),))
        assert header_of(view.curve).endswith(where) and ("at" in header_of(view.curve)) is bool(where)
