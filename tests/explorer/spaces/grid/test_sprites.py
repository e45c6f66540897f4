"""Sprites: what is drawn is what the factors say, and sets are always the same."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.spaces.grid.samples.sets import all_sprites, digits, two_sprites
from explorer.spaces.grid.samples.sprites import FACTORS, RANGES, SHAPES, TWO, drawn, sprites


def one(**given: float) -> np.ndarray:
    middle = {"shape": 2.0, "size": 6.0, "x": 0.0, "y": 0.0, "angle": 0.0} | given
    return drawn(np.array([[middle[name] for name in FACTORS]]))[0, 0]


@pytest.mark.parametrize("shape", range(len(SHAPES)))
def test_a_turned_sprite_is_the_turned_picture(shape: int) -> None:
    for quarter in range(4):
        turned = one(shape=shape, angle=90.0 * quarter)
        assert np.abs(turned - np.rot90(one(shape=shape), quarter)).max() < 1e-5


def test_places_are_pixels_right_and_up() -> None:
    assert np.abs(one(x=3.0) - np.roll(one(), 3, 1)).max() < 1e-6
    assert np.abs(one(y=2.0) - np.roll(one(), -2, 0)).max() < 1e-6


def test_shapes_have_the_symmetry_that_is_said() -> None:
    ellipse, triangle, angle = (one(shape=k) for k in range(3))
    assert np.allclose(ellipse, np.rot90(ellipse, 2), atol=1e-6)
    assert np.allclose(triangle, triangle[::-1], atol=1e-6) and not np.allclose(triangle, triangle[:, ::-1], atol=0.1)
    assert not any(np.allclose(angle, moved, atol=0.1) for moved in (angle[::-1], angle[:, ::-1], angle.T))


def test_few_sprites_reach_the_border_and_sizes_are_seen() -> None:
    images, factors = sprites(400, 3)
    edge = np.concatenate([images[..., 0], images[..., -1], images[..., 0, :], images[..., -1, :]], -1)
    assert (edge.max((1, 2)) > 0).mean() < 0.05 and images.max() <= 1.0
    ink, size = images.sum((1, 2, 3)), factors[:, FACTORS.index("size")]
    for shape in range(3):
        some = factors[:, 0] == shape
        assert np.corrcoef(ink[some], size[some] ** 2)[0, 1] > 0.99


def test_factors_vary_alone_and_within_their_ranges() -> None:
    _, all_factors = sprites(300, 5)
    _, two = sprites(300, 5, TWO)
    for k, name in enumerate(FACTORS):
        assert (np.ptp(two[:, k]) > 0) == (name in TWO)
        if name in TWO:
            assert np.array_equal(two[:, k], all_factors[:, k]), "whether others vary changes nothing"
        if name in RANGES:
            assert RANGES[name][0] <= all_factors[:, k].min() <= all_factors[:, k].max() <= RANGES[name][1]
    assert not np.array_equal(sprites(300, 6)[1], all_factors)


def test_examples_name_their_classes() -> None:
    for examples in (digits(), all_sprites(), two_sprites()):
        assert set(np.unique(examples.labels)) == set(range(len(examples.names)))
        assert len(examples.inputs) == len(examples.labels)
        assert not examples.inputs.flags.writeable
    assert set(two_sprites().factors) == set(TWO)
