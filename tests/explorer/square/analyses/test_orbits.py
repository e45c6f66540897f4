"""Errors along a family of elements: complete, exact where elements are, and the same as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import explorer.spaces.grid.analysis.survey
import explorer.square.analyses.orbits
from explorer.data.finding import find_sample
from explorer.declare.elements import Element, Step, chain_element, parse_chain, transforms
from explorer.declare.types.fields import FieldType
from explorer.equivariance import measure
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import evaluating
from explorer.spaces.grid.analysis.survey import spread_evenly, survey, sweep
from explorer.spaces.grid.fields import Grid
from explorer.square.analyses.orbits import orbit, orbit_elements, orbit_values
from explorer.square.frame import OrbitCurve
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import Cancelled, listening
from tests.explorer.parts.networks import GlobalMean, conv, group_cnn
from tests.explorer.parts.small_cards import DIGITS, symmetric_net
from tests.explorer.square.test_evaluate import prepared


def family(p: Prepared, name: str, count: int, *chain: str) -> tuple[list[Element], Tensor]:
    """Return the elements of an orbit, and the batch of moved inputs."""
    state = State(steps=parse_chain("+".join(chain)))
    elements = orbit_elements(state, transforms()[name], orbit_values(transforms()[name], p.x.shape[-1], count))
    with torch.no_grad():
        return elements, torch.cat([e.act(p.x, p.x_field) for e in elements])


def one_by_one(p: Prepared, elements: list[Element], name: str) -> list[float]:
    """Return the errors that `measure` gives for one element at a time."""
    layer, value, errors = p.trace[name], p.values[name], []
    assert layer.field is not None
    with torch.no_grad():
        for element in elements:
            answer = p.run(p.inputs.moved(element))[name]
            where = measure.mask(element, value, layer.field, layer.receptive)
            errors.append(float(measure.distance(element.act(value, layer.field), answer, where, layer.field).relative))
    return errors


def relative(way: Any, p: Prepared, elements: list[Element], gx: Tensor) -> dict[str, Any]:
    with torch.inference_mode(), evaluating(p.model):
        found, out = way(p, elements, gx, [w for w in p.watched if w.leaf])
    assert len(out) == len(elements)
    return dict(found)


@pytest.mark.parametrize(("count", "said"), [(0, "0 answers to a batch of 1"), (2, "2 answers to a batch of 1")])
def test_a_network_that_keeps_no_batch_is_told(count: int, said: str) -> None:
    class Uncounted(nn.Module):
        at_first = True

        def forward(self, x: Tensor) -> Tensor:
            return 2 * x if self.at_first else x[:1].expand(count, *x.shape[1:])

    p = prepared(nn.Sequential(Uncounted()))
    Uncounted.at_first = False
    elements, gx = family(p, "rotate", 4)
    with pytest.raises(LayerError, match=said):
        relative(sweep, p, elements[:1], gx[:1])


@pytest.mark.parametrize("way", [survey, sweep])
def test_an_answer_of_one_number_for_each_input_has_a_curve(way: Any) -> None:
    """A score of shape (n,) ended the curves of every layer in an IndexError."""

    class Score(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = conv(1, 3, fault=True)

        def forward(self, x: Tensor) -> Tensor:
            return self.conv(x).square().mean((1, 2, 3))

    p = prepared(Score())
    elements, gx = family(p, "rotate", 4)
    with torch.inference_mode(), evaluating(p.model):
        found, out = way(p, elements, gx, p.watched)
    assert [tuple(one.shape) for one in out] == [(1,)] * 4
    assert np.allclose(found["output"], one_by_one(p, elements, "output"), atol=1e-6)
    assert max(found["output"]) > 1e-4 and max(found["conv"]) > 0.1


@pytest.mark.parametrize("seconds", [5.0, 0.0])
def test_what_is_estimated_says_so_until_it_is_replaced(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer.square.analyses.orbits, "FULL_SECONDS", seconds)
    curves = list(orbit(prepared(group_cnn("D4")), State(orbit="rotate"), batch=12))
    assert all(curves[0].about(k) for k in range(12)) and not curves[0].about(12)
    complete = seconds > 0
    assert {curves[-1].about(k) for k in range(72)} == {not complete}


def test_the_values_run_over_the_whole_family() -> None:
    angles = orbit_values(transforms()["rotate"], 29, 72)
    assert len(angles) == 72 and {-180.0, -90.0, 0.0, 90.0} <= set(angles) and 180.0 not in angles
    shifts = orbit_values(transforms()["translate"], 29, 72)
    assert shifts[0] == -14 and shifts[-1] == 14 and len(shifts) == 29
    assert np.array_equal(shifts, np.round(shifts))
    assert len(orbit_values(transforms()["translate"], 500, 72)) <= 72
    factors = orbit_values(transforms()["dilate"], 29, 72)
    assert factors[0] == 0.25 and factors[-1] == 4.0 and 1.0 in factors and np.all(np.diff(factors) > 0)


def test_the_rest_of_the_chain_is_held_fixed() -> None:
    state = State(steps=parse_chain("reflect+rotate:10+translate:3"))
    elements = orbit_elements(state, transforms()["rotate"], np.array([0.0, 90.0]))
    assert elements == [chain_element(parse_chain(f"reflect+rotate:{a}+translate:3")) for a in (0, 90)]
    alone = orbit_elements(State(), transforms()["translate"], np.array([2.0]))
    assert alone == [chain_element((Step("translate", (2.0, 0.0, 0.0)),))]


@pytest.mark.parametrize(
    ("name", "chain"),
    [("rotate", ()), ("rotate", ("translate:2,1,zero",)), ("translate", ("translate:0,1,zero",)), ("dilate", ()),
     ("translate", ()), ("rotate", ("translate:2",)), ("brightness", ("rotate:90",))],
)  # fmt: skip
def test_a_sweep_is_the_same_as_one_by_one(name: str, chain: tuple[str, ...]) -> None:
    p = prepared(symmetric_net(fault=True))
    elements, gx = family(p, name, 8, *chain)
    found = relative(sweep, p, elements, gx)
    for layer in found:
        assert found[layer] == pytest.approx(one_by_one(p, elements, layer), rel=2e-3, abs=1e-5), layer


def test_orientations_are_swept_too() -> None:
    p = prepared(group_cnn("D4", wrong=True))
    elements, gx = family(p, "rotate", 8)
    found = relative(sweep, p, elements, gx)
    for layer in found:
        assert found[layer] == pytest.approx(one_by_one(p, elements, layer), rel=2e-3, abs=1e-5), layer
    assert found["mix"].max() > 0.1 > 1e-4 > found["lift"][[0, 2, 4, 6]].max()


@pytest.mark.parametrize("chain", [(), ("translate:2",)])
def test_an_orbit_over_a_rectangle_is_the_same_as_one_by_one(chain: tuple[str, ...]) -> None:
    """A quarter turn makes other sizes of it, which no batch can hold beside those of an eighth."""
    p = prepared(symmetric_net(fault=True), find_sample("random:1x1x20x29"))
    curve = list(orbit(p, State(steps=parse_chain("+".join(chain)), orbit="rotate"), count=8))[-1]
    elements = orbit_elements(State(steps=parse_chain("+".join(chain))), transforms()["rotate"], curve.values)
    assert {k for k in range(8) if curve.exact[k]} >= {0, 2, 4, 6} and curve.outputs.shape[0] == 8
    for layer, found in curve.errors.items():
        assert found == pytest.approx(one_by_one(p, elements, layer), rel=2e-3, abs=1e-5), layer


@pytest.mark.parametrize("net", [symmetric_net(fault=True), group_cnn("D4", wrong=True)], ids=["scalars", "regular"])
def test_a_survey_estimates_the_sweep(net: nn.Module) -> None:
    p = prepared(net)
    elements, gx = family(p, "rotate", 36)
    whole, few = relative(sweep, p, elements, gx), relative(survey, p, elements, gx)
    assert list(whole) == list(few)
    for layer in whole:
        seen = whole[layer] > 1e-4
        ratio = few[layer][seen] / whole[layer][seen]
        assert np.all((ratio > 0.3) & (ratio < 3)), layer
        assert 0.7 < np.median(ratio) < 1.4, layer
        assert few[layer][~seen].max(initial=0) < 2e-4, layer


@pytest.mark.parametrize("way", [sweep, survey])
def test_quarter_turns_stay_exact_in_a_batch(way: Any) -> None:
    p = prepared(nn.Sequential(nn.Identity(), nn.ReLU(), nn.MaxPool2d(3, padding=1, stride=2)))
    elements, gx = family(p, "rotate", 8)
    for errors in relative(way, p, elements, gx).values():
        assert np.all(errors[::2] == 0.0) and np.isfinite(errors).all()


@pytest.mark.parametrize("way", [sweep, survey])
def test_where_there_is_no_action_there_is_no_figure(way: Any) -> None:
    p = prepared(nn.Sequential(group_cnn("C4")[0], GlobalMean()))
    elements, gx = family(p, "rotate", 4, "reflect")
    found = relative(way, p, elements, gx)
    assert np.isnan(found["0"]).all() and found["1"].shape == (4,)


@pytest.mark.parametrize("way", [sweep, survey])
def test_an_image_that_is_not_square(way: Any) -> None:
    p = prepared(nn.Sequential(conv(1, 3)), find_sample("random:1x1x12x17"))
    elements, gx = family(p, "translate", 5, "translate:0,0,zero")
    assert np.isfinite(relative(way, p, elements, gx)["0"]).all()


def parts(p: Prepared, **more: Any) -> list[OrbitCurve]:
    return [curve for curve in orbit(p, State(model="net"), **more) if curve is not None]


def test_a_curve_grows_and_ends_complete_with_its_floors() -> None:
    p = prepared(symmetric_net(fault=True), labels=DIGITS)
    curves = parts(p, batch=8, count=24)
    assert [c.done for c in curves[:3]] == [8, 16, 23] and curves[-1].done == 24
    first, last = curves[0], curves[-1]
    assert all(np.isfinite(e[:8]).all() and np.isnan(e[8:]).all() for e in first.errors.values())
    assert set(last.errors) == {w.name for w in p.watched if w.leaf}
    for name in last.errors:
        assert np.isfinite(last.errors[name]).all() and np.isfinite(last.floor[name]).all()
        assert (last.floor[name] >= p.float_floor[name]).all()
    assert last.outputs.shape == (24, 10) and last.outputs.sum(axis=1) == pytest.approx(1)
    assert last.exact.tolist() == [k % 6 == 0 for k in range(24)]
    assert last.labels == DIGITS and (last.transform, last.parameter, last.unit) == ("rotate", "angle", "°")
    exact = one_by_one(p, [chain_element(parse_chain(f"rotate:{v}")) for v in last.values[:6]], "2")
    assert last.errors["2"][:6] == pytest.approx(exact, rel=2e-3, abs=1e-5)
    assert last.floor["0"][1:6].min() > 1e-3 > 1e-5 > last.floor["0"][0]  # resampling, and none where it is exact


def interrupted(p: Prepared, urgent: bool, every: int, **more: Any) -> list[OrbitCurve | None]:
    """Return what an orbit yields that something newer overtakes each time that it has asked so often."""
    asked = 0

    def told(text: str, share: float) -> None:
        nonlocal asked
        asked += 1
        if asked % every == 0:
            raise Cancelled(urgent)

    with listening(told):
        found = list(orbit(p, State(model="net"), **more))
    assert asked > every
    return found


def test_an_orbit_that_is_overtaken_within_a_part_ends_as_one_that_is_not() -> None:
    calm = parts(prepared(symmetric_net(fault=True)), batch=8, count=24)
    p = prepared(symmetric_net(fault=True))
    found = interrupted(p, False, 97, batch=8, count=24)
    assert None in found, "it gave way within a part"
    curves = [curve for curve in found if curve is not None]
    # what is told in between, without another element, comes by the clock
    assert list(dict.fromkeys(c.done for c in curves)) == list(dict.fromkeys(c.done for c in calm))
    for name, errors in calm[-1].errors.items():
        assert np.array_equal(errors, curves[-1].errors[name])
        assert np.array_equal(calm[-1].floor[name], curves[-1].floor[name])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in p.model.modules())


def test_an_orbit_that_nobody_wants_any_more_ends_within_a_part() -> None:
    p = prepared(symmetric_net())
    with pytest.raises(Cancelled):
        interrupted(p, True, 3, batch=8, count=8)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in p.model.modules())
    assert torch.is_grad_enabled()


def test_layers_that_are_moved_together_have_the_floors_that_they_have_alone() -> None:
    field, turn = FieldType(Grid(1.0)), chain_element(parse_chain("rotate:30"))
    generator = torch.Generator().manual_seed(0)
    layers = [torch.randn(1, 3, 12, 12, generator=generator, dtype=torch.float64) for _ in range(4)]
    radii = [0.0, 1.0, 3.0, 20.0]
    together = measure.all_there_and_back(turn, layers, field, radii)
    alone = [measure.there_and_back(turn, values, field, radius) for values, radius in zip(layers, radii, strict=True)]
    assert torch.allclose(torch.cat(together), torch.cat(alone), rtol=1e-12, atol=0)
    assert len({f"{float(floor):.6f}" for floor in alone}) == 4, "each has its own values and its own places"


def test_a_field_without_action_has_rounding_for_a_floor() -> None:
    p = prepared(nn.Sequential(group_cnn("C4")[0], GlobalMean()))
    last = list(orbit(p, State(model="net", steps=parse_chain("reflect+rotate:3")), count=6))[-1]
    assert last.done == 6 and np.isnan(last.errors["0"]).all()
    assert (last.floor["0"] == p.float_floor["0"]).all()


def test_a_part_is_its_own() -> None:
    curves = parts(prepared(symmetric_net()), batch=4, count=8, complete=False)
    assert curves[-1].done == 8 and curves[0].errors["0"] is not curves[1].errors["0"]
    assert np.isnan(curves[0].errors["0"][4:]).all() and np.isfinite(curves[1].errors["0"]).all()


def test_a_slow_network_is_surveyed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explorer.square.analyses.orbits, "FULL_SECONDS", 0.0)
    swept: list[int] = []
    monkeypatch.setattr(explorer.spaces.grid.analysis.survey, "sweep", lambda *a: swept.append(1))
    curves = parts(prepared(symmetric_net()), batch=4, count=8)
    assert curves[-1].done == 8 and not swept


def test_the_batch_fits_the_network() -> None:
    p = prepared(symmetric_net())
    p.forward_seconds = 10.0
    assert [c.done for c in parts(p, count=4, complete=False)] == [1, 2, 3, 4]
    p.forward_seconds = 1e-4
    assert [c.done for c in parts(p, count=4, complete=False)] == [4]


def test_no_hooks_and_no_modes_are_left_behind() -> None:
    p = prepared(symmetric_net())
    curves = orbit(p, State(model="net"), batch=2, count=8)
    next(curves)
    curves.close()  # type: ignore[attr-defined]
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in p.model.modules())
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()


@pytest.mark.parametrize(("h", "w"), [(28, 28), (56, 56), (28, 14), (5, 9), (1, 7)])
def test_the_first_places_are_spread_over_all_of_a_grid(h: int, w: int) -> None:
    order = spread_evenly(h, w)
    assert sorted(order) == list(range(h * w))
    rng = np.random.default_rng(0)
    for most in (16, 32) if min(h, w) > 10 else ():
        drawn = [_widest_gap(rng.permutation(h * w)[:most], h, w) for _ in range(20)]
        assert _widest_gap(order[:most], h, w) < np.quantile(drawn, 0.25), "places drawn at random leave no larger gaps"


def _widest_gap(places: Any, h: int, w: int) -> float:
    """Return how far the farthest place of a grid is from the nearest of some."""
    every, some = (np.stack(np.divmod(k, w), 1) for k in (np.arange(h * w), np.asarray(places)))
    return float(np.linalg.norm(every[:, None] - some[None], axis=2).min(1).max())
