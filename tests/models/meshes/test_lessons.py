"""Claims of the lessons on meshes and gauges are true of the shipped networks.

Each lesson has a test that bears its number; what every lesson must have is in test_lessons.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.spaces.mesh.drawing.values import MeshPart
from explorer.square.frame import Frame
from models.training.meshes import PARTS
from tests.models.cards.lesson_frames import BROKEN, EXACT, at, error, guilty, measured


def part(frame: Frame, which: int = 0) -> MeshPart:
    found = frame.squares[which].of(MeshPart)
    assert found is not None
    return found


def change(own: MeshPart) -> NDArray[Any]:
    """Return how far the numbers at each vertex move, relative to their mean size."""
    moved = np.linalg.norm(own.values - own.answer, axis=1)
    found: NDArray[Any] = moved / np.linalg.norm(own.values, axis=1).mean()
    return found


def holds(frame: Frame, which: int = 0) -> bool:
    return all(m.cumulative is not None and m.cumulative < EXACT for m in frame.squares[which].measures.values())


def selected(frame: Frame) -> Any:
    found = part(frame).patch
    assert found is not None
    return found


@pytest.mark.slow
def test_lesson_70_a_patch_ends_where_shortest_ways_meet() -> None:
    here = selected(at("70"))
    labels = part(at("70")).shape.labels
    assert labels is not None and PARTS[labels[700]] == "upper leg"
    assert here.points is not None and here.points.shape == (3, 12, 3)
    assert here.reach < here.injectivity
    on_arms = np.flatnonzero(labels == PARTS.index("lower arm"))[[0, 40, 80]]
    assert all(selected(at("70", node=int(v))).injectivity < here.reach for v in on_arms)
    assert holds(at("70"))
    between = at("70", "gauge:15")
    assert measured(between).verdict != "holds" and error(between) > 1e-3
    np.testing.assert_array_equal(part(between).shape.vertices, part(between).moved.vertices)


@pytest.mark.slow
def test_lesson_71_what_has_no_direction_has_no_frame() -> None:
    for seed in (1, 2):
        assert holds(at("71", f"random-gauge:{seed}")) and holds(at("71", f"random-gauge:{seed}"), 1)
    mirrored = at("71", "mirror3d:x")
    assert holds(mirrored) and error(mirrored, "conv1", 1) > BROKEN
    circle, waves = part(at("71")).kernels["conv1"], part(at("71"), 1).kernels["conv1"]
    assert np.ptp(circle, axis=-1).max() == 0 and np.ptp(waves, axis=-1).max() > 1


@pytest.mark.slow
def test_lesson_72_frames_jump_at_bright_vertices() -> None:
    for seed in (1, 2):
        own = part(at("72", f"shake:0.001,{seed}"))
        assert own.ambiguity is not None
        moved = change(own)
        jumps = moved > 0.02
        assert 3 < jumps.sum() < 50 and (own.ambiguity[jumps] > 0.9).all()
        assert moved[own.ambiguity < 0.9].max() < 0.01
    free = change(part(at("72", model="gem-cnn", layer="scalars")))
    assert free.max() < 0.02 and free.max() < 20 * np.median(free)
    singular = part(at("72")).singular
    assert len(singular) > 2 and sum(index for _, index in singular) == pytest.approx(2.0)
    assert sum(index for _, index in part(at("72", sample="mesh-torus")).singular) == pytest.approx(0.0)


def test_lesson_73_responses_go_round_and_the_maximum_stays() -> None:
    own = part(at("73"))
    assert own.directions == 12
    before, after = (v.reshape(len(v), -1, 12) for v in (own.values, own.answer))
    np.testing.assert_allclose(after[700], np.roll(before[700], -2, 1), atol=1e-4)
    assert np.abs(after[700] - before[700]).max() > 0.1
    np.testing.assert_array_equal(np.delete(after, 700, 0), np.delete(before, 700, 0))
    assert error(at("73", layer="conv1")) < EXACT
    assert change(part(at("73", layer="conv1"))).max() < 1e-5
    between = at("73", "gauge:45,700", layer="conv1")
    assert measured(between).verdict == "no law" and change(part(between))[700] > 1e-3


@pytest.mark.slow
def test_lesson_74_a_vector_comes_back_turned_by_the_curvature() -> None:
    own = part(at("74"))
    assert own.loop is not None and own.loop.enclosed is not None and own.path is not None
    assert own.loop.angle == pytest.approx(own.loop.enclosed, abs=1e-9) and own.loop.angle > 0.1
    turned = part(at("74", "gauge:90,100")).loop
    assert turned is not None and turned.angle == pytest.approx(own.loop.angle, abs=1e-9)
    lengths = np.linalg.norm(own.path.vectors, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-6)
    flat = part(at("74", sample="sheet", node=700)).loop
    assert flat is not None and abs(flat.angle) < 1e-9
    assert holds(at("74"))


def test_lesson_75_every_layer_holds_and_kernels_are_waves() -> None:
    for seed in (3, 4):
        assert holds(at("75", f"random-gauge:{seed}"))
    own = part(at("75"))
    assert set(own.kernel_names["conv2"]) > {"0 → 0: frequency 0 [0,0]", "1 → 1: frequency 2 [1,1]"}
    for row, name in zip(own.kernels["conv2"][:, 0], own.kernel_names["conv2"], strict=True):
        frequency = int(name.partition("frequency ")[2].split()[0])
        sizes = np.abs(np.fft.rfft(row))
        assert np.delete(sizes, frequency).max() < 1e-4 * sizes[frequency]
    field = next(layer.field for layer in at("75").squares[0].layers if layer.name == "act1")
    assert field == "vertex tangent(0,1)"


@pytest.mark.slow
def test_lesson_76_only_the_vertex_whose_frame_turns() -> None:
    frame = at("76")
    assert np.flatnonzero(change(part(frame)) > 1e-5).tolist() == [700]
    assert holds(frame, 1)
    assert np.flatnonzero(change(part(frame, 1)) > 1e-5).tolist() == [700], "its numbers follow the frame"
    source, target = part(frame).shape.edges
    neighbours = {700, *target[source == 700].tolist()}
    assert set(np.flatnonzero(change(part(at("76", layer="conv2"))) > 1e-5).tolist()) <= neighbours
    assert len(np.flatnonzero(change(part(at("76", layer="conv2"))) > 1e-5)) > 1
    assert error(at("76", model="mesh-heat", compare="", layer="heat1")) == 0


@pytest.mark.slow
def test_lesson_77_bending_changes_little_and_turning_nothing() -> None:
    bent = at("77")
    chance = measured(bent).chance
    assert measured(bent).verdict == "no law" and 0.001 < error(bent) < 0.1
    assert chance is not None and chance > 10 * error(bent)
    assert 0 < part(bent).stretch < 0.2
    turned = at("77", "rotate3d:0,0,30")
    assert error(turned) < EXACT and part(turned).stretch == 0
    posed = part(at("77", "pose:1,1"))
    assert (posed.values.argmax(1) == posed.answer.argmax(1)).mean() > 0.8
    rolled = at("77", sample="sheet")
    assert part(rolled).stretch < 1e-3 and error(rolled) < 1e-3


def test_lesson_78_a_mirror_tells_spirals_apart() -> None:
    frame = at("78")
    assert guilty(frame.squares[0])[0] == "conv1" and error(frame) > BROKEN
    assert holds(frame, 1) and guilty(frame.squares[1]) == []
    assert holds(at("78", "rotate3d:0,0,40")) and holds(at("78", "rotate3d:0,0,40"), 1)


@pytest.mark.slow
def test_lesson_79_only_the_culprit_is_high_on_its_own() -> None:
    for model, culprit in (("fault-transport", "conv2"), ("fault-bias", "shift")):
        for seed in (1, 2):
            assert guilty(at("79", f"random-gauge:{seed}", model=model).squares[0]) == [culprit]
    assert guilty(at("79", "gauge:40").squares[0]) == [], "all frames turned alike hide it"
    assert guilty(at("79", "gauge:40", model="fault-bias").squares[0]) == ["shift"]
    assert math.isclose(sum(part(at("79", "gauge:40")).turn) / len(part(at("79")).turn), math.radians(40), rel_tol=1e-6)
