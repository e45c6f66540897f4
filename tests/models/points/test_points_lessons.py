"""The lessons on points in space claim what is true of their networks; each has a test that bears its number."""

from __future__ import annotations

import numpy as np

from explorer.spaces.points.drawing.values import PointsPart
from explorer.square.frame import Frame
from tests.models.cards.lesson_frames import EXACT, at, error, guilty


def part(frame: Frame) -> PointsPart:
    found = frame.squares[0].of(PointsPart)
    assert found is not None
    return found


def test_lesson_80_features_hear_of_distances_alone() -> None:
    own = part(at("80"))
    assert error(at("80")) < EXACT and np.abs(own.values - own.answer).max() > 0.1
    assert np.abs(own.values - own.position).max() > 1e-3, "the layer moves its points"
    for steps in ("rotation:40,25,10", "reflection:origin"):
        still = part(at("80", steps, layer="layers.0.features"))
        np.testing.assert_allclose(still.values, still.answer, atol=1e-5)
    left, right = (part(at("80", "rotation:0", layer="total", sample=f"chiral-{hand}")) for hand in ("left", "right"))
    np.testing.assert_allclose(left.values, right.values, rtol=1e-5)


def test_lesson_81_each_degree_keeps_its_size() -> None:
    assert error(at("81")) < EXACT and part(at("81")).irreps is not None
    frame = at("81")
    paths = {layer.name.rpartition(".")[2] for layer in frame.squares[0].layers if "layer2.product.paths" in layer.name}
    assert {"1o_x_1o_to_0e", "1o_x_1o_to_1e", "1o_x_1o_to_2e"} <= paths
    whole = part(at("81", layer="total"))
    assert np.abs(whole.values[:, 1:] - whole.answer[:, 1:]).max() > 1e-3, "the arrow turns"
    methane = part(at("81", layer="total", sample="methane-3d"))
    assert np.linalg.norm(methane.values[:, 1:]) < 1e-4 * np.linalg.norm(whole.values[:, 1:])


def test_lesson_82_components_were_cut_off_one_by_one() -> None:
    assert guilty(at("82").squares[0]) == ["layer1.gate"]
    assert error(at("82", "displacement:1,2,3")) < EXACT and error(at("82", "permute:3")) < EXACT
    assert float(part(at("82", layer="layer1.gate")).values.min()) >= 0, "no component is negative"


def test_lesson_83_frames_turn_along_or_are_drawn() -> None:
    seen = part(at("83"))
    assert error(at("83")) == 0 and seen.lifted is not None and seen.lifted_after is not None
    np.testing.assert_allclose(seen.lifted.turn, seen.lifted_after.turn, atol=1e-4)
    near = seen.lifted.distance <= seen.lifted.reach
    assert 0.2 < near.mean() < 0.9
    few, many = (at("83", model="lieconv-drawn", layer="total", params={"lifts": k}) for k in (2, 16))
    drawn = part(few)
    assert drawn.lifted is not None and drawn.lifted_after is not None
    assert np.abs(drawn.lifted.shift - drawn.lifted_after.shift).max() > 0.01
    assert error(few) > 2 * error(many) > 1e-5


def test_lesson_84_no_ribbon_becomes_wider() -> None:
    routes = part(at("84")).routes
    assert set(routes) == {"layer1.product", "layer2.product"}
    assert {route.value for route in routes["layer1.product"]} == {"0e"}
    assert ("1o", "1o", "1e") in {(r.value, r.harmonic, r.out) for r in routes["layer2.product"]}
    own = part(at("84"))
    np.testing.assert_allclose((own.values**2).sum(), (own.answer**2).sum(), rtol=1e-4)
    route = next(r for r in routes["layer2.product"] if r.layer == "layer2.product.paths.1o_x_1o_to_2e")
    np.testing.assert_allclose(route.energy, (own.values**2).sum() / len(own.values), rtol=1e-4)
