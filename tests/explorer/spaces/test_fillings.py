"""Tensors of a shape that is typed, in every filling."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.data.finding import find_sample


@pytest.mark.parametrize(
    ("text", "domain", "shape", "values"),
    [
        ("ones:1x2x3x4", "grid", (2, 3, 4), {1.0}),
        ("zeros:1x2x3x4", "grid", (2, 3, 4), {0.0}),
        ("constant:1x1x3x4", "grid", (1, 3, 4), {0.5}),
        ("constant:1x1x3x4=-0.25", "grid", (1, 3, 4), {-0.25}),
        ("ones:5x2", "sequence", (5, 2), {1.0}),
        ("zeros:5x2", "sequence", (5, 2), {0.0}),
        ("ones:1x2x3x4x5", "volume", (2, 3, 4, 5), {1.0}),
        ("zeros:1x1x3x4x5", "volume", (1, 3, 4, 5), {0.0}),
        ("ramp:5x1", "sequence", (5, 1), {0.0, 0.25, 0.5, 0.75, 1.0}),
    ],
)
def test_a_shape_is_filled(text: str, domain: str, shape: tuple[int, ...], values: set[float]) -> None:
    sample = find_sample(text)
    assert (sample.domain, sample.x.values.shape) == (domain, shape)
    assert set(np.unique(sample.x.values).tolist()) == values


def test_noise_follows_the_seed() -> None:
    one, again, other = (find_sample("random:40x2", seed).x.values for seed in (1, 1, 2))
    assert np.array_equal(one, again) and not np.array_equal(one, other) and abs(float(one.std()) - 1) < 0.3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ones:1x2x3x4=2", "only 'constant:' takes"),
        ("constant:1x2x3x4=x", "cannot read"),
        ("random:0x3", "write from 1 to"),
        ("ones:1x1x999999x999999x9", "write from 1 to"),
        ("ramp:99999x99999", "write from 1 to"),
        ("ones:2x2x2", "has 3 axes"),
    ],
)
def test_what_is_no_shape_is_told(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        find_sample(text)
