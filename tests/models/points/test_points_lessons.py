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
