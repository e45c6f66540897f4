"""Claims of the lessons on volumes are true of the networks."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.drawing.values import VolumePart
from tests.models.cards.lesson_frames import BROKEN, EXACT, at, distance, error, guilty, lesson, measured

OH = cube_group("Oh")


def test_lesson_90_all_48_symmetries_move_the_orientations_and_nothing_else() -> None:
    assert lesson("90").steps[0].values == (float(OH.labels.index("xyz120")),)
    for label in ("xyz120", "z90", "mirror-x", "inverted-xyz120"):
        frame = at("90", f"cube:{label}")
        assert error(frame) < EXACT
        part = frame.squares[0].of(VolumePart)
        assert part is not None and part.order == tuple(OH.compose(OH.labels.index(label), h) for h in range(48))
        assert sum(a == b for a, b in enumerate(part.order)) == 0, "an element moves every orientation"
        for name in ("group_pool", "mean", "head"):
            assert error(frame, name) < EXACT
    fields = {layer.name: layer.field for layer in at("90").squares[0].layers}
    assert fields["lift"] == "voxel regular(Oh)" and fields["group_pool"] == "voxel scalar /4"
    assert fields["mean"] == "invariant"


@pytest.mark.slow
def test_lesson_91_a_network_without_mirrors_tells_a_helix_from_its_image() -> None:
    assert lesson("91").steps[0].values == (float(OH.labels.index("mirror-z")),)
    turned = at("91", "cube:x180")
    assert all(error(turned, "head", k) < EXACT for k in (0, 1))
    mirrored = at("91")
    assert measured(mirrored, "lift").verdict == "no law"
    first, second = mirrored.squares
    assert 1e-2 > distance(first.output_g, first.output) > 1e-3, "in the third digit"
    assert distance(second.output_g, second.output) < EXACT


def test_lesson_92_a_stride_on_an_even_size_is_the_fault() -> None:
    for label in ("z90", "mirror-x", "xyz120"):
        frame = at("92", f"cube:{label}")
        assert guilty(frame.squares[0]) == ["conv3"] and error(frame, "conv3") > BROKEN
        assert error(frame, "relu2") < EXACT
    sound = at("92", model="symmetric-cnn-3d")
    assert guilty(sound.squares[0]) == [] and error(sound, "head") < EXACT
    assert np.array_equal(at("92").squares[0].layers[0].shape[-3:], (24, 24, 24))


@pytest.mark.slow
def test_lesson_94_the_law_holds_as_far_as_the_grid_samples() -> None:
    there = at("94")
    assert 1e-4 < error(there) < 0.1 and measured(there).verdict == "no law"
    plain = at("94", model="plain-cnn-3d", layer="conv3", sample="phantom-3d")
    assert error(plain) > 5 * max(error(there, name) for name in ("gate1", "gate2", "conv3"))
    assert error(at("94", "rotate-volume:90")) < EXACT
    assert "gate1" in guilty(at("94", "rotate-volume:90", model="fault-steerable-3d").squares[0])
